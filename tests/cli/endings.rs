//! How a server ends: when its input is closed it may clean up, and if it does nothing it is told to end.

use std::{
    fs,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::harness::{Fake, Test, wait};

/// A server that runs `script` when its input is closed.
fn then(test: &Test, script: &str) -> Value {
    let mut entry = Fake::new().tool("t").entry(test.folder(), "s");
    let serve = entry["args"][1].as_str().expect("a command").replace("exec ", "");
    entry["args"][1] = json!(format!("({serve}); {script}"));
    entry
}

/// Another run in the same folder.
fn call(test: &Test) {
    let mut command = test.command();
    command.args(["call", "s", "t"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = wait(command.spawn().expect("the program starts"), Duration::from_secs(60));
    assert_eq!((run.status, run.stdout.as_str()), (Some(0), "done\n"), "{}", run.stderr);
}

fn lines(path: &Path) -> usize {
    fs::read_to_string(path).unwrap_or_default().lines().count()
}

#[test]
fn a_clean_up_at_the_end_of_the_input_is_not_cut_off_however_often() {
    let test = Test::new();
    let entry = then(&test, "sleep 0.15; echo clean >> cleaned");
    let test = test.entry("s", entry);
    for times in 1..=2 {
        call(&test);
        assert_eq!(lines(&test.folder().join("cleaned")), times);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_server_that_does_nothing_at_the_end_of_its_input_is_ended_sooner_the_next_time() {
    let test = Test::new();
    let script = "if [ -e ends ]; then exit; fi; if [ -e cleans ]; then sleep 0.19; echo clean >> cleaned; exit; fi; \
                  exec sleep 300";
    let entry = then(&test, script);
    let test = test.entry("s", entry);
    let (folder, cleaned) = (test.folder().to_owned(), test.folder().join("cleaned"));
    let start = Instant::now();
    let until = |what: &str, ready: &mut dyn FnMut() -> bool| {
        while !ready() {
            assert!(start.elapsed() < Duration::from_secs(60), "waited in vain: {what}");
            call(&test);
        }
    };
    // On a busy machine it may seem to be doing something.
    let known = || fs::read_dir(folder.join("home/.cache/toolnexus/eras")).into_iter().flatten().flatten();
    let is_known = || known().any(|file| file.path().extension().is_some_and(|ending| ending == "waits"));
    until("it is known", &mut || is_known());
    // Its clean-up is now cut off: this shows that it was told immediately.
    fs::write(folder.join("cleans"), "").expect("written");
    call(&test);
    assert_eq!(lines(&cleaned), 0);
    // A server that ends by itself gets its time again.
    fs::remove_file(folder.join("cleans")).expect("removed");
    fs::write(folder.join("ends"), "").expect("written");
    until("it is forgotten", &mut || !is_known());
}

#[test]
fn the_time_that_the_configuration_gives_is_given_to_every_server() {
    let test = Test::new();
    let mut entry = then(&test, "if [ -e cleans ]; then sleep 0.5; echo clean >> cleaned; exit; fi; exec sleep 300");
    entry["shutdownGrace"] = json!(1);
    let test = test.entry("s", entry.clone());
    call(&test);
    entry["shutdownGrace"] = json!(20_000);
    let test = test.entry("s", entry);
    fs::write(test.folder().join("cleans"), "").expect("written");
    for times in 1..=2 {
        call(&test);
        assert_eq!(lines(&test.folder().join("cleaned")), times);
    }
}
