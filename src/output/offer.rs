use serde_json::{Value, value::RawValue};

use super::{
    result::{ResultLook, result_text},
    signature::sentence_of,
    table,
};
use crate::{
    protocol::CallToolResult,
    text::{safe_address, safe_name},
};

/// The most arguments of a prompt that are listed.
const ARGUMENTS: usize = 40;

/// An entry of a listing on one line: the value of `key`, and the first sentence of its description. Safe for a
/// terminal.
pub fn offer_line(entry: &Value, key: &str) -> [String; 2] {
    let text = |key: &str| entry[key].as_str().filter(|text| !text.trim().is_empty());
    let about = text("description").or(text("title")).or(text("name").filter(|_| key != "name")).unwrap_or_default();
    [safe_address(text(key).unwrap_or_default()).into_owned(), sentence_of(about)]
}

/// Resources and templates, one per line.
pub fn resource_list(resources: &[Value], templates: &[Value]) -> String {
    let fixed = resources.iter().map(|entry| offer_line(entry, "uri"));
    let rows = fixed.chain(templates.iter().map(|entry| offer_line(entry, "uriTemplate")));
    table(&rows.map(Vec::from).collect::<Vec<_>>(), "")
}

/// Prompts, one per line, as signatures: `review(code, style?)`.
pub fn prompt_list(prompts: &[Value]) -> String {
    table(&prompts.iter().map(|prompt| Vec::from(prompt_line(prompt))).collect::<Vec<_>>(), "")
}

/// One prompt on a line: its signature, and its description.
pub fn prompt_line(prompt: &Value) -> [String; 2] {
    let [name, about] = offer_line(prompt, "name");
    let arguments = prompt["arguments"].as_array().into_iter().flatten().filter_map(|argument| {
        let mark = if argument["required"] == Value::Bool(true) { "" } else { "?" };
        Some(format!("{}{mark}", safe_name(argument["name"].as_str()?)))
    });
    let mut arguments: Vec<String> = arguments.take(ARGUMENTS + 1).collect();
    if arguments.len() > ARGUMENTS {
        "…".clone_into(&mut arguments[ARGUMENTS]);
    }
    [if arguments.is_empty() { name } else { format!("{name}({})", arguments.join(", ")) }, about]
}

/// The messages of a prompt: only the text if there is a single one of the user, otherwise each below its role. The
/// server's text is made safe as in a result.
pub(super) fn prompt_text(result: &Value, on_terminal: bool) -> String {
    let messages: Vec<&Value> = result["messages"].as_array().into_iter().flatten().collect();
    let alone = matches!(messages.as_slice(), [one] if one["role"] == "user");
    let mut text = String::new();
    for message in messages {
        if !alone {
            let role = safe_name(message["role"].as_str().unwrap_or("?")).into_owned();
            text.push_str(&format!("{}[{role}]\n", if text.is_empty() { "" } else { "\n" }));
        }
        let json = serde_json::json!({"content": message["content"]}).to_string();
        if let Ok(raw) = RawValue::from_string(json) {
            text.push_str(&result_text(&CallToolResult::from_raw(&raw), raw.get(), ResultLook::default(), on_terminal));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn prompts_are_signatures() {
        let arguments = json!([{"name": "code", "required": true}, {"name": "style"}]);
        let prompts = [json!({"name": "review", "arguments": arguments}), json!({"name": "x", "title": "An X"})];
        assert_eq!(prompt_list(&prompts), "review(code, style?)\nx                     An X\n");
    }

    #[test]
    fn resources_and_templates_stand_together() {
        let resources =
            [json!({"uri": "a:1", "name": "one"}), json!({"uri": "a:\u{1b}2", "description": "\ntwo\nmore"})];
        let templates = [json!({"uriTemplate": "a:{n}", "name": "n"})];
        assert_eq!(resource_list(&resources, &templates), "a:1        one\na:\\u{1b}2  two more\na:{n}      n\n");
    }

    #[test]
    fn messages_have_roles_unless_there_is_one_of_the_user() {
        let message = |role: &str, text: &str| json!({"role": role, "content": {"type": "text", "text": text}});
        assert_eq!(prompt_text(&json!({"messages": [message("user", "Hi")]}), true), "Hi\n");
        let both = json!({"messages": [message("user", "Hi"), message("assistant", "Ho\u{7}")]});
        assert_eq!(prompt_text(&both, true), "[user]\nHi\n\n[assistant]\nHo\\u{7}\n");
    }
}
