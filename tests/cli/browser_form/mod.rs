//! Questions on a page in a browser, tested with a raw HTTP client.

mod answering;
mod attacks;
mod ends;
mod kinds;
mod links;

use serde_json::{Value, json};

use crate::harness::{Fake, Step, Test};

/// A call of the demo server's tool, whose questions go to a browser.
fn call(tool: &str) -> Test {
    Test::new().demo().args(["call", "forms", tool, "--elicit", "browser", "--no-browser"])
}

/// A server's question with the id 1.
fn ask(params: &Value) -> Step {
    Step::Send(json!({"id": 1, "method": "elicitation/create", "params": params}))
}

fn done() -> Step {
    Step::Reply(json!({"content": [{"type": "text", "text": "done"}]}))
}

/// A call of a server's only tool, which does this.
fn does(steps: impl IntoIterator<Item = Step>) -> Test {
    let fake = Fake::new().tool("t").on_call(steps);
    Test::new().server("s", &fake).args(["call", "s", "t", "--elicit", "browser", "--no-browser"])
}

/// A server that asks for a form with these properties, and is then done.
fn asks(properties: &Value, required: &Value) -> Test {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    let params = json!({"message": "Tell me", "requestedSchema": schema});
    does([ask(&params), Step::Expect(json!({"id": 1})), done()])
}
