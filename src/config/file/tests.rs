use std::{path::PathBuf, time::Duration};

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{
    config::ServerConfig,
    elicitation::Modes,
    protocol::{ProtocolChoice, Revision},
    transport::{HttpEndpoint, HttpKind, StdioEndpoint},
};

fn environment() -> Environment {
    let variables = [("TOK", "s3cret"), ("LINES", "a\nb")];
    Environment {
        variables: variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        home: Some("/home/ada".into()),
        folder: "/srv".into(),
        ..Environment::default()
    }
}

fn read(text: &str) -> Result<Config, ConfigError> {
    parse(text, Some(Path::new("/conf/mcp.json")), &environment())
}

fn config(text: &str) -> Config {
    read(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn only(text: &str) -> ServerConfig {
    let config = config(text);
    assert_eq!(config.servers.len(), 1, "{text}");
    config.servers[0].server.clone().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn stdio(text: &str) -> StdioEndpoint {
    match only(text).endpoint {
        Endpoint::Stdio(stdio) => stdio,
        Endpoint::Http(http) => panic!("{http:?}"),
    }
}

fn http(text: &str) -> HttpEndpoint {
    match only(text).endpoint {
        Endpoint::Http(http) => http,
        Endpoint::Stdio(stdio) => panic!("{stdio:?}"),
    }
}

#[test]
fn servers_are_found_in_the_files_of_others() {
    for text in [
        r#"{"mcpServers": {"t": {"command": "x"}}}"#,
        r#"{"servers": {"t": {"command": "x"}}, "inputs": []}"#,
        r#"{"mcp": {"t": {"type": "local", "command": ["x"], "enabled": true}}}"#,
        r#"{"mcp": {"servers": {"t": {"command": "x"}}}}"#,
        r#"{"mcp.servers": {"t": {"command": "x"}}}"#,
        r#"{"theme": "One", "context_servers": {"t": {"source": "custom", "command": "x", "args": [], "env": {}}}}"#,
        r#"{"t": {"command": "x"}, "builtins": {"command": "y"}, "agents": [], "a2a": {}, "mcpServer": {"command": "y"}}"#,
        r#"{"$schema": "https://a.example/s.json", "t": {"command": "x"}}"#,
    ] {
        let config = config(text);
        let names: Vec<&str> = config.servers.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!((names, config.warnings.len()), (vec!["t"], 0), "{text}");
        assert_eq!(stdio(text).command, "x", "{text}");
    }
    for name in ["servers", "mcp", "mcpServers"] {
        let config = config(&format!(r#"{{"{name}": {{"command": "x"}}}}"#));
        assert_eq!(config.servers[0].name.as_str(), name);
    }
    assert!(config("{}").servers.is_empty() && config(r#"{"mcpServers": {}}"#).servers.is_empty());
}

#[test]
fn comments_marks_and_trailing_commas_are_fine() {
    let text = "\u{feff}{\"mcpServers\":{/* a */\"one\":{\"command\":\"x\",\"args\":[\"http://h//p\",]},}} // end\r\n";
    assert_eq!(stdio(text).args, ["http://h//p"]);
}

#[test]
fn commands_in_every_shape() {
    let text = r#"{"mcp": {"t": {"type": "local", "command": ["uvx", "time-server", "--tz"], "args": ["UTC", 7, true],
        "environment": {"K": "v", "PORT": 8080}, "cwd": "data"}}}"#;
    let expected = StdioEndpoint {
        command: "uvx".into(),
        args: ["time-server", "--tz", "UTC", "7", "true"].map(str::to_owned).to_vec(),
        env: vec![("K".into(), "v".into()), ("PORT".into(), "8080".into())],
        cwd: Some(PathBuf::from("/conf/data")),
    };
    assert_eq!(stdio(text), expected);
    let text = r#"{"t": {"command": "~/bin/srv", "args": ["~", "${TOK}"], "cwd": "~/data", "env": {"KEY": "${TOK}", "B": "${NOPE:-none}"}}}"#;
    let server = stdio(text);
    assert_eq!((server.command.as_str(), server.cwd), ("/home/ada/bin/srv", Some("/home/ada/data".into())));
    assert_eq!(server.args, ["~", "s3cret"]);
    assert_eq!(server.env, [("KEY".into(), "s3cret".into()), ("B".into(), "none".into())]);
    assert_eq!(stdio(r#"{"t": {"command": "./srv"}}"#).command, "/conf/srv");
}

#[test]
fn addresses_and_every_spelling_of_their_type() {
    let kinds = ["http", "streamable-http", "streamableHttp", "streamable_http", "StreamableHTTP", "remote", "sse"];
    for (key, kind) in kinds.into_iter().flat_map(|kind| [("type", kind), ("transport", kind), ("transportType", kind)])
    {
        let text = json!({"servers": {"t": {key: kind, "url": "http://127.0.0.1:9/mcp"}}}).to_string();
        let expected = if kind == "sse" { HttpKind::Sse } else { HttpKind::Auto };
        assert_eq!(http(&text).kind, expected, "{text}");
    }
    for key in ["url", "serverUrl", "httpUrl"] {
        let text = json!({"t": {key: "https://${TOK}.example/x", "headers": {"Authorization": "Bearer ${TOK}"},
            "caFile": "ca.pem", "insecure": true}});
        let server = http(&text.to_string());
        assert_eq!(server.url.as_str(), "https://s3cret.example/x");
        assert_eq!(server.headers, [("Authorization".into(), "Bearer s3cret".into())]);
        assert_eq!((server.ca_file, server.insecure), (Some("/conf/ca.pem".into()), true));
    }
}

#[test]
fn times_limits_and_protocol() {
    let server = only(
        r#"{"t": {"command": "x", "timeout": 1500, "callTimeout": 0.5, "maxCallTime": 1e300, "shutdownGrace": 5,
            "maxMessage": 1024, "protocol": "2025-06-18", "elicitation": "plain"}}"#,
    );
    assert_eq!(server.timeout, Some(Duration::from_millis(1500)));
    assert_eq!(server.call_timeout, Some(Duration::from_micros(500)));
    assert!(server.max_call_time.is_some_and(|time| time >= Duration::from_secs(365 * 24 * 3600)));
    assert_eq!((server.shutdown_grace, server.max_message), (Some(Duration::from_millis(5)), 1024));
    assert_eq!(server.protocol, ProtocolChoice::Fixed(Revision::V2025_06_18));
    assert_eq!(server.modes, Modes::PLAIN);
    assert_eq!(only(r#"{"t": {"command": "x", "timeout": null}}"#).max_message, 1 << 30);
}

#[test]
fn one_entry_never_harms_another() {
    let config = config(
        r#"{"mcpServers": {
  "bad": {"command": "x", "args": true},
  "unset": {"command": "x", "env": {"K": "${NOPE}"}},
  "off": {"command": "touch", "args": ["/tmp/oops"], "disabled": true},
  "off2": {"url": 5, "enabled": false},
  "text": "x",
  "ok": {"command": "good-server"}
}}"#,
    );
    let error = |name| config.server(name).expect_err(name).to_string();
    assert_eq!(error("bad"), "/conf/mcp.json:2:35: server \"bad\": args: expected a list of strings, not true");
    assert!(error("unset").contains("mcp.json:3:42: server \"unset\": env.K: the variable NOPE is not set"));
    assert!(error("off").contains("disabled") && error("off2").contains("disabled"));
    assert!(error("text").contains("mcp.json:6:11: server \"text\": expected an object"));
    assert!(config.server("ok").is_ok());
    let unknown = config.server("okk").expect_err("unknown");
    assert_eq!(unknown.hint().as_deref(), Some("did you mean ok?"));
}

#[test]
fn wrong_keys_are_named_with_their_place() {
    for (entry, expected) in [
        (r#"{"comand": "x"}"#, ":1:7: server \"t\": unknown key \"comand\": did you mean `command`?"),
        (r#"{"uri": "http://a.example"}"#, ":1:7: server \"t\": unknown key \"uri\": did you mean `url`?"),
        (
            r#"{"command": "x", "disable": true}"#,
            ":1:23: server \"t\": unknown key \"disable\": did you mean `disabled`?",
        ),
        (
            r#"{"command": "x", "disabled": "yes"}"#,
            ":1:35: server \"t\": disabled: expected true or false, not \"yes\"",
        ),
        (r#"{"type": "stdio", "url": "http://a"}"#, ":1:7: server \"t\": `type` is stdio, which needs `command`"),
        (r#"{"type": "http", "command": "x"}"#, ":1:7: server \"t\": `type` is a web address, which needs `url`"),
        (r#"{"type": "carrier-pigeon", "url": "http://a"}"#, "type: expected \"stdio\", \"http\" or \"sse\""),
        (r#"{"command": "x", "url": "http://a"}"#, "has both `command` and `url`"),
        (r#"{"args": ["x"]}"#, ":1:6: server \"t\": needs `command` (a program to start) or `url`"),
        (r#"{"command": []}"#, "command: is empty"),
        (r#"{"command": " "}"#, "command: is empty"),
        (r#"{"command": "x", "args": "-y"}"#, "args: expected a list of strings, not \"-y\""),
        (r#"{"command": "x", "args": ["a", {}]}"#, "args[1]: expected a string, not an object"),
        (r#"{"command": "x", "env": ["A=b"]}"#, "env: expected an object with string values, not a list"),
        (r#"{"command": "x", "timeout": 0}"#, "timeout: expected a number of milliseconds greater than 0, not 0"),
        (r#"{"command": "x", "maxMessage": -1}"#, "maxMessage: expected a number of bytes, not -1"),
        (r#"{"command": "x", "protocol": "2020-01-01"}"#, "protocol: expected one of auto, 2024-11-05"),
        (r#"{"command": "x", "elicitation": "no"}"#, "elicitation: expected \"plain\" or \"full\", not \"no\""),
        (r#"{"url": "ws://a.example"}"#, "only http and https are supported"),
        (r#"{"url": "a.example/mcp"}"#, "is not a web address"),
        (r#"{"url": "http://a", "headers": {"X": "${LINES}"}}"#, "headers.X: the value contains a line break"),
        (r#"{"url": "http://a", "headers": {"a b": "c"}}"#, "\"a b\" is not a valid header name"),
    ] {
        let config = config(&format!(r#"{{"t":{entry}}}"#));
        let error = config.server("t").expect_err(entry).to_string();
        assert!(error.contains(expected), "{entry}: {error}");
    }
}

#[test]
fn unknown_keys_are_no_error_and_near_misses_a_warning() {
    let config = config(
        "{\"t\": {\"command\": \"x\",\n \"autoApprove\": [], \"description\": \"d\", \"alwaysAllow\": [], \"gallery\": true,\n \"call_timeout\": 5}}",
    );
    assert!(config.server("t").is_ok());
    let expected = "/conf/mcp.json:3:2: server \"t\": unknown key \"call_timeout\": did you mean `callTimeout`?";
    assert_eq!(config.servers[0].warnings, [expected]);
}

#[test]
fn headers_of_other_clients_are_read() {
    for (entry, expected) in [
        (
            r#"{"http_headers": {"X-A": "1"}, "env_http_headers": {"X-B": "TOK"}}"#,
            &[("X-A", "1"), ("X-B", "s3cret")][..],
        ),
        (r#"{"httpHeaders": {"X-A": "${TOK}"}}"#, &[("X-A", "s3cret")]),
        (r#"{"bearer_token_env_var": "TOK"}"#, &[("Authorization", "Bearer s3cret")]),
        (r#"{"requestInit": {"headers": {"X-A": "1"}}}"#, &[("X-A", "1")]),
        (r#"{"bearerToken": "t"}"#, &[("Authorization", "Bearer t")]),
        (r#"{"bearerToken": "Bearer ${TOK}"}"#, &[("Authorization", "Bearer s3cret")]),
        (r#"{"authorization_token": "${TOK}"}"#, &[("Authorization", "Bearer s3cret")]),
        (r#"{"auth": "t"}"#, &[("Authorization", "Bearer t")]),
        (r#"{"auth": {"type": "bearer", "token": "${TOK}"}}"#, &[("Authorization", "Bearer s3cret")]),
        (r#"{"auth": "oauth"}"#, &[]),
        (r#"{"auth": {"type": "none"}}"#, &[]),
        (r#"{"auth": null, "bearerToken": null}"#, &[]),
    ] {
        let mut entry: Value = serde_json::from_str(entry).expect("JSON");
        entry["url"] = json!("http://127.0.0.1:9/mcp");
        let text = json!({"mcpServers": {"t": entry}}).to_string();
        let headers = http(&text).headers;
        let headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(headers, expected, "{text}");
        assert!(config(&text).servers[0].warnings.is_empty(), "{text}");
    }
    let client = only(r#"{"t": {"url": "http://a.example", "auth": {"CLIENT_ID": "c", "scopes": ["a"]}}}"#);
    assert_eq!(client.auth.oauth.client_id.as_deref(), Some("c"));
}

#[test]
fn keys_of_other_clients_that_are_not_read_are_warned_of() {
    for (entry, part) in [
        (r#""apiKey": "x""#, "`apiKey` is not supported; write `headers`: {\"Authorization\": \"Bearer ${VARIABLE}\"}"),
        (r#""token": "x""#, "`token` is not supported; write `headers`"),
        (r#""authorization": "x""#, "`authorization` is not supported; write `headers`"),
        (r#""auth": {"type": "basic", "user": "x"}"#, "`auth` is not supported in this form; write `headers`"),
        (r#""requestInit": {"credentials": "x"}"#, "`requestInit.credentials` is ignored"),
        (r#""clientId": "x""#, "`clientId` is not supported; write it as `oauth`: {\"clientId\": …}"),
        (
            r#""headers": {"A": "1"}, "http_headers": {"a": "2"}"#,
            "a in `http_headers` is ignored, because of the one above",
        ),
        (
            r#""headers": {"A": "Bearer {env:TOK}"}"#,
            "headers: `{env:TOK}` is sent as written; write `${TOK}` for the variable",
        ),
    ] {
        let text = format!(r#"{{"mcpServers": {{"t": {{"url": "http://a.example", {entry}}}}}}}"#);
        let warnings = config(&text).servers[0].warnings.clone();
        assert!(warnings.len() == 1 && warnings[0].contains(part), "{entry}: {warnings:?}");
    }
    for (entry, part) in [
        (r#""bearer_token_env_var": "NOPE""#, "bearer_token_env_var: the variable NOPE is not set"),
        (r#""env_http_headers": {"A": 5}"#, "env_http_headers.A: expected the name of a variable, not 5"),
        (r#""bearerToken": {}"#, "bearerToken: expected a string, not an object"),
        (r#""requestInit": "x""#, "requestInit: expected an object with `headers`, not \"x\""),
    ] {
        let text = format!(r#"{{"mcpServers": {{"t": {{"url": "http://a.example", {entry}}}}}}}"#);
        let error = config(&text).server("t").expect_err(entry).to_string();
        assert!(error.contains(part), "{entry}: {error}");
    }
}

#[test]
fn variables_in_braces_are_read_where_servers_stand_under_mcp() {
    let text = r#"{"mcp": {"t": {"type": "remote", "url": "https://{env:TOK}.example/x", "headers": {"A": "Bearer {env:TOK}"}}}}"#;
    let server = http(text);
    assert_eq!(
        (server.url.as_str(), &*server.headers),
        ("https://s3cret.example/x", &[("A".into(), "Bearer s3cret".into())][..])
    );
    let unset = r#"{"mcp": {"t": {"type": "local", "command": ["x", "{env:NOPE}"]}}}"#;
    let error = config(unset).server("t").expect_err("unset").to_string();
    assert!(error.contains("the variable NOPE is not set"), "{error}");
}

#[test]
fn repeated_and_doubled_keys_are_warned_of() {
    let config = config(
        "{\"mcpServers\": {\n\"t\": {\"command\": \"a\"},\n\"t\": {\"command\": \"b\", \"command\": \"c\", \"env\": {}, \"environment\": {}}},\n\"servers\": {}}",
    );
    assert_eq!(config.servers.len(), 1);
    let all: Vec<&String> = config.warnings.iter().chain(&config.servers[0].warnings).collect();
    for (warning, part) in all.iter().zip([
        ":4:1: `servers` is ignored, because there is `mcpServers`",
        ":3:1: the key \"t\" is also at line 2 column 1",
        ":3:23: server \"t\": the key \"command\" is also at line 3 column 7",
        ":3:50: server \"t\": `environment` is ignored, because there is `env`",
    ]) {
        assert!(warning.contains(part), "{warning}");
    }
    assert_eq!(all.len(), 4);
    let Ok(ServerConfig { endpoint: Endpoint::Stdio(stdio), .. }) = config.server("t") else { panic!("stdio") };
    assert_eq!(stdio.command, "c");
}

#[test]
fn files_that_are_no_configuration() {
    for (text, expected) in [
        ("", "/conf/mcp.json: the file is empty"),
        ("[]", "/conf/mcp.json:1:1: expected an object with the key `mcpServers`, not a list"),
        ("{\"mcpServers\": [1]}", ":1:16: mcpServers: expected an object of servers, not a list"),
        ("{\"foo\": 1}", "expected the key `mcpServers`"),
        (
            "{\"mcp_servers\": {\"t\": {\"command\": \"x\"}}}",
            ":1:2: unknown key \"mcp_servers\": did you mean `mcpServers`?",
        ),
        ("{\"mcpServers\": {\n \"t\": {\"command\" \"x\"}}}", "/conf/mcp.json:2:18: expected colon"),
    ] {
        let error = read(text).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn values_are_read_like_files() {
    let config = parse_value(&json!({"mcpServers": {"t": {"command": "./x"}}}), &environment()).expect("read");
    let Ok(ServerConfig { endpoint: Endpoint::Stdio(stdio), .. }) = config.server("t") else { panic!("stdio") };
    assert_eq!((stdio.command.as_str(), &config.path), ("/srv/x", &None));
}

proptest! {
    #[test]
    fn no_text_panics(text in any::<String>()) {
        let _ = read(&text);
    }

    #[test]
    fn no_odd_entry_panics(
        keys in prop::collection::vec((prop::sample::select(entry_reader::KEYS.to_vec()), "[a-z${}:~/.-]{0,12}|[0-9]{1,3}"), 0..6),
    ) {
        let mut object = serde_json::Map::new();
        for (key, text) in keys {
            object.insert(key.to_owned(), serde_json::from_str(&text).unwrap_or(json!(text)));
        }
        let _ = read(&json!({"mcpServers": {"t": object}}).to_string());
    }
}
