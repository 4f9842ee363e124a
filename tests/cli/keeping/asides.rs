use serde_json::{Value, json};

use crate::harness::{Kept, Test};

fn legacy() -> Kept {
    let entry = json!({"command": "toolnexus", "args": ["demo-server"], "protocol": "2025-11-25"});
    Kept::new(Test::new().entry("forms", entry))
}

#[test]
fn a_legacy_call_waits_in_the_keeper() {
    let kept = legacy();
    let run = kept.run(75, &["call", "forms", "greet", "--keep", "--defer", "call.json"]);
    assert!(run.stdout.contains("greet waits for answers"), "{}", run.stdout);
    assert_eq!(kept.standing("forms").expect("it is up")["waiting"], 1);
    // Others go on meanwhile.
    assert_eq!(kept.run(0, &["call", "forms", "greet", "--answer", "name=Bob"]).stdout, "Hello, Bob!\n");
    // Nobody answers: it waits on.
    kept.run(75, &["resume", "call.json"]);
    let run = kept.run(0, &["resume", "call.json", "--answer", "name=Ada"]);
    assert_eq!(run.stdout, "Hello, Ada!\n");
    assert!(!kept.folder().join("call.json").exists());
    assert_eq!(kept.standing("forms").expect("it is up")["waiting"], 0);
}

#[test]
fn a_call_that_is_gone_is_not_made_again() {
    let kept = legacy();
    kept.run(75, &["call", "forms", "greet", "--keep", "--defer", "call.json"]);
    let run = kept.run(0, &["down", "forms"]);
    assert!(run.stdout.contains("a call that waited for answers is cancelled"), "{}", run.stdout);
    for words in [&["resume", "call.json"][..], &["resume", "call.json", "--keep"]] {
        let run = kept.run(4, &[words, &["--answer", "name=Ada"]].concat());
        assert!(run.stderr.contains("was not made again"), "{}", run.stderr);
        assert_eq!(run.stdout, "");
    }
    let pending: Value =
        serde_json::from_str(&std::fs::read_to_string(kept.folder().join("call.json")).expect("it is there"))
            .expect("JSON");
    assert_eq!(pending["sent"], false);
}

#[test]
fn a_modern_call_is_put_aside_and_taken_up_through_a_keeper() {
    let kept = Kept::new(Test::new().demo());
    kept.run(75, &["call", "forms", "greet", "--keep", "--defer", "call.json"]);
    kept.run(75, &["resume", "call.json"]);
    assert_eq!(kept.run(0, &["resume", "call.json", "--answer", "name=Ada"]).stdout, "Hello, Ada!\n");
}
