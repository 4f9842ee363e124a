use serde_json::{Value, json};

use super::{all, calls, is, modern, text};
use crate::harness::Step;

fn ask(id: &Value, params: &Value) -> Step {
    Step::Send(json!({"id": id, "method": "elicitation/create", "params": params}))
}

fn name() -> Value {
    json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}})
}

#[test]
fn questions_that_go_wrong() {
    all(vec![
        is(
            "a question that nobody answers",
            |folder| {
                calls(folder, [ask(&json!(1), &name()), Step::Expect(json!({"id": 1})), Step::Reply(text("done"))])
            },
            8,
            "Who?",
        ),
        is(
            "a question without params",
            |folder| {
                calls(
                    folder,
                    [
                        Step::Send(json!({"id": 1, "method": "elicitation/create"})),
                        Step::Expect(json!({"id": 1})),
                        Step::Reply(text("done")),
                    ],
                )
            },
            8,
            "",
        ),
        is(
            "the same id twice",
            |folder| {
                calls(
                    folder,
                    [
                        ask(&json!(1), &name()),
                        ask(&json!(1), &name()),
                        Step::Expect(json!({"id": 1})),
                        Step::Reply(text("done")),
                    ],
                )
            },
            8,
            "Who?",
        ),
        is(
            "a question, and then the end",
            |folder| calls(folder, [ask(&json!(1), &name()), Step::Exit(1)]),
            4,
            "exited with status 1",
        ),
        is(
            "a request that nobody knows",
            |folder| {
                calls(
                    folder,
                    [
                        Step::Send(json!({"id": 1, "method": "no/such"})),
                        Step::Expect(json!({"id": 1, "error": {"code": -32601}})),
                        Step::Reply(text("done")),
                    ],
                )
            },
            0,
            "done\n",
        ),
        is(
            "a link that is no link",
            |folder| {
                calls(
                    folder,
                    [
                        ask(
                            &json!(1),
                            &json!({"mode": "url", "message": "Go", "url": "javascript:alert(1)", "elicitationId": "e"}),
                        ),
                        Step::Expect(json!({"id": 1, "result": {"action": "cancel"}})),
                        Step::Reply(text("done")),
                    ],
                )
            },
            8,
            "javascript",
        ),
        is(
            "a modern server that asks as a legacy one",
            |folder| modern(folder, [ask(&json!(1), &name()), Step::Reply(text("done"))]),
            0,
            "done\n",
        ),
    ]);
}
