//! The same behaviour over every transport: stdio, Streamable HTTP, HTTP+SSE, and in both eras.

use serde_json::{Value, json};

use super::{
    demo::Demo,
    gateway::{Gateway, Style},
};
use crate::harness::{Fake, Keepers, Step, Test};

/// A transport and an era.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    style: Option<Style>,
    pub(super) revision: &'static str,
    /// Whether the server is kept.
    pub(super) kept: bool,
}

/// Must outlive a run: a kept server ends with it.
pub(super) struct Held {
    _gateway: Option<Gateway>,
    _keepers: Option<Keepers>,
}

pub(super) const WAYS: [Way; 10] = [
    Way { style: None, revision: "2025-11-25", kept: false },
    Way { style: None, revision: "2026-07-28", kept: false },
    Way { style: Some(Style::Stream), revision: "2025-11-25", kept: false },
    Way { style: Some(Style::Stream), revision: "2026-07-28", kept: false },
    Way { style: Some(Style::TwoEndpoints), revision: "2025-11-25", kept: false },
    Way { style: None, revision: "2025-11-25", kept: true },
    Way { style: None, revision: "2026-07-28", kept: true },
    Way { style: Some(Style::Stream), revision: "2025-11-25", kept: true },
    Way { style: Some(Style::Stream), revision: "2026-07-28", kept: true },
    Way { style: Some(Style::TwoEndpoints), revision: "2025-11-25", kept: true },
];

impl Way {
    pub(super) fn is_modern(self) -> bool {
        self.revision == "2026-07-28"
    }

    /// The server's name, which shows the transport in a failure.
    pub(super) fn name(self) -> String {
        let transport = match self.style {
            None => "stdio",
            Some(Style::TwoEndpoints) => "sse",
            Some(_) => "http",
        };
        format!("{}{transport}-{}", if self.kept { "kept-" } else { "" }, self.revision)
    }

    /// A test with the server of `entry`, reached this way; the gateway must outlive the run.
    fn reach(self, test: Test, mut entry: Value) -> (Test, Held) {
        let gateway = self.style.map(|style| Gateway::start(&entry, style));
        if let Some(gateway) = &gateway {
            entry = gateway.entry();
        }
        entry["protocol"] = json!(self.revision);
        let mut test = test;
        let mut keepers = None;
        if self.kept {
            entry["keep"] = json!("60s");
            let own = keepers.insert(Keepers::within(test.folder()));
            let path = own.path().to_str().expect("UTF-8").to_owned();
            test = test.env("XDG_RUNTIME_DIR", &path);
        }
        (test.entry(&self.name(), entry), Held { _gateway: gateway, _keepers: keepers })
    }

    /// The demo server, reached this way.
    pub(super) fn demo(self) -> (Test, Held) {
        let entry = json!({"command": env!("CARGO_BIN_EXE_toolnexus"), "args": ["demo-server"]});
        self.reach(Test::new(), entry)
    }

    /// A scripted server, reached this way.
    pub(super) fn fake(self, fake: Fake) -> (Test, Held) {
        let fake = if self.is_modern() { fake.modern() } else { fake };
        let test = Test::new();
        let entry = fake.entry(test.folder(), &self.name());
        self.reach(test, entry)
    }
}

#[test]
fn forms_are_filled_from_answers() {
    for way in WAYS {
        let (test, _gateway) = way.demo();
        test.args(["call", &way.name(), "greet", "--answer", "name=Ada", "--answer", "age=36"])
            .stdout("Hello, Ada! You are 36.\n")
            .run();
        let (test, _gateway) = way.demo();
        let declined = json!({"version": 1, "answers": [{"action": "decline"}]});
        test.args(["call", &way.name(), "greet", "--answers", "-"])
            .stdin(declined.to_string())
            .stdout_contains("You would rather not say")
            .run();
    }
}

