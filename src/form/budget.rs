use std::cell::Cell;

use serde_json::Value;

/// The steps that any schema may cost, and how many more each of its parts allows.
const SCHEMA: (u64, u64) = (30_000, 3);
/// The steps that one part of a document may cost if the size of the document is not known.
const ONE: u64 = 20_000;
/// The same for a value that is checked against a schema.
const VALUE: (u64, u64) = (50_000, 8);

/// How much work a server's schema or value may still cause: parts copied, visited, compiled. The budget grows linearly
/// with the size, so that a small schema never costs much, however it refers to itself.
#[derive(Debug)]
pub(crate) struct Budget(Cell<u64>);

impl Budget {
    /// The budget for reading `schema`.
    pub(crate) fn of(schema: &Value) -> Self {
        Self::new(schema, SCHEMA)
    }

    /// The budget for reading one part of a document, however large the document is.
    pub(crate) fn of_one() -> Self {
        Self(Cell::new(ONE))
    }

    /// The budget for checking `value` against a schema.
    pub(crate) fn of_value(value: &Value) -> Self {
        Self::new(value, VALUE)
    }

    fn new(value: &Value, (free, per_part): (u64, u64)) -> Self {
        Self(Cell::new(parts(value, u64::MAX >> 8).saturating_mul(per_part).saturating_add(free)))
    }

    /// Spends `steps`; returns false, with nothing left, if there were not enough.
    pub(crate) fn spend(&self, steps: u64) -> bool {
        let left = self.0.get().checked_sub(steps);
        self.0.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Spends a step for each part of `value`; returns false if there were not enough.
    pub(crate) fn spend_on(&self, value: &Value) -> bool {
        self.spend(parts(value, self.0.get().saturating_add(1)))
    }
}

/// How many parts `value` has, including itself; counting stops at `most`. Values are at most as deep as JSON may be,
/// 128.
fn parts(value: &Value, most: u64) -> u64 {
    let inner = |values: &mut dyn Iterator<Item = &Value>| {
        let mut count = 1;
        for value in values {
            if count >= most {
                break;
            }
            count += parts(value, most - count);
        }
        count
    };
    match value {
        Value::Array(values) => inner(&mut values.iter()),
        Value::Object(map) => inner(&mut map.values()),
        Value::String(text) => 1 + text.len() as u64 / 256,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_budget_grows_with_what_it_is_for_and_is_spent_once() {
        let budget = Budget::of(&json!([1, [2, 3], {"a": 4}]));
        assert_eq!(budget.0.get(), SCHEMA.0 + SCHEMA.1 * 7);
        assert!(budget.spend(SCHEMA.0) && budget.spend_on(&json!([1])) && !budget.spend(SCHEMA.0));
        assert!(!budget.spend(1), "nothing is left");
        assert_eq!(parts(&json!([1, 2, 3, 4, 5]), 3), 3);
    }
}
