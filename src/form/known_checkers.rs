use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;

use super::checker::Checker;

/// How many checkers are kept: one for what a tool takes, and one for what it returns.
const KEPT: usize = 2;

/// A document, and its checker or the reason why it has none.
type Known = (Value, Result<Arc<Checker>, String>);

impl Checker {
    /// The checker of the whole document `root`, made once for calls that follow each other: making it may cost far more
    /// than a call.
    ///
    /// # Errors
    /// As [`Checker::new`].
    pub(crate) fn known(root: &Value) -> Result<Arc<Self>, String> {
        static KNOWN: Mutex<VecDeque<Known>> = Mutex::new(VecDeque::new());
        // No panic leaves it half changed.
        let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, made)) = known().iter().find(|(document, _)| document == root) {
            return made.clone();
        }
        let made = Self::new(root).map(Arc::new);
        let mut known = known();
        known.truncate(KEPT - 1);
        known.push_front((root.clone(), made.clone()));
        made
    }
}

#[cfg(all(test, feature = "schema"))]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_checker_is_made_once_and_told_apart_by_its_document() {
        let low = |most: u64| json!({"title": "known", "minProperties": 1, "properties": {"n": {"maximum": most}}});
        let first = Checker::known(&low(5)).expect("a checker");
        assert!(first.faults(&json!({"n": 6})).is_ok_and(|faults| faults.len() == 1));
        assert!(
            Checker::known(&low(7)).is_ok_and(|other| other.faults(&json!({"n": 6})).is_ok_and(|it| it.is_empty()))
        );
        assert!(
            Checker::known(&low(5)).is_ok_and(|again| again.faults(&json!({"n": 6})).is_ok_and(|it| it.len() == 1))
        );
    }
}
