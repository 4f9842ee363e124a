use serde_json::{Value, json};

use super::{
    DemoOutbox,
    asker::Asker,
    demo_call::DemoCall,
    demo_session::{INSTRUCTIONS, modes, server_info},
    offers, ticks, tools,
};
use crate::protocol::{Id, Revision, RpcError, code};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Whether a request's params carry the metadata of 2026-07-28 (*Versioning*, Backward Compatibility).
pub(super) fn is_modern(params: &Value) -> bool {
    meta(params, VERSION).is_some()
}

/// The result of one request; nothing is known from earlier ones (2026-07-28, *basic*, Statelessness).
pub(super) async fn result(id: &Id, method: &str, params: &Value, out: &DemoOutbox) -> Result<Value, RpcError> {
    let version = meta(params, VERSION).and_then(Value::as_str).ok_or_else(|| missing(VERSION))?;
    if version != Revision::NEWEST_MODERN.as_str() {
        let supported: Vec<&str> = Revision::ALL.iter().map(|revision| revision.as_str()).collect();
        return Err(RpcError::new(code::UNSUPPORTED_VERSION, "Unsupported protocol version")
            .with_data(json!({"supported": supported, "requested": version})));
    }
    let capabilities = meta(params, CAPABILITIES).ok_or_else(|| missing(CAPABILITIES))?;
    let mut result = match method {
        "server/discover" => json!({
            "supportedVersions": [Revision::NEWEST_MODERN.as_str()],
            "capabilities": offers::capabilities(),
            "instructions": INSTRUCTIONS,
            "ttlMs": 3_600_000, "cacheScope": "public",
        }),
        "tools/list" => json!({"tools": tools::list(), "ttlMs": 3_600_000, "cacheScope": "public"}),
        "tools/call" => {
            let responses = params.get("inputResponses").and_then(Value::as_object).cloned().unwrap_or_default();
            let state = params.get("requestState").and_then(Value::as_str).map(str::to_owned);
            if meta(params, LOG_LEVEL).and_then(Value::as_str).is_some_and(ticks::is_told) {
                out(ticks::log(&format!("{} is called", params["name"].as_str().unwrap_or_default())));
            }
            let asker = Asker::Modern { responses, state };
            tools::run(DemoCall::new(params, modes(Some(capabilities)), asker, out)?).await?
        }
        "subscriptions/listen" => {
            ticks::listen(id, params, out).await;
            json!({})
        }
        _ => offers::result(method, params).unwrap_or_else(|| Err(RpcError::method_not_found()))?,
    };
    if let Value::Object(object) = &mut result {
        object.entry("resultType").or_insert_with(|| json!("complete"));
        object.insert("_meta".into(), json!({SERVER_INFO: server_info()}));
    }
    Ok(result)
}

fn meta<'a>(params: &'a Value, key: &str) -> Option<&'a Value> {
    params.get("_meta")?.get(key)
}

fn missing(key: &str) -> RpcError {
    RpcError::new(code::INVALID_PARAMS, format!("_meta has no {key}"))
}
