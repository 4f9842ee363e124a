use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{asker::DemoPause, demo_call::DemoCall, demo_session::unknown_tool, forms, page};
use crate::{elicitation::Verdict, protocol::RpcError};

/// A prefix in `requestState`, before the id of a page whose link the client has agreed to open.
const ACCEPTED: &str = "accepted/";

/// The entries of `tools/list`.
pub(super) fn list() -> Value {
    let nothing = json!({"type": "object", "additionalProperties": false});
    json!([
        {"name": "greet", "title": "Greet", "description": "Asks who you are, and greets you.", "inputSchema": nothing},
        {"name": "survey", "title": "Survey", "description": "Asks with every kind of field, and repeats the answers.",
         "inputSchema": nothing},
        {"name": "connect", "title": "Connect", "description": "Asks you to approve on a web page on this machine.",
         "inputSchema": nothing},
        {"name": "countdown", "title": "Countdown", "description": "Counts down, and reports each step.",
         "annotations": {"readOnlyHint": true},
         "inputSchema": {
            "type": "object",
            "properties": {"from": {"type": "integer", "minimum": 1, "maximum": 100, "default": 5,
                                    "description": "Where to begin"}},
            "additionalProperties": false}},
        {"name": "fail", "title": "Fail", "description": "Fails.", "inputSchema": nothing}
    ])
}

/// Runs a call to its result, or to the point where the client has to call again.
pub(super) async fn run(call: DemoCall) -> Result<Value, RpcError> {
    let end = match call.name.as_str() {
        "greet" => greet(&call).await,
        "survey" => survey(&call).await,
        "connect" => connect(&call).await,
        "countdown" => Ok(countdown(&call).await),
        "fail" => Ok(failure("This tool always fails, so that you can see what that looks like.")),
        other => return Err(unknown_tool(other)),
    };
    match end {
        Ok(result) | Err(DemoPause::Input(result)) => Ok(result),
        Err(DemoPause::Failed(error)) => Err(error),
    }
}

async fn greet(call: &DemoCall) -> Result<Value, DemoPause> {
    let answer = call.form("Welcome! Tell us a little about you.", &forms::greet()).await?;
    Ok(text(&match answer {
        None => "Hello, stranger! (This client does not allow questions, so I greet you without your name.)".to_owned(),
        Some(Verdict::Decline) => "Hello, whoever you are! You would rather not say, and that is fine.".to_owned(),
        Some(Verdict::Cancel) => "Hello! You closed the question, so I do not know your name.".to_owned(),
        Some(Verdict::Accept(content)) => greeting(&content),
    }))
}

fn greeting(content: &Value) -> String {
    let topics = content["topics"].as_array().filter(|topics| !topics.is_empty());
    let topics = topics.map(|topics| topics.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" and "));
    [
        Some(format!("Hello, {}!", content["name"].as_str().unwrap_or("stranger"))),
        content.get("age").map(|age| format!("You are {age}.")),
        content["plan"].as_str().map(|plan| format!("You are on the {plan} plan.")),
        topics.map(|topics| format!("You will hear about {topics}.")),
    ]
    .into_iter()
    .flatten()
    .collect::<Vec<_>>()
    .join(" ")
}

async fn survey(call: &DemoCall) -> Result<Value, DemoPause> {
    let schema = forms::survey();
    let (action, content) = match call.form("A survey with every kind of field.", &schema).await? {
        None => ("none", defaults(&schema)),
        Some(Verdict::Accept(content)) => ("accept", content),
        Some(Verdict::Decline) => ("decline", Value::Null),
        Some(Verdict::Cancel) => ("cancel", Value::Null),
    };
    let words = match action {
        "none" => format!("This client does not allow questions, so these are the defaults: {content}"),
        "accept" => format!("You answered: {content}"),
        other => format!("You answered: {other}"),
    };
    let mut result = text(&words);
    result["structuredContent"] = json!({"action": action, "content": content});
    Ok(result)
}

fn defaults(schema: &Value) -> Value {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let defaults = properties.filter_map(|(key, field)| Some((key.clone(), field.get("default")?.clone())));
    Value::Object(defaults.collect::<Map<String, Value>>())
}

async fn connect(call: &DemoCall) -> Result<Value, DemoPause> {
    let accepted = call.state().and_then(|state| state.strip_prefix(ACCEPTED));
    let known = accepted.or(call.state()).and_then(page::find);
    let is_accepted = accepted.is_some() && known.is_some();
    let page = match known {
        Some(page) => page,
        None => match page::open().await {
            Ok(page) => page,
            Err(error) => return Ok(failure(&format!("The page could not be served: {error}"))),
        },
    };
    if !is_accepted {
        match call.link("Approve the connection on this page.", &page.url, &page.id).await? {
            None => return Ok(text("This client does not open links, so nothing was connected.")),
            Some(Verdict::Decline) => return Ok(text("You declined, so nothing was connected.")),
            Some(Verdict::Cancel) => return Ok(text("You closed the question, so nothing was connected.")),
            Some(Verdict::Accept(_)) => {}
        }
    }
    if call.state().is_some() && !page.approved_within(Duration::from_secs(1)).await {
        call.call_again(&format!("{ACCEPTED}{}", page.id))?;
    }
    page.approved().await;
    if call.state().is_none() {
        call.notify("notifications/elicitation/complete", &json!({"elicitationId": page.id}));
    }
    Ok(text("Connected: you approved it on the page."))
}

async fn countdown(call: &DemoCall) -> Value {
    let from = match call.arguments.get("from") {
        None => 5,
        Some(value) => match value.as_u64() {
            Some(from @ 1..=100) => from,
            _ => return failure("`from` is a whole number from 1 to 100."),
        },
    };
    for step in 1..=from {
        tokio::time::sleep(Duration::from_millis(200)).await;
        call.progress(step, from, &format!("{} to go", from - step));
    }
    text(&format!("Counted down from {from}."))
}

fn text(words: &str) -> Value {
    json!({"content": [{"type": "text", "text": words}]})
}

fn failure(words: &str) -> Value {
    let mut result = text(words);
    result["isError"] = json!(true);
    result
}
