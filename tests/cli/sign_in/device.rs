//! Signing in on another device.

use super::{World, world::Bent};

#[test]
fn a_code_is_shown_and_entered_elsewhere() {
    let world = World::new();
    let person = world.test(&["login", "URL", "--device", "--no-browser"]).at_terminal(30, 100);
    person.see("Enter the code WDJB-MJHT at").see("/enter").send("\x1b[B").send("\r").see("Waiting for");
    world.ledger().is_approved = true;
    person.see("signed in to 127.0.0.1");
    person.end(0);
    world.test(&["call", "URL", "read"]).stdout("read is done\n").run();
    assert_eq!(world.count("/authorize"), 0);
}

#[test]
fn without_a_terminal_the_code_is_on_standard_error() {
    let world = World::new();
    world.ledger().is_approved = true;
    let run = world.test(&["login", "URL", "--device", "--no-browser"]).stdout_contains("signed in to").run();
    assert!(run.stderr.contains("Enter the code WDJB-MJHT at"), "{}", run.stderr);
    assert!(!run.stderr.contains("s3cret"));
}

#[test]
fn where_it_is_not_offered_that_is_said() {
    let none = |_: &str, metadata: &mut serde_json::Value| {
        metadata.as_object_mut().expect("an object").remove("device_authorization_endpoint");
    };
    let world = Bent::default().metadata(none).start();
    let run = world.test(&["login", "URL", "--device"]).status(5).run();
    assert!(run.stderr.contains("does not support sign-in on another device"), "{}", run.stderr);
}

#[test]
fn a_code_that_nobody_enters_ends() {
    let world = World::new();
    let run = world.test(&["login", "URL", "--device", "--no-browser", "--timeout", "2"]).status(5).run();
    assert!(run.stderr.contains("nobody signed in within 2 s"), "{}", run.stderr);
    let world = World::new();
    world.ledger().refusal = Some("access_denied");
    let run = world.test(&["login", "URL", "--device", "--no-browser"]).status(5).run();
    assert!(run.stderr.contains("access_denied"), "{}", run.stderr);
}

#[test]
fn an_invalid_address_is_not_shown_to_anybody() {
    let bad = |request: &super::super::http::server::Request, reply: &mut super::super::http::server::Reply| {
        let is_it = request.path == "/device";
        if is_it {
            let answer =
                serde_json::json!({"device_code": "d", "user_code": "c", "verification_uri": "javascript:alert(1)"});
            reply.json(200, &answer);
        }
        is_it
    };
    let world = Bent::default().special(bad).start();
    let run = world.test(&["login", "URL", "--device"]).status(5).run();
    assert!(run.stderr.contains("only http and https links are opened"), "{}", run.stderr);
    assert!(!world.home().join("opened.args").exists());
}
