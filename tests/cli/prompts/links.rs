use std::fs;

use serde_json::json;

use super::{Step, Test, key, script};

const URL: &str = "https://accounts.example.com/o/authorize?client_id=7f3a&scope=calendar.read";

fn link(url: &str) -> Test {
    let params = json!({"mode": "url", "message": "Authorize access.", "url": url, "elicitationId": "e1"});
    script([
        Step::Send(json!({"id": "ask-1", "method": "elicitation/create", "params": params})),
        Step::Expect(json!({"id": "ask-1"})),
    ])
}

/// With a browser that records what it is asked to open.
fn with_browser(test: Test) -> Test {
    let test = test.file("browser", "#!/bin/sh\nprintf '%s' \"$1\" > opened.tmp\nmv opened.tmp opened\necho noise\n");
    test.env("BROWSER", "sh browser")
}

#[test]
fn a_link_is_opened_on_consent_and_the_address_stays() {
    let params = json!({"mode": "url", "message": "Authorize access.", "url": URL, "elicitationId": "e1"});
    let test = with_browser(script([
        Step::Send(json!({"id": "ask-1", "method": "elicitation/create", "params": params})),
        Step::Expect(json!({"id": "ask-1"})),
        Step::ExpectFile("opened".into()),
    ]));
    let opened = test.folder().join("opened");
    let person = test.at_terminal(24, 80);
    person.see("forms asks you to open a link, during greet").see("│ Authorize access.").see(URL);
    person.see("host    accounts.example.com").see("  Open it in the browser").send(key::DOWN).send(key::ENTER);
    person.see("opening it in the browser").see(URL).see("done");
    assert_eq!(fs::read_to_string(opened).expect("it was opened"), URL);
    let ended = person.end(0);
    assert_eq!(ended.reply("forms", "ask-1"), json!({"action": "accept"}));
    assert!(!ended.screen.contains("noise"));
}

#[test]
fn a_link_can_be_opened_by_hand_declined_and_cancelled() {
    for (downs, reply) in [(1, "accept"), (2, "decline"), (3, "cancel")] {
        let test = with_browser(link(URL));
        let opened = test.folder().join("opened");
        let person = test.at_terminal(24, 80);
        person.see("  Open it in the browser").send(&key::DOWN.repeat(downs + 1)).send(key::ENTER).see("done").see(URL);
        assert_eq!(person.end(0).reply("forms", "ask-1"), json!({"action": reply}));
        assert!(!opened.exists());
    }
    let person = link(URL).at_terminal(24, 80);
    person.see("  Open it in the browser").send(key::CTRL_C).see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1"), json!({"action": "cancel"}));
}

#[test]
fn without_a_browser_the_address_is_there_and_a_note() {
    // Only the shell that starts the server can be found.
    let test = link(URL);
    let programs = test.folder().join("programs");
    fs::create_dir(&programs).expect("a folder");
    std::os::unix::fs::symlink("/bin/sh", programs.join("sh")).expect("a link");
    let programs = programs.to_str().expect("a path").to_owned();
    let person = test.env("PATH", &programs).at_terminal(24, 80);
    person
        .see("  Open it in the browser")
        .send(key::DOWN)
        .send(key::ENTER)
        .see("the browser did not start")
        .see(URL)
        .see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1"), json!({"action": "accept"}));
    let person = link(URL).args(["--no-browser"]).at_terminal(24, 80);
    person.see("  I'll open it myself").send(key::DOWN).send(key::ENTER).see("done");
    assert!(!person.screen().contains("in the browser\n"));
    person.end(0);
}

#[test]
fn only_web_addresses_are_offered() {
    for url in ["javascript:alert(1)", "data:text/html,x", "vscode://x", "file:///etc/passwd"] {
        let person = link(url).at_terminal(24, 120);
        person.see("only http and https links are opened").see("done");
        assert_eq!(person.end(8).reply("forms", "ask-1"), json!({"action": "cancel"}));
    }
}

