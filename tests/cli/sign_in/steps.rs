//! More scopes, and servers that are never satisfied.

use super::{World, world::Bent};

#[test]
fn a_call_that_needs_more_names_the_command_and_works_after_it() {
    let world = World::new();
    world.sign_in(&["login", "URL"]);
    let run = world.test(&["call", "URL", "write"]).status(5).stdout("").run();
    let login = format!("toolnexus login {} --scope write", world.mcp());
    assert!(run.stderr.contains(&login), "{}", run.stderr);
    let running = world.start(&["login", "URL", "--scope", "write"]);
    let link = world.opened();
    let mut scopes: Vec<String> = link.of("scope").split(' ').map(str::to_owned).collect();
    scopes.sort();
    assert_eq!(scopes, ["offline_access", "read", "write"], "what was agreed to before is not lost");
    link.visit();
    running.end(0);
    world.test(&["call", "URL", "write"]).stdout("write is done\n").run();
}

#[test]
fn at_a_terminal_more_scopes_are_asked_for_immediately() {
    let world = World::new();
    world.sign_in(&["login", "URL"]);
    let person = world.test(&["call", "URL", "write"]).at_terminal(30, 100);
    person.see("It will allow this program: read, offline_access, write").send("\x1b[B").send("\r");
    world.opened().visit();
    person.see("write is done");
    person.end(0);
}

#[test]
fn a_step_that_leads_nowhere_is_taken_once() {
    // The authorization server grants the scopes, and the server asks for them again.
    let never = |request: &super::super::http::server::Request, reply: &mut super::super::http::server::Reply| {
        let is_call = request.rpc() == "tools/call";
        if is_call {
            let head = "WWW-Authenticate: Bearer error=\"insufficient_scope\", scope=\"write\"\r\n";
            reply.respond(403, head, b"");
        }
        is_call
    };
    let world = Bent::default().special(never).start();
    world.sign_in(&["login", "URL"]);
    let person = world.test(&["call", "URL", "write"]).at_terminal(30, 100);
    person.see("It will allow this program: read, offline_access, write").send("\x1b[B").send("\r");
    world.opened().visit();
    person.end(5);
    assert_eq!(world.count("/authorize"), 2);
}

#[test]
fn a_server_that_refuses_every_token_does_not_go_on_for_ever() {
    let world = Bent::default()
        .special(|request, reply| {
            let is_it = request.path == "/mcp";
            if is_it {
                reply.respond(401, "WWW-Authenticate: Bearer\r\n", b"");
            }
            is_it
        })
        .start();
    let mut running = world.start(&["login", "URL"]);
    // A person who keeps agreeing is asked at most three times.
    let mut times = 0;
    let run = loop {
        if world.home().join("opened").exists() {
            times += 1;
            world.opened().visit();
        }
        if running.is_over() {
            break running.end(5);
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    };
    assert!((1..=3).contains(&times), "{times}");
    assert!(world.count("/mcp") < 20, "{}", world.count("/mcp"));
    assert!(world.ledger().renewed <= 3, "{}", world.ledger().renewed);
    assert!(run.stderr.contains("error: "), "{}", run.stderr);
    // And with nobody there.
    let before = world.count("/mcp");
    world.test(&["call", "URL", "read"]).status(5).run();
    assert!(world.count("/mcp") - before < 8);
}
