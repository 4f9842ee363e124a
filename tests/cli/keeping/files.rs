//! The files of kept servers: their modes, a full disk, and a folder that disappears.

use std::{
    fs::{self, File},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, SystemTime},
};

use serde_json::json;

use crate::harness::{Fake, Kept, Run, Step, Test, until, wait};

/// Runs the program after this shell script.
fn after(kept: &Kept, script: &str, words: &[&str]) -> Run {
    let command = kept.command(words);
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{script}; exec \"$0\" \"$@\"")]).arg(command.get_program()).args(command.get_args());
    shell.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.current_dir(kept.folder()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    wait(shell.spawn().expect("a shell"), Duration::from_secs(60))
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).permissions().mode()
        & 0o777
}

/// No file may grow at all, as on a full disk: every write fails.
const FULL: &str = "trap '' XFSZ; ulimit -f 0";

#[test]
fn on_a_full_disk_the_command_starts_the_server_itself() {
    let kept = Kept::new(Test::new().demo());
    let run = after(&kept, FULL, &["call", "forms", "countdown", "from=1", "--keep"]);
    assert_eq!((run.status, run.stdout.as_str()), (Some(0), "Counted down from 1.\n"), "{}", run.stderr);
    assert!(run.stderr.contains("it is started only for this command, because"), "{}", run.stderr);
    assert!(run.stderr.contains("key cannot be used: "), "{}", run.stderr);
    assert!(kept.keepers.processes().is_empty());
    let left: Vec<_> = fs::read_dir(kept.keepers.path().join("toolnexus")).expect("a folder").collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_disk_that_is_full_later_costs_the_log_and_nothing_else() {
    let kept = Kept::new(Test::new().demo());
    kept.run(0, &["call", "forms", "countdown", "from=1", "--keep"]);
    kept.run(0, &["down", "forms"]);
    let log = kept.keepers.path().join("toolnexus");
    let log =
        fs::read_dir(log).expect("a folder").flatten().find(|entry| entry.path().extension() == Some("log".as_ref()));
    fs::remove_file(log.expect("a log").path()).expect("removed");
    for _ in 0..2 {
        let run = after(&kept, FULL, &["call", "forms", "countdown", "from=1", "--keep"]);
        assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "Counted down from 1.\n", ""));
    }
    assert_eq!(kept.standing("forms").expect("it is up")["calls"], 2);
    assert_eq!(kept.run(0, &["logs", "forms"]).stdout, "");
}

#[test]
fn whatever_the_umask_files_are_private_and_the_servers_own_are_as_usual() {
    for (umask, own) in [("000", 0o666), ("077", 0o600), ("177", 0o600)] {
        let kept = Kept::new(Test::new().entry(
            "s",
            json!({"command": "sh", "args": ["-c", "rm -f own; touch own; exec \"$0\" demo-server", env!("CARGO_BIN_EXE_toolnexus")]}),
        ));
        let run = after(&kept, &format!("umask {umask}"), &["call", "s", "countdown", "from=1", "--keep"]);
        assert_eq!(
            (run.status, run.stdout.as_str(), run.stderr.as_str()),
            (Some(0), "Counted down from 1.\n", ""),
            "{umask}"
        );
        let folder = kept.keepers.path().join("toolnexus");
        assert_eq!(mode(&folder), 0o700, "{umask}");
        let mut names = Vec::new();
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let ending = name.rsplit('.').next().expect("an ending").to_owned();
            let expected = if ending == "sock" { 0o700 } else { 0o600 };
            assert_eq!(mode(&entry.path()), expected, "umask {umask}, {name}");
            names.push(ending);
        }
        names.sort();
        assert_eq!(names, ["key", "lock", "log", "sock"], "{umask}");
        assert_eq!(mode(&kept.folder().join("own")), own, "{umask}");
        assert_eq!(kept.run(0, &["call", "s", "countdown", "from=1"]).stderr, "");
        kept.run(0, &["down", "--all"]);
    }
}

#[test]
fn what_is_left_of_servers_that_are_no_longer_kept_is_removed() {
    let kept = Kept::new(Test::new().server("a", &Fake::new().tool("t")).server("b", &Fake::new().tool("t")));
    kept.run(0, &["call", "a", "t", "--keep"]);
    let folder = kept.keepers.path().join("toolnexus");
    let names = || {
        let entries = fs::read_dir(&folder).expect("a folder").flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    kept.run(0, &["down", "a"]);
    let left = names();
    assert!(left.len() == 2 && left[0].strip_suffix(".log").is_some() && left[1] == "key", "{left:?}");
    // The log may still say why. A day later it is no longer useful.
    let log = File::options().write(true).open(folder.join(&left[0])).expect("a log");
    log.set_modified(SystemTime::now() - Duration::from_secs(25 * 60 * 60)).expect("set");
    kept.run(0, &["call", "b", "t", "--keep"]);
    until("it is swept", || !names().contains(&left[0]));
    assert_eq!(kept.run(0, &["call", "b", "t"]).stderr, "");
}

#[test]
fn a_folder_that_goes_away_under_a_call_costs_the_call_nothing() {
    let server = Fake::new().tool("t").on_call([
        Step::ExpectFile("go".into()),
        Step::Reply(json!({"content": [{"type": "text", "text": "finished"}]})),
    ]);
    let kept = Kept::new(Test::new().server("s", &server));
    kept.run(0, &["up", "s"]);
    let child = kept.start(&["call", "s", "t"]);
    until("the call is there", || kept.count("s", "tools/call") == 1);
    fs::remove_dir_all(kept.keepers.path().join("toolnexus")).expect("gone");
    // Another command does not find it, and keeps its own server.
    assert_eq!(kept.run(0, &["tools", "s", "--keep"]).stderr, "");
    fs::write(kept.folder().join("go"), "").expect("written");
    let run = wait(child, Duration::from_secs(20));
    assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "finished\n", ""));
    until("one is left", || {
        kept.keepers.processes().iter().filter(|(_, words)| words.ends_with(" keep-server ")).count() == 1
    });
}
