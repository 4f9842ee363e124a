//! The pages, and a whole sign-in, in a real browser: run by `tests/browser/run`, which installs what is needed. Not
//! part of plain `cargo test`.

mod chrome;
mod ends;
mod forms;
mod links;
mod look;
mod notice;
mod sign_in;

#[expect(dead_code, unused_imports, reason = "most of it is only used by the tests without a browser")]
#[path = "../cli/harness/mod.rs"]
mod harness;

use harness::{Fake, Step, Test};
use serde_json::{Value, json};

/// A run in which a server waits as long as a browser may take.
fn test() -> Test {
    Test::new().env("TEST_SECONDS", "300")
}

/// A call of the demo server's tool, whose questions go to a browser that is not started.
fn call(tool: &str) -> Test {
    test().demo().args(["call", "forms", tool, "--elicit", "browser", "--no-browser"])
}

/// A call of a server's only tool, which asks this and is then done.
fn asks(params: &Value) -> Test {
    let ask = Step::Send(json!({"id": 1, "method": "elicitation/create", "params": params}));
    let done = Step::Reply(json!({"content": [{"type": "text", "text": "done"}]}));
    does([ask, Step::Expect(json!({"id": 1})), done])
}

/// A call of a server's only tool, which does this.
fn does(steps: impl IntoIterator<Item = Step>) -> Test {
    let fake = Fake::new().tool("t").on_call(steps);
    test().server("s", &fake).args(["call", "s", "t", "--elicit", "browser", "--no-browser"])
}
