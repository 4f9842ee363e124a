//! The pages, and a whole sign-in, in a real browser: run by `tests/browser/run`, which installs what is needed. Not a part of plain `cargo test`.

mod chrome;
mod ends;
mod forms;
mod links;
mod look;
mod sign_in;

#[expect(dead_code, unused_imports, reason = "most of it is for the tests without a browser")]
#[path = "../cli/harness/mod.rs"]
mod harness;

use harness::Test;

/// A call of the demo server's tool, whose questions come to a browser that is not started.
fn call(tool: &str) -> Test {
    Test::new().demo().args(["call", "forms", tool, "--elicit", "browser", "--no-browser"])
}
