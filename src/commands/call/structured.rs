use std::{thread, time::Duration};

use serde_json::Value;
use tokio::{sync::oneshot, time::timeout};

use crate::{
    arguments::fits_plainly,
    form::{Checker, TooCostly, cut},
    protocol::{ResultOutline, parse_lenient},
};

/// The longest `structuredContent` that is checked, in bytes.
const LONGEST: usize = 1 << 20;
/// How long the check may delay the result.
const LIMIT: Duration = Duration::from_secs(1);
/// Enough for the deepest values and schemas that are allowed.
const STACK: usize = 64 << 20;
/// The most faults that are listed.
const MOST_FAULTS: usize = 3;

/// Checks `structuredContent` against the tool's `outputSchema` (2025-11-25, *server/tools*, Output Schema): clients
/// should, and a mismatch is the server's fault, so it is only a warning. `None` if all is well or nothing is known:
/// the tool failed, the schema cannot be used, or the check takes too long.
pub(crate) async fn mismatch(schema: Value, result: &ResultOutline<'_>) -> Option<String> {
    if result.is_error {
        return None;
    }
    // Missing content counts as null, which a schema may allow.
    let text = result.structured.unwrap_or("null");
    if text.len() > LONGEST {
        return None;
    }
    let value = parse_lenient(text).ok()?;
    if let Value::Object(values) = &value
        && fits_plainly(&schema, values)
    {
        return None;
    }
    let (done, checked) = oneshot::channel();
    // In a separate thread, because a server's schema may make the check take forever.
    let check = move || drop(done.send(faults(&schema, &value)));
    thread::Builder::new().stack_size(STACK).spawn(check).ok()?;
    let words = timeout(LIMIT, checked).await.ok()?.ok()??;
    let missing = || "the tool has an outputSchema, but the result has no structuredContent".to_owned();
    Some(if result.structured.is_some() { words } else { missing() })
}

fn faults(schema: &Value, value: &Value) -> Option<String> {
    let faults = match Checker::known(schema).ok()?.faults(value) {
        Ok(faults) => faults,
        Err(TooCostly) => {
            return Some(
                "structuredContent is not checked, because the tool's outputSchema would take too long".into(),
            );
        }
    };
    let told = faults.iter().take(MOST_FAULTS).map(|fault| match fault.path.as_str() {
        "" => cut(&fault.reason, 200),
        path => format!("{}: {}", cut(path, 100), cut(&fault.reason, 200)),
    });
    let told = told.collect::<Vec<_>>().join("; ");
    let more = if faults.len() > MOST_FAULTS { "; and more" } else { "" };
    (!faults.is_empty()).then(|| format!("structuredContent does not fit the tool's outputSchema: {told}{more}"))
}

#[cfg(test)]
mod tests {
    use serde_json::{json, value::RawValue};

    use super::*;

    async fn told(schema: Value, result: Value) -> Option<String> {
        let raw = RawValue::from_string(result.to_string()).expect("JSON");
        mismatch(schema, &ResultOutline::of(&raw)).await
    }

    fn ages() -> Value {
        json!({"type": "object", "properties": {"age": {"type": "integer", "minimum": 18}}, "required": ["age"]})
    }

    #[tokio::test]
    async fn faults_are_told_by_their_place() {
        let told = async |content: Value| told(ages(), json!({"structuredContent": content})).await;
        assert_eq!(told(json!({"age": 18})).await, None);
        let low = told(json!({"age": 17})).await;
        assert_eq!(
            low.as_deref(),
            Some("structuredContent does not fit the tool's outputSchema: /age: 17 is below the minimum, 18")
        );
        assert!(told(json!({})).await.is_some_and(|words| words.ends_with("/age: required, but missing")));
        assert!(told(json!([7])).await.is_some_and(|words| words.contains(", not an object")));
    }

    #[tokio::test]
    async fn content_that_is_missing_is_told_unless_the_tool_failed() {
        assert!(told(ages(), json!({"content": []})).await.is_some_and(|words| words.contains("no structuredContent")));
        assert_eq!(told(ages(), json!({"isError": true, "structuredContent": {}})).await, None);
        assert_eq!(told(json!({"type": ["object", "null"]}), json!({"structuredContent": null})).await, None);
    }

    #[tokio::test]
    async fn schemas_that_cannot_be_used_are_silent() {
        for schema in [
            json!({"$ref": "https://a.example/schema"}),
            json!({"$ref": "#"}),
            json!({"type": "no such type"}),
            json!({"$schema": "urn:unknown"}),
            json!(7),
        ] {
            assert_eq!(told(schema.clone(), json!({"structuredContent": {"a": 1}})).await, None, "{schema}");
        }
    }

    #[tokio::test]
    async fn deep_content_is_checked_against_a_schema_that_nests() {
        let schema = json!({"type": "array", "items": {"$ref": "#"}});
        let content = (0..100).fold(json!([]), |inner, _| json!([inner]));
        assert_eq!(told(schema.clone(), json!({"structuredContent": content})).await, None);
        assert!(told(schema, json!({"structuredContent": [[7]]})).await.is_some());
    }
}
