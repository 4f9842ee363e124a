use serde_json::Value;

/// The first `limit` characters of `text`, marked if there is more.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// A value in a sentence: text in quotes, everything else as JSON, shortened.
pub(crate) fn quote(value: &Value) -> String {
    quoted(value, 60)
}

/// A value as JSON, at most `limit` characters of it; what is cut of a text still has both its quotation marks.
pub(crate) fn quoted(value: &Value, limit: usize) -> String {
    match value.as_str() {
        Some(text) => Value::String(cut(text, limit)).to_string(),
        None => cut(&value.to_string(), limit),
    }
}

/// A value for a person: text as it is, everything else as JSON.
pub(crate) fn bare(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The name of a JSON value's type.
pub(crate) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// What is wrong with a value of another type than `wanted`; `shown` is the value as written.
pub(crate) fn wrong_type(shown: &str, value: &Value, wanted: &str) -> String {
    match value {
        Value::Null => format!("it is null, not {wanted}"),
        _ => format!("{shown} is {}, not {wanted}", type_of(value)),
    }
}

/// `2 to 20 characters`, `at least 2 characters`, `at most 1 character`, `exactly 5 characters`; `None` without bounds.
pub(crate) fn range(low: Option<u64>, high: Option<u64>, one: &str, many: &str) -> Option<String> {
    let count = |n: u64| if n == 1 { format!("1 {one}") } else { format!("{n} {many}") };
    match (low.filter(|low| *low > 0), high) {
        (None, None) => None,
        (Some(low), Some(high)) if low == high => Some(format!("exactly {}", count(low))),
        (Some(low), Some(high)) => Some(format!("{low} to {}", count(high))),
        (Some(low), None) => Some(format!("at least {}", count(low))),
        (None, Some(high)) => Some(format!("at most {}", count(high))),
    }
}

/// The first eight of `labels`, and how many more there are.
pub(crate) fn some_of(labels: impl Iterator<Item = String>, count: usize) -> String {
    let shown: Vec<String> = labels.take(8).map(|label| cut(&label, 40)).collect();
    let more = count - shown.len();
    let shown = shown.join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

/// The one of `names` that is so similar to `name` that it was probably meant.
pub(crate) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let folded =
        |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    let name = folded(name);
    let near = names.map(|other| (strsim::normalized_damerau_levenshtein(&name, &folded(other)), other));
    near.filter(|(nearness, _)| *nearness >= 0.6).max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, other)| other)
}
