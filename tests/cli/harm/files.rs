use std::{
    fs,
    os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink},
    path::Path,
};

use nix::{sys::stat::Mode, unistd::mkfifo};
use serde_json::{Value, json};

use crate::harness::{Fake, Step, Test};

const MEMORY: u64 = 400;

fn asking() -> Fake {
    let params =
        json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": {"a": {"type": "string"}}}});
    let done = json!({"content": [{"type": "text", "text": "done"}]});
    Fake::new().tool("t").on_call([
        Step::Send(json!({"id": "q", "method": "elicitation/create", "params": params})),
        Step::Expect(json!({"id": "q"})),
        Step::Reply(done),
    ])
}

fn writing(option: &str, path: &str) -> Test {
    Test::new().server("s", &asking()).args(["call", "s", "t", "--answer", "a=x", option, path])
}

fn mode(path: &Path) -> u32 {
    path.metadata().expect("it is there").permissions().mode() & 0o777
}

#[test]
fn only_a_regular_file_is_written() {
    for option in ["--record", "--trace"] {
        let test = writing(option, "out");
        mkfifo(&test.folder().join("out"), Mode::S_IRWXU).expect("a pipe");
        let run = test.status(2).stdout("").stderr_contains("it is not a regular file").run();
        let there = fs::symlink_metadata(run.path("out")).expect("still there");
        assert!(there.file_type().is_fifo() && there.permissions().mode() & 0o777 == 0o700, "{option}");
        assert!(run.received("s").is_empty(), "{option}: nothing was started");

        let test = writing(option, "out");
        mkfifo(&test.folder().join("pipe"), Mode::S_IRWXU).expect("a pipe");
        symlink("pipe", test.folder().join("out")).expect("a link");
        let run = test.status(2).stderr_contains("it is a link to something that is not a regular file").run();
        assert!(fs::symlink_metadata(run.path("out")).expect("still there").is_symlink(), "{option}");
        assert!(fs::symlink_metadata(run.path("pipe")).expect("still there").file_type().is_fifo(), "{option}");

        let test = writing(option, "out");
        symlink("nowhere", test.folder().join("out")).expect("a link");
        let run = test.status(2).stderr_contains("it is a broken link").run();
        assert!(!run.path("nowhere").exists(), "{option}");

        let test = writing(option, "out");
        fs::create_dir(test.folder().join("out")).expect("a folder");
        test.status(2).stderr_contains("it is a folder").run();

        let run = writing(option, "no/out").run_any();
        assert!(run.stderr.contains("there is no folder no") && run.received("s").is_empty(), "{}", run.stderr);
    }
}

#[test]
fn a_pipe_is_not_edited_as_a_configuration() {
    for words in [&["add", "a", "--", "true"][..], &["remove", "a"], &["disable", "a"], &["enable", "a"]] {
        let test = Test::new().args(["--config", "pipe.json"]).args(words.iter().copied());
        mkfifo(&test.folder().join("pipe.json"), Mode::S_IRWXU).expect("a pipe");
        let run = test.status(3).stderr_contains("pipe.json cannot be read: it is not a regular file").run();
        let there = fs::symlink_metadata(run.path("pipe.json")).expect("it is there");
        assert!(there.file_type().is_fifo(), "{words:?}");
    }
}

#[test]
fn a_link_to_the_users_own_file_is_followed() {
    for option in ["--record", "--trace"] {
        let test = writing(option, "out").file("kept", "old");
        symlink("kept", test.folder().join("out")).expect("a link");
        fs::set_permissions(test.folder().join("kept"), fs::Permissions::from_mode(0o644)).expect("set");
        let run = test.stdout("done\n").run();
        assert!(fs::symlink_metadata(run.path("out")).expect("still there").is_symlink(), "{option}");
        let text = fs::read_to_string(run.path("kept")).expect("written");
        assert!(text.len() > 10 && !text.contains("old"), "{option}: {text}");
        assert_eq!(mode(&run.path("kept")), 0o600, "{option}");
    }
}

#[test]
fn a_file_that_was_there_is_replaced_whole_and_private() {
    for option in ["--record", "--trace"] {
        let test = writing(option, "out").file("out", "old");
        fs::set_permissions(test.folder().join("out"), fs::Permissions::from_mode(0o644)).expect("set");
        // Another name of the same file keeps the old content.
        fs::hard_link(test.folder().join("out"), test.folder().join("other")).expect("a name");
        let run = test.stdout("done\n").run();
        assert_eq!(mode(&run.path("out")), 0o600, "{option}");
        assert_eq!(fs::read_to_string(run.path("other")).expect("read"), "old", "{option}");
        assert_eq!(mode(&run.path("other")), 0o644, "{option}");
    }
}

#[test]
fn a_key_of_many_steps_is_refused() {
    let server = Fake::new().tool_with("t", &json!({"type": "object", "properties": {"a": {"type": "object"}}}));
    for (steps, status) in [(100, 0), (101, 2), (30_000, 2)] {
        let word = format!("{}=1", vec!["a"; steps].join("."));
        let run = Test::new().server("s", &server).memory(MEMORY).args(["call", "s", "t", &word]).run_any();
        assert_eq!(run.status, Some(status), "{steps}: {}", run.stderr);
        assert!(status == 0 || run.stderr.contains("the limit is 100"), "{}", run.stderr);
        assert!(run.stderr.len() < 1_000, "{} bytes", run.stderr.len());
    }
}

