use serde_json::Value;

use super::{FIELDS, Unanswered};
use crate::{
    elicitation::Link,
    output::{Detail, field_rows, table},
    protocol::{RpcError, code},
    transport::TransportError,
};

/// The server's message, with the links that it requires (2025-11-25, *client/elicitation*, URL Elicitation Required).
pub(super) fn rpc_details(error: &RpcError) -> Vec<Detail> {
    let mut details = vec![Detail::Theirs(error.message.clone())];
    let required = error.data.as_ref().filter(|_| error.code == code::URL_ELICITATION_REQUIRED);
    let required = required.and_then(|data| data.get("elicitations")).and_then(Value::as_array);
    for link in required.into_iter().flatten() {
        let text = |key: &str| link.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        details.extend(text("message").map(|text| Detail::Theirs(text.to_owned())));
        details.extend(text("url").into_iter().flat_map(link_details));
    }
    details
}

/// A link, its real host, and the warnings about it.
fn link_details(url: &str) -> Vec<Detail> {
    let mut details = vec![Detail::Theirs(url.to_owned())];
    if let Ok(link) = Link::inspect(url) {
        let warnings = link.warnings.into_iter().map(|warning| format!("! {warning}"));
        details.extend(std::iter::once(format!("host  {}", link.host)).chain(warnings).map(Detail::Ours));
    }
    details
}

pub(super) fn transport_details(error: &TransportError) -> Vec<Detail> {
    match error {
        TransportError::Closed(closed) => closed.stderr.iter().cloned().map(Detail::Log).collect(),
        _ => Vec::new(),
    }
}

pub(super) fn unanswered_details(unanswered: &Unanswered) -> Vec<Detail> {
    let Some(question) = &unanswered.question else { return Vec::new() };
    let mut details = vec![Detail::Theirs(question.request.prompt.clone())];
    details.extend(question.request.url.as_deref().into_iter().flat_map(link_details));
    let Some(form) = question.form().filter(|form| !form.is_empty()) else { return details };
    let schema = question.request.data.as_ref().and_then(|data| data.get("schema")).unwrap_or(&Value::Null);
    details.push(Detail::Ours(table(&field_rows(form, schema, FIELDS), "")));
    if form.fields.len() > FIELDS {
        details.push(Detail::Ours(format!("and {} more fields", form.fields.len() - FIELDS)));
    }
    details
}
