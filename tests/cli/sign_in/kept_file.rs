//! The file with the sign-ins, after something has happened to it.

use std::{fs, os::unix::fs::PermissionsExt as _};

use super::World;

fn mode(world: &World) -> u32 {
    fs::metadata(world.sign_ins()).expect("the file").permissions().mode() & 0o777
}

/// A world in which somebody signed in, and then the file was changed.
fn with(text: impl Fn(&str) -> String, permissions: u32) -> World {
    let world = World::new();
    world.sign_in(&["login", "URL"]);
    let path = world.sign_ins();
    assert_eq!(mode(&world), 0o600);
    let folder = fs::metadata(path.parent().expect("a folder")).expect("there").permissions().mode();
    assert_eq!(folder & 0o777, 0o700);
    let kept = fs::read_to_string(&path).expect("kept");
    fs::write(&path, text(&kept)).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(permissions)).expect("set");
    world
}

#[track_caller]
fn refused(world: &World, why: &str) {
    let kept = fs::read(world.sign_ins()).expect("the file");
    for words in [&["call", "URL", "read"][..], &["login", "URL"], &["login", "URL", "--status"], &["tools", "URL"]] {
        let run = world.test(words).status(5).run();
        assert!(run.stderr.contains(why) && run.stderr.contains("sign-ins.json"), "{words:?}: {}", run.stderr);
        assert!(!run.stderr.contains("s3cret"), "{}", run.stderr);
    }
    // Signing out fails if the file cannot be read.
    world.test(&["logout"]).status(3).stderr_contains(why).run();
    assert_eq!(fs::read(world.sign_ins()).expect("the file"), kept, "it was written over");
    let is_sent = |request: &super::super::http::server::Request| {
        request.header("authorization").is_some_and(|value| !value.contains("access-s3cret-"))
    };
    assert!(!world.server.seen().iter().any(is_sent));
}

#[test]
fn a_file_that_others_can_read_is_not_used() {
    for permissions in [0o644, 0o660] {
        refused(&with(str::to_owned, permissions), "others can read");
    }
}

#[test]
fn a_file_that_was_half_written_is_not_used_and_not_lost() {
    for part in [0, 200] {
        refused(&with(|kept| kept[..part].to_owned(), 0o600), "does not hold sign-ins");
    }
}

#[test]
fn a_home_that_is_no_folder_is_named() {
    for words in [&["logout"][..], &["logout", "https://mcp.example/mcp"]] {
        let test = super::super::harness::Test::new().file("home", "").args(words.iter().copied());
        let home = test.folder().join("home");
        let test = test.env("HOME", home.to_str().expect("a path")).status(3);
        let run = test.stderr_contains("error: you are not signed out: the sign-ins in ").run();
        assert!(run.stderr.contains("/home/.local/share/toolnexus/sign-ins.json cannot be "), "{}", run.stderr);
    }
}

#[test]
fn a_file_of_a_newer_program_is_left_alone() {
    refused(&with(|kept| kept.replace("\"version\": 1", "\"version\": 2"), 0o600), "was written by a newer toolnexus");
}

#[test]
fn a_server_that_wants_no_sign_in_is_not_bothered() {
    let world = with(|_| "{".to_owned(), 0o600);
    let open = super::super::http::server::Server::start(|request, reply| {
        let result = match request.rpc().as_str() {
            "initialize" => serde_json::json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "open", "version": "1"}}),
            "tools/list" => serde_json::json!({"tools": []}),
            _ => return reply.empty(400),
        };
        reply.json(200, &serde_json::json!({"jsonrpc": "2.0", "id": request.json()["id"], "result": result}));
    });
    world.test(&["tools", &open.url("/mcp")]).run();
}

#[test]
fn a_killed_writer_leaves_the_file_whole_and_the_lock_free() {
    let world = World::new();
    world.sign_in(&["login", "URL"]);
    let lock = world.sign_ins().with_file_name("sign-ins.lock");
    assert_eq!(fs::metadata(lock).expect("the lock").permissions().mode() & 0o777, 0o600);
    world.ledger().expire();
    // The kernel releases the lock of a process that is gone.
    let test = world.test(&["call", "URL", "read"]);
    let mut child = test.command().spawn().expect("the program starts");
    child.kill().expect("killed");
    child.wait().expect("gone");
    world.test(&["call", "URL", "read"]).stdout("read is done\n").run();
    assert_eq!(mode(&world), 0o600);
}