#[test]
fn many_entries_are_read_in_a_straight_line() {
    let servers: serde_json::Map<String, Value> =
        (0..10_000).map(|i| (format!("server{i}"), json!({"command": "true", "args": [i.to_string()]}))).collect();
    let config = json!({"mcpServers": servers}).to_string();
    let run = Test::new().config(&config).args(["call", "nobody", "t"]).status(3).run();
    assert!(run.took.as_secs() < 25, "the configuration: {:?}", run.took);
    let entries: Vec<Value> =
        (0..10_000).map(|i| json!({"when": {"tool": format!("t{i}")}, "content": {"a": "x"}})).collect();
    let answers = Value::from(entries).to_string();
    let test = Test::new().server("s", &asking()).file("answers.json", answers);
    let run = test.args(["call", "s", "t", "--answers", "answers.json"]).status(8).run();
    assert!(run.took.as_secs() < 25, "the answers: {:?}", run.took);
}

#[test]
fn what_is_said_of_many_entries_is_bounded() {
    let servers: serde_json::Map<String, Value> =
        (0..20_000).map(|i| (format!("server{i}"), json!({"comand": "x", "command": "true"}))).collect();
    let test = Test::new().server("s", &asking());
    let mut config: Value =
        serde_json::from_slice(&fs::read(test.folder().join("mcp.json")).expect("read")).expect("JSON");
    config["mcpServers"].as_object_mut().expect("servers").extend(servers);
    let run = test.config(&config.to_string()).args(["call", "s", "t", "--answer", "a=x"]).stdout("done\n").run();
    assert!(run.took.as_secs() < 25, "{:?}", run.took);
    assert!(run.stderr.len() < 10_000, "{} bytes", run.stderr.len());
    assert!(run.stderr.contains("and 19980 more warnings about the configuration"), "{}", run.stderr);

    let mut answers: serde_json::Map<String, Value> = (0..20_000).map(|i| (format!("key{i}"), json!("x"))).collect();
    answers.insert("a".into(), json!("x"));
    let entry = |tool: String| json!({"when": {"tool": tool}, "content": {"a": "x"}});
    let entries: Vec<Value> = (0..20_000).map(|i| entry(format!("t{i}"))).chain([entry("t".into())]).collect();
    for (answers, part) in [
        (Value::Object(answers), "and 19980 more of answers.json"),
        (Value::from(entries), "19980 more entries of answers.json"),
    ] {
        let test = Test::new().server("s", &asking()).file("answers.json", answers.to_string());
        let run = test.args(["call", "s", "t", "--answers", "answers.json"]).stdout("done\n").run();
        assert!(
            run.stderr.len() < 5_000 && run.stderr.contains(part),
            "{}",
            &run.stderr[..run.stderr.len().min(3_000)]
        );
    }
}

#[test]
fn what_never_ends_is_refused() {
    // The device is only read.
    for words in [&["a=@/dev/zero"][..], &["--args", "@/dev/zero"], &["--answers", "/dev/zero"]] {
        let test = Test::new().server("s", &asking()).args(["call", "s", "t"]).args(words.iter().copied());
        let run = test.memory(600).run_any();
        assert!(matches!(run.status, Some(2 | 3)), "{words:?}: {:?} {}", run.status, run.stderr);
        assert!(run.stderr.contains("it is larger than 64 MiB"), "{words:?}: {}", run.stderr);
    }
    let run = Test::new().args(["--config", "/dev/zero", "servers"]).memory(600).status(3).run();
    assert!(run.stderr.contains("it is larger than 64 MiB"), "{}", run.stderr);
}

#[test]
fn a_script_whose_line_never_ends_is_refused() {
    for (script, why) in [(vec![b'x'; 20 << 20], "it is longer than 16 MiB"), (b"\xff\n".to_vec(), "it is not UTF-8")] {
        let run =
            Test::new().server("s", &Fake::new().tool("t")).args(["shell"]).stdin(&script).memory(1_000).status(2);
        let run = run.stderr_contains(&format!("error: line 1 of the script cannot be read: {why}\n")).run();
        assert!(run.peak < 100 << 10, "{} MiB were held", run.peak >> 10);
    }
}

#[test]
fn a_text_does_not_grow_without_end_by_its_variables() {
    let big = "x".repeat(100_000);
    let config = json!({"mcpServers": {"s": {"command": "true", "args": ["${BIG}".repeat(2_000)]}}}).to_string();
    let test = Test::new().config(&config).env("BIG", &big).memory(MEMORY).args(["call", "s", "t"]);
    test.status(3).stderr_contains("longer than 4 MiB").run();
}

#[test]
fn few_descriptors_are_an_error_and_no_panic() {
    for count in 3..24 {
        let test = Test::new().server("s", &asking()).args(["call", "s", "t", "--answer", "a=x"]);
        let program = test.command();
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &format!(r#"ulimit -n {count}; exec "$0" "$@""#)]);
        shell.arg(program.get_program()).args(program.get_args()).env_clear().current_dir(test.folder());
        shell.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = shell.output().expect("it ends");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!stderr.contains("panicked"), "{count}: {stderr}");
        assert!(matches!(output.status.code(), Some(0..=127)), "{count}: {:?} {stderr}", output.status);
    }
}
