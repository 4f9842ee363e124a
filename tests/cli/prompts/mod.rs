//! What a person sees and types, in a real terminal.

mod consent;
mod editing;
mod fields;
mod helping;
mod leaving;
mod links;
mod own;
mod plain;
mod queue;
mod sizes;
mod withdrawal;

use serde_json::{Value, json};

use super::harness::{AtTerminal, Fake, Step, Test};

/// The keys that terminals send.
mod key {
    pub(super) const ENTER: &str = "\r";
    pub(super) const ESCAPE: &str = "\x1b";
    pub(super) const UP: &str = "\x1b[A";
    pub(super) const DOWN: &str = "\x1b[B";
    pub(super) const RIGHT: &str = "\x1b[C";
    pub(super) const LEFT: &str = "\x1b[D";
    pub(super) const BACKSPACE: &str = "\x7f";
    pub(super) const CTRL_C: &str = "\x03";
    pub(super) const CTRL_D: &str = "\x04";
    pub(super) const CTRL_Z: &str = "\x1a";
    pub(super) const CTRL_O: &str = "\x0f";
    pub(super) const CTRL_U: &str = "\x15";
}

/// The server's request for a form.
fn request(id: &str, message: &str, schema: &Value) -> Step {
    let params = json!({"message": message, "requestedSchema": schema});
    Step::Send(json!({"id": id, "method": "elicitation/create", "params": params}))
}

/// A server `forms` whose tool `greet` asks with this schema, and then answers `done`.
fn asks(schema: &Value) -> Test {
    script([request("ask-1", "Welcome!", schema), Step::Expect(json!({"id": "ask-1"}))])
}

/// A server `forms` whose tool `greet` does `steps`, and then answers `done`.
fn script(steps: impl IntoIterator<Item = Step>) -> Test {
    let done = Step::Reply(json!({"content": [{"type": "text", "text": "done"}]}));
    let fake = Fake::new().tool("greet").on_call(steps.into_iter().chain([done]));
    Test::new().server("forms", &fake).args(["call", "forms", "greet"])
}

/// An object schema with these properties, of which these are required.
fn schema(properties: &Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

/// A form with two required text fields.
fn two_texts() -> Value {
    schema(&json!({"name": {"type": "string"}, "town": {"type": "string"}}), &["name", "town"])
}

impl AtTerminal {
    /// Types into the field with this label, and presses Enter.
    #[track_caller]
    fn fill(&self, label: &str, keys: &str) -> &Self {
        self.see(&format!("{label}  ")).see("› ").send(keys).send(key::ENTER)
    }

    /// Sends the reviewed form.
    #[track_caller]
    fn review_and_send(&self) -> &Self {
        self.see("What forms will receive").see("  Send").send("1").see("› Send").send(key::ENTER)
    }
}
