use serde_json::{Map, Value};

use crate::form::type_of;

/// How a value is put into its place.
pub(super) enum Repetition {
    /// As the first one.
    First,
    /// As another entry of a list.
    Grows,
    /// A second time, but only one value is allowed.
    Refused,
}

/// Puts `value` at the end of the path `steps` and `last` in `values`, and creates what is missing on the way: a list
/// if the step requires one, otherwise an object.
pub(super) fn put<'a>(
    values: &mut Value,
    steps: impl Iterator<Item = (&'a String, &'a bool)>,
    last: &str,
    value: Value,
    turn: Repetition,
) -> Result<(), String> {
    let mut here = values;
    let mut walked = String::new();
    for (step, is_list) in steps {
        let inner = slot(here, step, &walked)?;
        if inner.is_null() {
            *inner = if *is_list { Value::Array(Vec::new()) } else { Value::Object(Map::new()) };
        }
        if !walked.is_empty() {
            walked.push('.');
        }
        walked.push_str(step);
        here = inner;
    }
    let place = slot(here, last, &walked)?;
    match turn {
        Repetition::First => *place = value,
        Repetition::Grows => {
            let first = std::mem::take(place);
            *place = Value::Array(listed(first).into_iter().chain(listed(value)).collect());
        }
        Repetition::Refused => return Err("given twice, but it takes only one value".to_owned()),
    }
    Ok(())
}

/// The place of `step` in a value; `null` if nothing is there yet. `walked` is the path to the value.
fn slot<'a>(value: &'a mut Value, step: &str, walked: &str) -> Result<&'a mut Value, String> {
    match value {
        Value::Object(map) => Ok(map.entry(step.to_owned()).or_insert(Value::Null)),
        Value::Array(list) => {
            let index = step.parse::<usize>().map_err(|_| format!("{walked} is a list; {step} is not a number"))?;
            if index > list.len() {
                return Err(format!("{walked} has {} so far; the next is {walked}.{}", list.len(), list.len()));
            }
            if index == list.len() {
                list.push(Value::Null);
            }
            Ok(&mut list[index])
        }
        other => Err(format!("{walked} is {}, not an object", type_of(other))),
    }
}

/// The value at `path`.
pub(super) fn inside<'a>(values: &'a mut Map<String, Value>, path: &[String]) -> Option<&'a mut Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(values.get_mut(first)?, |here, step| match here {
        Value::Object(map) => map.get_mut(step),
        Value::Array(list) => list.get_mut(step.parse::<usize>().ok()?),
        _ => None,
    })
}

fn listed(value: Value) -> Vec<Value> {
    match value {
        Value::Array(values) => values,
        other => vec![other],
    }
}