#[test]
fn answers_that_do_not_fit_are_not_sent() {
    for way in WAYS {
        let (test, _gateway) = way.demo();
        let wrong = json!({"version": 1, "answers": [{"content": {"name": "Ada", "age": 17}}]});
        test.args(["call", &way.name(), "greet", "--answers", "-"])
            .stdin(wrong.to_string())
            .status(8)
            .stdout_contains("You closed the question")
            .stderr_contains("17 is below the minimum, 18")
            .run();
        let (test, _gateway) = way.demo();
        test.args(["call", &way.name(), "greet", "--elicit", "fail"]).status(8).run();
    }
}

#[test]
fn without_anybody_to_ask_the_server_goes_on() {
    for way in WAYS {
        let (test, _gateway) = way.demo();
        test.args(["call", &way.name(), "greet", "--elicit", "off"]).stdout_contains("Hello, stranger!").run();
    }
}

#[test]
fn forms_are_filled_in_a_browser() {
    for way in WAYS {
        let (test, _gateway) = way.demo();
        let run = test.args(["call", &way.name(), "greet", "--elicit", "browser", "--no-browser"]).at_browser();
        let (tab, page) = run.asked();
        page.see(&format!("{} asks", way.name())).see("Tool greet");
        let page = tab.send(&page, "review", &[("f0", "A"), ("f1", "36")]);
        page.see("A is too short");
        let review = tab.send(&page, "review", &[("f0", "Ada"), ("f1", "36")]);
        tab.send(&review, "send", &[]).see("Sent to");
        assert_eq!(run.end(0).stdout, "Hello, Ada! You are 36.\n", "{}", way.name());
    }
}

#[test]
fn links_are_declined_and_cancelled() {
    for way in WAYS {
        for (action, words) in [("decline", "You declined"), ("cancel", "You closed the question")] {
            let (test, _gateway) = way.demo();
            test.args(["call", &way.name(), "connect", "--elicit", action]).stdout_contains(words).run();
        }
    }
}

#[test]
fn errors_keep_their_exit_codes() {
    for way in WAYS {
        let (test, _gateway) = way.demo();
        test.args(["call", &way.name(), "fail"]).status(1).stdout_contains("always fails").run();
        let (test, _gateway) =
            way.fake(Fake::new().tool("t").on_call([Step::Fail(json!({"code": -32000, "message": "no"}))]));
        test.args(["call", &way.name(), "t"]).status(6).stderr_contains("no").run();
    }
}

#[test]
fn a_call_that_takes_too_long_is_cancelled() {
    for way in WAYS {
        let wait = Step::Expect(json!({"method": "notifications/cancelled"}));
        let (test, gateway) = way.fake(Fake::new().tool("t").on_call([wait]));
        let run = test.args(["call", &way.name(), "t", "--timeout", "0.3"]).status(7).run();
        let told = || run.received(&way.name()).iter().any(|message| message["method"] == "notifications/cancelled");
        for _ in 0..500 {
            if told() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert!(told(), "{:#?}", run.received(&way.name()));
        drop(gateway);
    }
}

#[test]
fn progress_is_reported_in_order() {
    for way in WAYS {
        let (test, _gateway) = way.demo();
        let run = test.args(["call", &way.name(), "countdown", "from=3", "-o", "events"]).run();
        let steps: Vec<Value> = run.events().iter().filter_map(|event| event.get("progress").cloned()).collect();
        assert_eq!(steps, [json!(1), json!(2), json!(3)], "{}", run.stdout);
    }
}

#[test]
fn the_demo_server_over_http_is_found_out_about() {
    let demo = Demo::start();
    for words in [&["--protocol", "2025-11-25"][..], &["--protocol", "2026-07-28"], &[]] {
        let test = Test::new().args(["call", &demo.url, "greet", "--answer", "name=Ada"]);
        test.args(words.iter().copied()).stdout_contains("Hello, Ada!").run();
    }
}
