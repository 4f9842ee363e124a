//! Signing in with a kept server.

use crate::{
    harness::{Keepers, Test, until},
    sign_in::World,
};

const DOWN: &str = "\x1b[B";

/// A command of the person who lives in `world`, with kept servers.
fn test(world: &World, keepers: &Keepers, words: &[&str]) -> Test {
    world.test(words).env("XDG_RUNTIME_DIR", keepers.path().to_str().expect("UTF-8"))
}

#[test]
fn a_person_signs_in_through_the_command_that_needs_it() {
    let world = World::new();
    let keepers = Keepers::within(world.home());
    // Options about servers' questions do not apply to a sign-in.
    for (index, words) in [&["--elicit", "decline"][..], &["--elicit", "off"]].into_iter().enumerate() {
        let words = [&["call", "URL", "read", "--keep"], words].concat();
        if index == 0 {
            let person = test(&world, &keepers, &words).at_terminal(30, 100);
            person.see("asks you to sign in").see("│ Sign in at 127.0.0.1.").see("  Open it in the browser");
            person.send(DOWN).send("\r");
            world.opened().visit();
            person.see("read is done");
            person.end(0);
        } else {
            test(&world, &keepers, &words).stdout("read is done\n").stderr("").run();
        }
    }
    // The next command needs no terminal.
    test(&world, &keepers, &["call", "URL", "read"]).stdout("read is done\n").stderr("").run();
    assert_eq!((world.count("/authorize"), world.count("/token")), (1, 1));
    let kept =
        test(&world, &keepers, &["servers", "-o", "json"]).file("mcp.json", r#"{"mcpServers": {}}"#).run().json();
    let mut calls: Vec<u64> =
        kept["kept"].as_array().expect("a list").iter().filter_map(|kept| kept["calls"].as_u64()).collect();
    calls.sort_unstable();
    assert_eq!(calls, [1, 2], "{kept}");
}

#[test]
fn without_a_terminal_nobody_is_bothered_and_nothing_is_kept() {
    let world = World::new();
    let keepers = Keepers::within(world.home());
    let alone = world.test(&["call", "URL", "read"]).status(5).run();
    let kept = test(&world, &keepers, &["call", "URL", "read", "--keep"]).status(5).run();
    assert_eq!(kept.stderr, alone.stderr);
    assert_eq!((world.count("/register"), world.count("/authorize")), (0, 0));
    until("nothing is left", || keepers.processes().is_empty());
    // After a sign-in elsewhere, the next one is used.
    world.sign_in(&["login", "URL"]);
    test(&world, &keepers, &["call", "URL", "read", "--keep"]).stdout("read is done\n").stderr("").run();
    assert!(!keepers.processes().is_empty());
}
