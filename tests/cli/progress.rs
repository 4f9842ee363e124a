//! The line that says what is being waited for.

use serde_json::{Value, json};

use super::harness::{Fake, Step, Test};

const ENTER: &str = "\r";
const CTRL_C: &str = "\x03";

fn done() -> Value {
    json!({"content": [{"type": "text", "text": "done"}]})
}

fn progress(progress: u32, message: &str) -> Step {
    let params = json!({"progressToken": "$token", "progress": progress, "total": 12, "message": message});
    Step::Send(json!({"method": "notifications/progress", "params": params}))
}

fn wait_for(name: &str) -> Step {
    Step::ExpectFile(name.to_owned())
}

#[test]
fn a_call_shows_its_progress_and_makes_room_for_questions_and_logs() {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    let params = json!({"message": "Who?", "requestedSchema": schema});
    let log = json!({"method": "notifications/message", "params": {"level": "warning", "data": "halfway"}});
    let fake = Fake::new().tool("t").on_call([
        progress(3, "reading\u{1b}[2J"),
        wait_for("log"),
        Step::Send(log),
        wait_for("ask"),
        Step::Send(json!({"id": "q", "method": "elicitation/create", "params": params})),
        Step::Expect(json!({"id": "q"})),
        progress(9, "writing"),
        wait_for("end"),
        Step::Reply(done()),
    ]);
    let person = Test::new().server("s", &fake).args(["call", "s", "t"]).at_terminal(24, 80);
    person.see("s, t  ━━━─────────  3 of 12  0:0").see("│ reading\\u{1b}[2J").write_file("log");
    person.see("s warning │ halfway\n").see("3 of 12").see_times("halfway", 1).write_file("ask");
    person.see("Who?").gone("3 of 12").send("Ada").send(ENTER).see("sent to s").see("9 of 12").write_file("end");
    person.see("done").gone("of 12");
    person.end(0);
}

#[test]
fn a_slow_start_is_named_and_ctrl_c_leaves_nothing_of_the_line() {
    let fake = Fake::new().tool("t").on("start", [wait_for("go")]).on_call([Step::ExpectEnd]);
    let person = Test::new().server("slow", &fake).args(["call", "slow", "t"]).at_terminal(24, 80);
    person.see("starting slow  0:0").resize(24, 60).write_file("go").see("slow, t  0:0").send(CTRL_C);
    person.see("error: interrupted").gone("slow");
    person.end(130);
}

#[test]
fn many_calls_are_counted_under_their_results() {
    let fake = Fake::new().tool("t").on_call([Step::Reply(done())]).on_call([wait_for("go"), Step::Reply(done())]);
    let test = Test::new().server("s", &fake).file("in", "{}\n{}\n").args(["call", "s", "t", "--each", "in"]);
    let person = test.at_terminal(24, 80);
    person.see("s, t  ━━━━━━━━━━━━  1 done  0:0").see("{\"index\":0,\"ok\":true").write_file("go");
    person.see("{\"index\":1,\"ok\":true").gone("━");
    person.end(0);
}

#[test]
fn there_is_no_such_line_where_stderr_is_no_terminal() {
    let fake = || Fake::new().tool("t").on_call([progress(1, "x"), Step::Pause(700), Step::Reply(done())]);
    Test::new().server("s", &fake()).args(["call", "s", "t"]).stdout("done\n").stderr("").run();
    let person = Test::new().server("s", &fake()).args(["call", "s", "t", "-q"]).at_terminal(24, 80);
    person.see("done");
    assert_eq!(person.all_written().trim(), "done");
    person.end(0);
    let person = Test::new().server("s", &fake()).args(["call", "s", "t"]).env("TERM", "dumb").at_terminal(24, 80);
    person.see("done");
    assert_eq!(person.all_written().trim(), "done");
    person.end(0);
}
