//! Everything except tools: resources, templates, prompts, and completions of their arguments.

use serde_json::{Value, json};

use crate::protocol::{RpcError, code};

/// An 8 by 8 PNG, as base64.
const LOGO: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAIAQAAAADsdIMmAAAAEklEQVR42mOwYXBiaIRCJwYbABgQAwH1j2TtAAAAAElFTkSuQmCC";
const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const TONES: [&str; 4] = ["formal", "friendly", "funny", "brief"];
/// The resource that changes every second.
pub(super) const CLOCK: &str = "demo://clock";

/// What the server declares.
pub(super) fn capabilities() -> Value {
    json!({"tools": {}, "resources": {"subscribe": true}, "prompts": {}, "completions": {}, "logging": {}})
}

/// The result of a request for anything but a tool; `None` for other methods.
pub(super) fn result(method: &str, params: &Value) -> Option<Result<Value, RpcError>> {
    Some(match method {
        "resources/list" => Ok(json!({"resources": [
            {"uri": "demo://readme", "name": "readme", "title": "Read me", "mimeType": "text/markdown",
             "description": "What you can try."},
            {"uri": CLOCK, "name": "clock", "mimeType": "text/plain", "description": "The time; changes every second."},
            {"uri": "demo://logo.png", "name": "logo", "mimeType": "image/png", "description": "A small picture."},
        ]})),
        "resources/templates/list" => Ok(json!({"resourceTemplates": [
            {"uriTemplate": "demo://notes/{day}", "name": "notes", "mimeType": "text/plain",
             "description": "The notes for a day of the week."},
        ]})),
        "resources/read" => read(text(params, "uri")),
        "prompts/list" => Ok(json!({"prompts": [
            {"name": "introduce", "title": "Introduce", "description": "Asks a model to introduce somebody.",
             "arguments": [
                {"name": "name", "description": "Who to introduce", "required": true},
                {"name": "tone", "description": "How it should sound"},
             ]},
        ]})),
        "prompts/get" => prompt(params),
        "completion/complete" => complete(params),
        _ => return None,
    })
}

fn text<'a>(params: &'a Value, key: &str) -> &'a str {
    params[key].as_str().unwrap_or_default()
}

fn invalid(message: String) -> RpcError {
    RpcError::new(code::INVALID_PARAMS, message)
}

fn read(uri: &str) -> Result<Value, RpcError> {
    let (kind, key, body) = match uri {
        "demo://readme" => (
            "text/markdown",
            "text",
            "# The demo server\n\nTry the tool `greet`, the template `demo://notes/{day}`, and the prompt `introduce`.\n"
                .to_owned(),
        ),
        CLOCK => ("text/plain", "text", format!("{}\n", jiff::Timestamp::now().strftime("%H:%M:%S UTC"))),
        "demo://logo.png" => ("image/png", "blob", LOGO.to_owned()),
        _ => {
            let day = uri.strip_prefix("demo://notes/").filter(|day| DAYS.contains(day));
            // 2025-11-25, *server/resources*, Error Handling.
            let missing = || RpcError::new(-32002, "Resource not found").with_data(json!({"uri": uri}));
            ("text/plain", "text", format!("Nothing is planned for {}.\n", day.ok_or_else(missing)?))
        }
    };
    Ok(json!({"contents": [{"uri": uri, "mimeType": kind, key: body}]}))
}

fn prompt(params: &Value) -> Result<Value, RpcError> {
    if text(params, "name") != "introduce" {
        return Err(invalid(format!("Unknown prompt: {}", text(params, "name"))));
    }
    let arguments = &params["arguments"];
    let name = arguments["name"].as_str().filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| invalid("the argument `name` is required".to_owned()))?;
    let tone = arguments["tone"].as_str().unwrap_or("friendly");
    let words = format!("Introduce {name} to the team, in a {tone} tone.");
    let message = json!({"role": "user", "content": {"type": "text", "text": words}});
    Ok(json!({"description": "Asks a model to introduce somebody.", "messages": [message]}))
}

fn complete(params: &Value) -> Result<Value, RpcError> {
    let (reference, argument) = (&params["ref"], &params["argument"]);
    let known: &[&str] = match (text(reference, "type"), text(argument, "name")) {
        ("ref/prompt", "tone") if text(reference, "name") == "introduce" => &TONES,
        ("ref/resource", "day") if text(reference, "uri") == "demo://notes/{day}" => &DAYS,
        ("ref/prompt" | "ref/resource", _) => &[],
        (other, _) => return Err(invalid(format!("Unknown kind of reference: {other:?}"))),
    };
    let values: Vec<&&str> = known.iter().filter(|value| value.starts_with(text(argument, "value"))).collect();
    Ok(json!({"completion": {"total": values.len(), "hasMore": false, "values": values}}))
}
