//! The program's own questions and listings, at a terminal.

use serde_json::json;

use super::{Fake, Test, key};

#[test]
fn servers_of_a_found_file_are_started_when_the_person_says_yes() {
    let tools = || Test::new().server("a", &Fake::new().tool("found")).args(["tools"]);
    let person = tools().at_terminal(24, 80);
    person.see("Start the servers of ").see("  Yes").see("  No").send("y").see("› Yes").send(key::ENTER);
    person.see("\nfound");
    person.end(0);
    let person = tools().at_terminal(24, 80);
    person.see("  No").send("n").see("› No").send(key::ENTER).see("cancelled\n\nerror: interrupted");
    assert!(person.end(130).received("a").is_empty());
}

#[test]
fn lists_are_folded_to_the_terminal() {
    let about = json!({"tools": [{"name": "find", "description": "Finds what is there, and says where that is."}]});
    let server = Fake::new().on("tools/list", [super::Step::Reply(about)]);
    let person = Test::new().server("s", &server).args(["tools", "s"]).at_terminal(24, 40);
    person.see("find()  Finds what is there, and says\n        where that is.");
    person.end(0);
}

#[test]
fn arguments_that_are_not_given_are_no_question_of_a_server() {
    let schema = json!({"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]});
    let person = Test::new().server("s", &Fake::new().tool_with("find", &schema)).args(["call", "s", "find"]);
    let person = person.at_terminal(24, 80);
    person.see("find needs").send(key::ESCAPE).see("Cancel   nothing is sent").send(key::CTRL_C);
    person.see("find needs\ncancelled\n\nerror: interrupted");
    person.end(130);
}
