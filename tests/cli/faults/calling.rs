use serde_json::json;

use super::{all, calls, is, modern, shell, text};
use crate::harness::Step;

/// A stdio server in a shell that does the handshake, and then runs this for its call, whose id is `$id`.
fn after_handshake(deed: &str) -> serde_json::Value {
    let hello = r#"{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}\n"#;
    let list = r#"{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"t","inputSchema":{}}]}}\n"#;
    let none = r#"{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}\n"#;
    let mut entry = shell(&format!(
        r#"while read -r line; do
            id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
            case "$line" in
            *'"server/discover"'*) printf '{none}' "$id";;
            *'"initialize"'*) printf '{hello}' "$id";;
            *'"tools/list"'*) printf '{list}' "$id";;
            *'"tools/call"'*) {deed};;
            esac
        done"#
    ));
    entry["timeout"] = json!(3_000);
    entry
}

#[test]
fn servers_that_end_in_a_call() {
    all(vec![
        is("it ends well", |folder| calls(folder, [Step::Exit(0)]), 4, "exited with status 0"),
        is("it fails", |folder| calls(folder, [Step::Stderr("on fire".into()), Step::Exit(1)]), 4, "on fire"),
        is("it is killed", |_| after_handshake("kill -9 $$"), 4, "SIGKILL"),
        is("it crashes", |_| after_handshake("kill -SEGV $$"), 4, "SIGSEGV"),
        is("it closes its output", |_| after_handshake("exec 1>&-; sleep 60"), 4, "closed its output"),
        is(
            "half an answer",
            |_| after_handshake(r#"printf '{"jsonrpc":"2.0","id":%s,"resu' "$id"; exit 0"#),
            4,
            "exited with status 0",
        ),
        is(
            "an answer without a line's end",
            |_| {
                after_handshake(
                    r#"printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"done"}]}}' "$id"; exit 0"#,
                )
            },
            0,
            "done\n",
        ),
        is(
            "an answer, and then a crash",
            |folder| calls(folder, [Step::Reply(text("done")), Step::Exit(3)]),
            0,
            "done\n",
        ),
        is("it never answers", |folder| calls(folder, []), 7, "3 s"),
        is("it never reads again", |_| after_handshake("exec 0<&-; sleep 60"), 7, "3 s"),
        is(
            "it hears no SIGTERM",
            |_| {
                after_handshake(
                    r#"trap '' TERM; printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"done"}]}}\n' "$id""#,
                )
            },
            0,
            "done\n",
        ),
        is(
            "its child holds its output",
            |_| {
                after_handshake(
                    r#"(sleep 60 &); printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"done"}]}}\n' "$id"; exit 0"#,
                )
            },
            0,
            "done\n",
        ),
        is(
            "its child leaves its group",
            |_| {
                after_handshake(
                    r#"setsid sleep 60 & printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"done"}]}}\n' "$id""#,
                )
            },
            0,
            "done\n",
        ),
        is(
            "its daemon leaves its group",
            |_| {
                after_handshake(
                    r#"(setsid sh -c 'sleep 60' >/dev/null 2>&1 &); printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"done"}]}}\n' "$id"; exit 0"#,
                )
            },
            0,
            "done\n",
        ),
    ]);
}

#[test]
#[allow(clippy::too_many_lines, reason = "it is a table")]
fn answers_that_are_odd() {
    all(vec![
        is(
            "garbage before the answer",
            |folder| calls(folder, [Step::Raw("Debug: here".into()), Step::Reply(text("done"))]),
            0,
            "done\n",
        ),
        is(
            "an empty line before the answer",
            |folder| calls(folder, [Step::Raw(String::new()), Step::Reply(text("done"))]),
            0,
            "done\n",
        ),
        is(
            "the answer to another",
            |folder| calls(folder, [Step::Send(json!({"id": 99, "result": text("other")})), Step::Reply(text("done"))]),
            0,
            "done\n",
        ),
        is(
            "the answer to another alone",
            |folder| calls(folder, [Step::Send(json!({"id": 99, "result": text("other")}))]),
            7,
            "3 s",
        ),
        is(
            "the answer twice",
            |folder| calls(folder, [Step::Reply(text("done")), Step::Reply(text("again"))]),
            0,
            "done\n",
        ),
        is(
            "the answer in a list",
            |folder| {
                calls(folder, [Step::RawReply(format!(r#"[{{"jsonrpc":"2.0","id":$id,"result":{}}}]"#, text("done")))])
            },
            0,
            "done\n",
        ),
        is(
            "the answer with a byte order mark",
            |folder| {
                calls(
                    folder,
                    [Step::RawReply(format!(
                        "\u{feff}{{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{}}}\r",
                        text("done")
                    ))],
                )
            },
            0,
            "done\n",
        ),
        is(
            "the answer without jsonrpc",
            |folder| calls(folder, [Step::RawReply(format!(r#"{{"id":$id,"result":{}}}"#, text("done")))]),
            0,
            "done\n",
        ),
        is("the answer is null", |folder| calls(folder, [Step::Reply(json!(null))]), 6, "result"),
        is("the answer is a text", |folder| calls(folder, [Step::Reply(json!("done"))]), 6, "result"),
        is("neither result nor error", |folder| calls(folder, [Step::Send(json!({"id": "$id"}))]), 7, "3 s"),
        is("an error without words", |folder| calls(folder, [Step::Fail(json!({"code": -32000}))]), 6, "-32000"),
        is("an error that is a text", |folder| calls(folder, [Step::Fail(json!("no"))]), 6, "no"),
        is(
            "an error whose code is a text",
            |folder| calls(folder, [Step::Fail(json!({"code": "E1", "message": "no"}))]),
            6,
            "no",
        ),
        is(
            "a number beyond all",
            |folder| {
                calls(folder, [Step::RawReply(r#"{"jsonrpc":"2.0","id":$id,"result":{"content":[{"type":"text","text":"done"}],"n":1e999999}}"#.into())])
            },
            0,
            "done\n",
        ),
        is(
            "a key twice",
            |folder| {
                calls(folder, [Step::RawReply(r#"{"jsonrpc":"2.0","id":$id,"result":{"content":[],"content":[{"type":"text","text":"done"}]}}"#.into())])
            },
            0,
            "done\n",
        ),
        is(
            "half a surrogate",
            |folder| {
                calls(
                    folder,
                    [Step::RawReply(
                        r#"{"jsonrpc":"2.0","id":$id,"result":{"content":[{"type":"text","text":"do\ud800ne"}]}}"#
                            .into(),
                    )],
                )
            },
            0,
            "do",
        ),
        is(
            "a hundred thousand brackets",
            |folder| {
                let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
                calls(
                    folder,
                    [Step::RawReply(format!(
                        r#"{{"jsonrpc":"2.0","id":$id,"result":{{"content":[{{"type":"text","text":"done"}}],"x":{deep}}}}}"#
                    ))],
                )
            },
            0,
            "done\n",
        ),
        is(
            "zeros in the answer",
            |folder| calls(folder, [Step::Raw("\0\0\0".into()), Step::Reply(text("done"))]),
            0,
            "done\n",
        ),
        is(
            "blocks that are none",
            |folder| {
                calls(
                    folder,
                    [Step::Reply(json!({"content": [7, null, {}, {"type": 3}, {"type": "text", "text": "done"}]}))],
                )
            },
            0,
            "done\n",
        ),
        is(
            "a kind of result that is not known",
            |folder| modern(folder, [Step::Reply(json!({"resultType": "perhaps"}))]),
            6,
            "perhaps",
        ),
        is(
            "more is required, and nothing is asked",
            |folder| modern(folder, [Step::Reply(json!({"resultType": "input_required"}))]),
            6,
            "input",
        ),
    ]);
}

#[test]
fn floods() {
    all(vec![
        is(
            "progress of another",
            |folder| {
                calls(
                    folder,
                    [
                        Step::Send(
                            json!({"method": "notifications/progress", "params": {"progressToken": "other", "progress": 1}}),
                        ),
                        Step::Reply(text("done")),
                    ],
                )
            },
            0,
            "done\n",
        ),
        is(
            "five thousand notifications",
            |folder| {
                let mut steps = vec![
                    Step::Send(
                        json!({"method": "notifications/message", "params": {"level": "debug", "data": "x"}})
                    );
                    5_000
                ];
                steps.push(Step::Reply(text("done")));
                let mut entry = calls(folder, steps);
                entry["timeout"] = json!(15_000);
                entry
            },
            0,
            "done\n",
        ),
        is(
            "five thousand requests",
            |folder| {
                let mut steps: Vec<Step> = (0..5_000).map(|n| Step::Send(json!({"id": n, "method": "ping"}))).collect();
                steps.push(Step::Reply(text("done")));
                let mut entry = calls(folder, steps);
                entry["timeout"] = json!(15_000);
                entry
            },
            0,
            "done\n",
        ),
        is(
            "sixteen megabytes of stderr",
            |_| {
                after_handshake(
                    r#"head -c 16000000 /dev/zero | tr '\0' x >&2; printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"done"}]}}\n' "$id""#,
                )
            },
            0,
            "done\n",
        ),
        is(
            "progress without an end",
            |folder| {
                let progress =
                    json!({"method": "notifications/progress", "params": {"progressToken": "$token", "progress": 1}});
                let mut steps = Vec::new();
                for _ in 0..200 {
                    steps.extend([Step::Send(progress.clone()), Step::Pause(50)]);
                }
                let mut entry = calls(folder, steps);
                entry["maxCallTime"] = json!(2_000);
                entry
            },
            7,
            "2 s",
        ),
    ]);
}
