//! A full disk: a separate small file system, if the system lets the tests mount one.

use std::{
    fs,
    io::Write as _,
    process::{Command, Stdio},
    time::Duration,
};

use serde_json::json;

use crate::harness::{Keepers, Run, Test, wait};

/// Runs `script` in a folder with an empty file system in `disk`, of which `fill` uses up the rest. `$T` is the
/// program, and the server `d` is the demo server. `None` if no file system can be mounted.
fn on_a_small_disk(script: &str) -> Option<Run> {
    let mut mount = Command::new("unshare");
    mount.args(["-rm", "mount", "-t", "tmpfs", "none", "/mnt"]).stderr(Stdio::null());
    if !mount.status().is_ok_and(|status| status.success()) {
        // The test runner captures output.
        drop(writeln!(std::io::stderr(), "SKIPPED: a full disk cannot be tried here: `unshare -rm mount` is refused"));
        return None;
    }
    let entry = json!({"command": env!("CARGO_BIN_EXE_toolnexus"), "args": ["demo-server"]});
    let test = Test::new().entry("d", entry);
    let disk = test.folder().join("disk");
    fs::create_dir(&disk).expect("a folder");
    // Ends kept servers, even if a test fails.
    let keepers = Keepers::within(&disk);
    let before = "mount -t tmpfs -o size=64k,mode=700 none disk && mkdir -m 700 disk/run || exit 99\n\
                  fill() { head -c 1M /dev/zero > disk/fill; }\n";
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", &format!("{before}{script}")]);
    command.env_clear().envs(test.command().get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("XDG_RUNTIME_DIR", keepers.path()).env("T", env!("CARGO_BIN_EXE_toolnexus"));
    command.current_dir(test.folder()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Some(wait(command.spawn().expect("it starts"), Duration::from_secs(60)))
}

#[test]
fn a_server_is_used_without_a_keeper_where_none_can_be_begun() {
    let Some(run) = on_a_small_disk("fill 2>/dev/null; $T call d countdown from=1 --keep=60s") else { return };
    assert_eq!((run.status, run.stdout.as_str()), (Some(0), "Counted down from 1.\n"), "{}", run.stderr);
    assert!(run.stderr.contains("it is started only for this command, because"), "{}", run.stderr);
    assert!(run.stderr.contains("No space left on device"), "{}", run.stderr);
}

#[test]
fn a_kept_server_goes_on_when_the_disk_is_full() {
    let script = "$T up d >/dev/null && fill 2>/dev/null; $T call d countdown from=1; $T down --all";
    let Some(run) = on_a_small_disk(script) else { return };
    assert_eq!((run.status, run.stdout.as_str()), (Some(0), "Counted down from 1.\nd  down\n"), "{}", run.stderr);
}

#[test]
fn what_cannot_be_remembered_is_found_out_again() {
    let script = "fill 2>/dev/null; export HOME=$PWD/disk; $T call d countdown from=1; $T call d countdown from=1";
    let Some(run) = on_a_small_disk(script) else { return };
    let twice = "Counted down from 1.\nCounted down from 1.\n";
    assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), (Some(0), twice, ""));
}

#[test]
fn a_file_that_cannot_be_written_is_named_and_not_left_half_written() {
    let script = "fill 2>/dev/null; \
                  $T call d greet --answer name=Ada --record disk/record; echo $?; \
                  $T call d greet --defer disk/call; echo $?; \
                  $T call d greet --answer name=Ada > disk/out; echo $?; \
                  $T --config disk/mcp.json add x -- server; echo $?; \
                  rm disk/out; ls disk";
    let Some(run) = on_a_small_disk(script) else { return };
    assert_eq!(run.stdout, "Hello, Ada!\n1\n1\n1\n3\nfill\nrun\n", "{}", run.stderr);
    for message in [
        "error: the record cannot be written: No space left on device",
        "error: the call cannot be put aside in disk/call: No space left on device",
        "error: the output cannot be written: No space left on device",
        "error: disk/mcp.json cannot be written: No space left on device",
    ] {
        assert!(run.stderr.contains(message), "{message} is not in {}", run.stderr);
    }
}
