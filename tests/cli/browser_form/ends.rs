//! How questions end without their person, and what else happens around them.

use std::{fs, os::unix::fs::PermissionsExt as _, thread, time::Duration};

use serde_json::{Value, json};

use super::{ask, asks, call, does, done};
use crate::harness::{Fake, Step, Tab, Test};

const NAME: &str = r#"{"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}"#;

fn name(id: u64, message: &str) -> Step {
    let schema: Value = serde_json::from_str(NAME).expect("JSON");
    Step::Send(
        json!({"id": id, "method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}),
    )
}

/// The events for a page that shows this question, until the run is over.
fn listen(tab: &Tab, path: &str) -> thread::JoinHandle<String> {
    let (tab, path) = (tab.clone(), path.to_owned());
    thread::spawn(move || tab.get(&path).body)
}

#[test]
fn a_question_that_is_withdrawn_says_so_and_goes() {
    let withdrawn = Step::Send(json!({"method": "notifications/cancelled", "params": {"requestId": 1}}));
    let steps = [name(1, "Who?"), Step::ExpectFile("seen".into()), withdrawn, Step::ExpectFile("over".into()), done()];
    let run = does(steps).at_browser();
    let (tab, page) = run.asked();
    page.see("Who?");
    let news = listen(&tab, "1-news");
    run.write("seen");
    let mut after = tab.get("1");
    for _ in 0..500 {
        if after.text().contains("Withdrawn") {
            break;
        }
        thread::sleep(Duration::from_millis(10));
        after = tab.get("1");
    }
    after.see("Withdrawn").see("Nothing was sent").not_see("<form");
    // A form that was still open somewhere changes nothing.
    tab.send(&page, "review", &[("f0", "Ada")]).see("Withdrawn");
    run.write("over");
    let run = run.end(0);
    assert!(!run.received("s").iter().any(|message| message["id"] == 1 && message.get("method").is_none()), "no reply");
    let news = news.join().expect("heard");
    assert!(news.contains("event: news"), "{news}");
    assert!(
        news.contains(r#""state":"over""#) && news.contains("Withdrawn") && news.contains(r#""state":"gone""#),
        "{news}"
    );
}

#[test]
fn an_interrupted_run_tells_its_pages() {
    let run = call("greet").at_browser();
    let (tab, _) = run.asked();
    let news = listen(&tab, "1-news");
    let id = nix::unistd::Pid::from_raw(run.id().cast_signed());
    for _ in 0..500 {
        // Once the page listens.
        if tab.get("1").status == 200 {
            break;
        }
    }
    nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGINT).expect("a signal");
    run.end(130);
    let news = news.join().expect("heard");
    assert!(news.contains(r#""state":"gone""#) || news.is_empty(), "{news}");
}

#[test]
fn a_closed_page_is_no_answer_and_time_is() {
    let run = call("greet").args(["--elicit-timeout", "0.4"]).at_browser();
    drop(run.asked());
    let run = run.end(8);
    assert!(run.stderr.contains("nobody answered it in the browser within 0.4 s"), "{}", run.stderr);
    assert!(run.stderr.contains("--elicit-timeout"), "{}", run.stderr);
    assert!(run.stdout.contains("You closed the question"), "{}", run.stdout);
}

#[test]
fn one_question_after_the_other() {
    let steps =
        [name(1, "First?"), name(2, "Second?"), Step::Expect(json!({"id": 1})), Step::Expect(json!({"id": 2})), done()];
    let run = does(steps).at_browser();
    let (tab, page) = run.asked();
    page.see("First?").not_see("Second?");
    let mut page = page;
    for _ in 0..500 {
        if page.text().contains("1 more waiting") {
            break;
        }
        thread::sleep(Duration::from_millis(10));
        page = tab.get("");
    }
    page.see("1 more waiting").see("this one and 1 more");
    let review = tab.send(&page, "review", &[("f0", "Ada")]);
    tab.send(&review, "send", &[]).see("Sent to s");
    assert_eq!(run.url(), tab.url, "one page for all questions");
    let page = tab.get("");
    page.see("Second?").not_see("First?");
    tab.get("1").see("Next question");
    let review = tab.send(&page, "review", &[("f0", "Bob")]);
    tab.send(&review, "send", &[]);
    let run = run.end(0);
    assert_eq!(run.reply("s", &json!(1))["content"]["name"], "Ada");
    assert_eq!(run.reply("s", &json!(2))["content"]["name"], "Bob");
}

#[test]
fn a_server_that_asks_too_much_is_asked_about() {
    let asked = (1..=22).map(|id| name(id, "Again?"));
    let steps: Vec<Step> = asked.chain([Step::Expect(json!({"id": 22})), done()]).collect();
    let run = does(steps).at_browser();
    let (tab, mut page) = run.asked();
    for number in 1..=20 {
        page.see("Again?");
        assert_eq!(page.action(), number.to_string());
        tab.send(&page, "decline", &[]);
        run.url();
        page = tab.get("");
    }
    page.see("s has asked 20 questions in this call. Is that all right?").not_see("Again?");
    tab.send(&page, "cancel-all", &[]);
    let run = run.end(0);
    assert_eq!(run.reply("s", &json!(20))["action"], "decline");
    assert_eq!(run.reply("s", &json!(21))["action"], "cancel");
    assert_eq!(run.reply("s", &json!(22))["action"], "cancel");
}

#[test]
fn what_was_changed_behind_a_review_is_not_sent() {
    let run = asks(&json!({"name": {"type": "string"}}), &json!(["name"])).at_browser();
    let (tab, page) = run.asked();
    let first = tab.send(&page, "review", &[("f0", "Ada")]);
    let second = tab.send(&tab.get("1"), "review", &[("f0", "Bob")]);
    second.see("name Bob");
    let again = tab.send(&first, "send", &[]);
    again.see("It was changed in another tab").see("name Bob");
    tab.send(&again, "send", &[]).see("Sent to s");
    assert_eq!(run.end(0).reply("s", &json!(1))["content"], json!({"name": "Bob"}));
}

#[test]
fn errors_appear_while_typing() {
    let run = call("greet").at_browser();
    let (tab, page) = run.asked();
    for _ in 0..3 {
        let checked = tab.post("1-check", &page.filled("", &[("f0", "A"), ("f1", "17")]));
        let wrongs: Value = serde_json::from_str(&checked.body).expect("JSON");
        assert_eq!(wrongs.as_object().map(serde_json::Map::len), Some(2), "{wrongs}");
        assert_eq!(wrongs["f0"], "A is too short: 2 to 20 characters");
    }
    // The typed text is there after a reload, and the form is still valid.
    assert!(tab.get("1").body.contains(r#"value="17""#));
    tab.send(&page, "decline", &[]);
    run.end(0);
}

#[test]
fn the_browser_is_started_and_what_fails_is_a_warning() {
    let test = Test::new().demo().args(["call", "forms", "greet", "--elicit", "browser"]);
    let script = test.folder().join("open");
    fs::write(&script, "#!/bin/sh\necho \"$1\" > opened.part && mv opened.part opened\n").expect("written");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("made a program");
    let path = script.to_str().expect("UTF-8").to_owned();
    let run = test.env("BROWSER", &path).at_browser();
    let url = run.url();
    let opened = (0..1000).find_map(|_| {
        thread::sleep(Duration::from_millis(10));
        fs::read_to_string(run.folder().join("opened")).ok()
    });
    assert_eq!(opened.as_deref().map(str::trim), Some(url.as_str()));
    let tab = Tab { url, cookie: None };
    let page = tab.get("");
    let tab = Tab { cookie: Some(crate::harness::pages::cookie(&page.head)), ..tab };
    tab.send(&page, "cancel", &[]);
    run.end(0);

    let run =
        Test::new().demo().args(["call", "forms", "greet", "--elicit", "browser"]).env("BROWSER", "/nowhere/at/all");
    let run = run.env("PATH", "/nowhere").at_browser();
    let (tab, page) = run.asked();
    run.hear("browser did not start");
    tab.send(&page, "cancel", &[]);
    run.end(0);
}

#[test]
fn a_variable_says_once_what_happens() {
    let test = || Test::new().demo().args(["call", "forms", "greet"]);
    let run = test().args(["--no-browser"]).env("TOOLNEXUS_ELICIT", "browser").at_browser();
    let (tab, page) = run.asked();
    tab.send(&page, "decline", &[]);
    assert!(run.end(0).stdout.contains("rather not say"));
    test().env("TOOLNEXUS_ELICIT", "decline").stdout_contains("rather not say").run();
    test().env("TOOLNEXUS_ELICIT", "off").stdout_contains("stranger").run();
    test().env("TOOLNEXUS_ELICIT", "").status(8).run();
    test().env("TOOLNEXUS_ELICIT", "decline").args(["--elicit", "cancel"]).stdout_contains("closed the question").run();
    let file = json!({"version": 1, "otherwise": "cancel", "answers": []}).to_string();
    let answers = || test().file("a.json", &file).args(["--answers", "a.json"]);
    answers().env("TOOLNEXUS_ELICIT", "decline").stdout_contains("closed the question").run();
    test().env("TOOLNEXUS_ELICIT", "off").args(["--answer", "name=Ada"]).stdout("Hello, Ada!\n").run();
    let words = "TOOLNEXUS_ELICIT is \"sometimes\", not one of prompt, browser, ask, decline, cancel, fail, off";
    test().env("TOOLNEXUS_ELICIT", "sometimes").status(2).stderr_contains(words).run();
    test().args(["--elicit-timeout", "5"]).status(2).stderr_contains("--elicit browser").run();
}

#[test]
fn ask_takes_the_terminal_where_there_is_one() {
    let test = || Test::new().demo().args(["call", "forms", "greet", "--elicit", "ask", "--no-browser"]);
    let run = test().at_browser();
    let (tab, page) = run.asked();
    tab.send(&page, "decline", &[]);
    run.end(0);
    let person = test().at_terminal(24, 80);
    person.see("Name").send("Ada\r").see("Age").send("\x03");
    person.end(0);
    // In the browser, although there is a terminal.
    let person =
        Test::new().demo().args(["call", "forms", "greet", "--elicit", "browser", "--no-browser"]).at_terminal(24, 120);
    person.see("forms asks in the browser: http://127.0.0.1:").send("\x03");
    person.end(130);
}

#[test]
fn answers_and_programs_come_first_and_records_are_written() {
    let test = call("greet").args(["--answer", "name=Ada"]);
    test.stdout("Hello, Ada!\n").run();
    let run = call("greet").args(["--record", "record.json"]).at_browser();
    let (tab, page) = run.asked();
    let review = tab.send(&page, "review", &[("f0", "Ada")]);
    tab.send(&review, "send", &[]);
    let run = run.end(0);
    let record = fs::read_to_string(run.folder().join("record.json")).expect("a record");
    assert!(record.contains("Ada"), "{record}");
}

#[test]
fn events_tell_the_address() {
    let run = call("greet").args(["-o", "events"]).at_browser();
    let url = run.hear_event("browser")["url"].as_str().expect("an address").to_owned();
    let tab = Tab { url, cookie: None };
    let page = tab.get("");
    let tab = Tab { cookie: Some(crate::harness::pages::cookie(&page.head)), ..tab };
    tab.send(&page, "decline", &[]);
    run.end(0);
}

#[test]
fn a_form_without_fields_is_agreed_to_or_not() {
    let params = json!({"message": "Delete it all?", "requestedSchema": {"type": "object", "properties": {}}});
    for (act, words, action) in [("send", "You agreed", "accept"), ("decline", "Declined", "decline")] {
        let run = does([ask(&params), Step::Expect(json!({"id": 1})), done()]).at_browser();
        let (tab, page) = run.asked();
        page.see("Delete it all?").see("Accept").not_see("autofocus");
        // Enter alone presses the first button, which agrees to nothing.
        let page = tab.send(&page, "review", &[]);
        page.see("Delete it all?");
        tab.send(&page, act, &[]).see(words);
        assert_eq!(run.end(0).reply("s", &json!(1))["action"], action);
    }
}

#[test]
fn a_call_that_was_put_aside_is_taken_up_in_the_browser() {
    let first = Test::new().demo().args(["call", "forms", "greet", "--defer", "call.json"]).status(75).run();
    let file = fs::read(first.folder().join("call.json")).expect("a file");
    let test =
        Test::new().demo().file("call.json", file).args(["resume", "call.json", "--elicit", "browser", "--no-browser"]);
    let run = test.args(["--changed-config"]).at_browser();
    let (tab, page) = run.asked();
    let review = tab.send(&page, "review", &[("f0", "Ada")]);
    tab.send(&review, "send", &[]);
    assert_eq!(run.end(0).stdout, "Hello, Ada!\n");
}

#[test]
fn arguments_are_shown_without_their_secrets() {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}, "token": {"type": "string"}}});
    let fake = Fake::new().tool_with("t", &schema).on_call([name(1, "Who?"), Step::Expect(json!({"id": 1})), done()]);
    let test = Test::new().server("s", &fake).args(["call", "s", "t", "city=Brno", "token=hush"]);
    let run = test.args(["--elicit", "browser", "--no-browser"]).at_browser();
    let (tab, page) = run.asked();
    page.see("With city Brno").see("token ••••••").not_see("hush");
    tab.send(&page, "cancel", &[]);
    run.end(0);
}