#[test]
fn the_true_host_is_shown_and_warned_about_above_the_choices() {
    for (url, host) in [
        ("https://bank.example@evil.example/", "evil.example"),
        ("http://xn--pypal-4ve.example/", "xn--pypal-4ve.example"),
    ] {
        let person = link(url).at_terminal(24, 120);
        person.see(&format!("host    {host}")).see("  Open it in the browser");
        let screen = person.screen();
        let (warning, choices) = (screen.find("! ").expect("a warning"), screen.find("  Open").expect("choices"));
        assert!(warning < choices, "{screen}");
        person.send(key::CTRL_C).see("done");
        person.end(0);
    }
}

#[test]
fn a_long_address_is_shown_whole_in_a_short_terminal() {
    let url = format!("https://a.example/?state={}&end=here", "0123456789".repeat(60));
    let person = link(&url).at_terminal(10, 60);
    person.see("&end=here").see("host    a.example").see("  Open it in the browser").send(key::CTRL_C).see("done");
    assert!(person.written().replace(['\r', '\n'], "").contains(&url));
    person.end(0);
}

#[test]
fn a_question_comes_before_the_waiting_screen() {
    let params = json!({"mode": "url", "message": "Authorize access.", "url": URL, "elicitationId": "e1"});
    let test = script([
        Step::Send(json!({"id": "ask-1", "method": "elicitation/create", "params": params})),
        Step::Expect(json!({"id": "ask-1"})),
        Step::ExpectFile("ask".into()),
        super::request("ask-2", "Which calendar?", &super::two_texts()),
        Step::Expect(json!({"id": "ask-2"})),
        Step::ExpectFile("finish".into()),
    ]);
    let person = test.args(["--no-browser"]).at_terminal(24, 80);
    person.see("  I'll open it myself").send(key::DOWN).send(key::ENTER).see("Waiting for forms.").write_file("ask");
    person.see("Which calendar?").gone("Waiting for forms.").send(key::CTRL_C).see("Waiting for forms.");
    person.send(key::ENTER).gone("Waiting for forms.").write_file("finish").see("done");
    assert_eq!(person.end(0).reply("forms", "ask-2"), json!({"action": "cancel"}));
}

#[test]
fn waiting_behind_a_link_can_be_given_up_and_the_call_goes_on() {
    let params = json!({"mode": "url", "message": "Authorize access.", "url": URL, "elicitationId": "e1"});
    for keys in ["\x1b[C\r", key::CTRL_C] {
        let test = script([
            Step::Send(json!({"id": "ask-1", "method": "elicitation/create", "params": params})),
            Step::Expect(json!({"id": "ask-1"})),
            Step::ExpectFile("finish".into()),
        ]);
        let person = test.args(["--no-browser"]).at_terminal(24, 80);
        person.see("  I'll open it myself").send(key::DOWN).send(key::ENTER).see("Waiting for forms.").send(keys);
        person.gone("Waiting for forms.").write_file("finish").see("done");
        assert_eq!(person.end(0).reply("forms", "ask-1"), json!({"action": "accept"}));
    }
}

#[test]
fn an_accepted_link_is_waited_for_until_its_notice() {
    let params = json!({"mode": "url", "message": "Authorize access.", "url": URL, "elicitationId": "e1"});
    let test = script([
        Step::Send(json!({"id": "ask-1", "method": "elicitation/create", "params": params})),
        Step::Expect(json!({"id": "ask-1"})),
        Step::ExpectFile("finish".into()),
        Step::Send(json!({"method": "notifications/elicitation/complete", "params": {"elicitationId": "e1"}})),
    ]);
    let person = test.args(["--no-browser"]).at_terminal(24, 80);
    person
        .see("  I'll open it myself")
        .send(key::DOWN)
        .send(key::ENTER)
        .see("Waiting for forms. Finish in the browser.");
    person.see("› Continue now    Cancel").send(key::RIGHT).see("› Cancel").resize(20, 40).see("› Cancel");
    person.resize(24, 80).write_file("finish").see("done").gone("Waiting for forms");
    person.end(0);
}
