use serde_json::Value;

/// The part of `value` at `path`: a JSON pointer (`/content/0/text`), or steps (`content[0].text`, `items[-1].name`,
/// where `\.` is a dot in a name and a negative number counts from the end).
///
/// # Errors
/// If the path leads nowhere; the message says what is there instead.
pub fn part<'a>(value: &'a Value, path: &str) -> Result<&'a Value, String> {
    let steps = if path.starts_with('/') { pointer(path) } else { steps(path)? };
    let mut here = value;
    let mut walked = String::new();
    for step in &steps {
        let place = if walked.is_empty() { "the result" } else { &walked };
        here = match here {
            Value::Object(map) => map.get(step).ok_or_else(|| nothing(step, place, map.keys()))?,
            Value::Array(list) => at(list, step).ok_or_else(|| match list.len() {
                0 => format!("{place} is an empty list, so there is no [{step}]"),
                1 => format!("{place} has one entry, [0]; there is no [{step}]"),
                count => format!("{place} has {count} entries, [0] to [{}]; there is no [{step}]", count - 1),
            })?,
            other => return Err(format!("{place} is {}, so there is no {step:?} in it", crate::form::type_of(other))),
        };
        if !walked.is_empty() {
            walked.push('.');
        }
        walked.push_str(step);
    }
    Ok(here)
}

fn nothing<'a>(step: &str, place: &str, keys: impl Iterator<Item = &'a String>) -> String {
    let keys: Vec<&str> = keys.take(20).map(String::as_str).collect();
    match keys.as_slice() {
        [] => format!("{place} is empty, so there is no {step:?} in it"),
        keys => format!("there is no {step:?} in {place}, which has {}", keys.join(", ")),
    }
}

fn at<'a>(list: &'a [Value], step: &str) -> Option<&'a Value> {
    match step.strip_prefix('-') {
        Some(back) => list.get(list.len().checked_sub(back.parse().ok()?)?),
        None => list.get(step.parse::<usize>().ok()?),
    }
}

fn pointer(path: &str) -> Vec<String> {
    path.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect()
}

fn steps(path: &str) -> Result<Vec<String>, String> {
    let wrong = || format!("{path:?} is not a path: write content[0].text, or /content/0/text");
    let mut steps = Vec::new();
    let mut name = String::new();
    let mut may_end = true;
    let mut characters = path.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => name.push(characters.next().ok_or_else(wrong)?),
            '.' if name.is_empty() && (may_end || steps.is_empty()) => return Err(wrong()),
            '.' => {
                steps.extend((!name.is_empty()).then(|| std::mem::take(&mut name)));
                may_end = true;
                continue;
            }
            '[' => {
                steps.extend((!name.is_empty()).then(|| std::mem::take(&mut name)));
                let index: String = characters.by_ref().take_while(|c| *c != ']').collect();
                if index.is_empty() || !index.trim_start_matches('-').chars().all(|c| c.is_ascii_digit()) {
                    return Err(wrong());
                }
                steps.push(index);
            }
            c => name.push(c),
        }
        may_end = false;
    }
    if may_end && !path.is_empty() {
        return Err(wrong());
    }
    steps.extend((!name.is_empty()).then_some(name));
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_lead_to_parts() {
        let value = json!({"content": [{"text": "a"}, {"text": "b"}], "a.b": {"": 1, "x/y": [[7]]}});
        for (path, wanted) in [
            ("content[0].text", json!("a")),
            ("content.1.text", json!("b")),
            ("content[-1].text", json!("b")),
            ("/content/1/text", json!("b")),
            ("/a.b/", json!(1)),
            ("/a.b/x~1y/0/0", json!(7)),
            (r"a\.b.x/y[0][0]", json!(7)),
            ("", value.clone()),
        ] {
            assert_eq!(part(&value, path), Ok(&wanted), "{path}");
        }
    }

    #[test]
    fn a_missing_part_is_reported_with_what_is_there() {
        let value = json!({"items": [1, 2], "none": [], "name": "x"});
        for (path, told) in [
            ("item", "there is no \"item\" in the result, which has items, none, name"),
            ("items[2]", "items has 2 entries, [0] to [1]; there is no [2]"),
            ("items[-3]", "there is no [-3]"),
            ("none[0]", "none is an empty list"),
            ("name.first", "name is text, so there is no \"first\" in it"),
            ("a..b", "is not a path"),
            ("items[x]", "is not a path"),
            ("items.", "is not a path"),
            (".a", "is not a path"),
            ("a\\", "is not a path"),
        ] {
            let reason = part(&value, path).expect_err(path);
            assert!(reason.contains(told), "{path}: {reason}");
        }
    }
}
