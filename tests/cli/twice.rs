//! Many commands in one process.

use std::process::Command;

use toolnexus::cli::{carry_out, context};

#[test]
fn a_command_can_be_run_twice_in_one_process() {
    let home = tempfile::tempdir().expect("a folder");
    // In a separate process, so that the user's folders are left alone.
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "twice::two_commands_and_one_that_fails", "--ignored", "--nocapture"])
        .env_clear()
        .envs([("HOME", home.path().as_os_str()), ("PATH", "/usr/bin:/bin".as_ref())])
        .current_dir(home.path())
        .output()
        .expect("it runs");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}\n{stderr}");
    assert_eq!(stdout.matches("Hello, Ada!").count(), 2, "{stdout}\n{stderr}");
}

#[tokio::test]
#[ignore = "run by the test above"]
async fn two_commands_and_one_that_fails() {
    let context = context();
    let run = async |words: &[&str]| {
        let server = ["--", env!("CARGO_BIN_EXE_toolnexus"), "demo-server"];
        let words = ["toolnexus"].iter().chain(words).chain(&server).map(Into::into).collect();
        carry_out(words, &context).await.map_err(|error| error.exit())
    };
    let greet = ["call", "greet", "--answer", "name=Ada"];
    assert_eq!(run(&greet).await, Ok(()));
    assert_eq!(run(&["call", "nothing"]).await, Err(6));
    assert_eq!(run(&["ping", "--nonsense"]).await, Err(2));
    assert_eq!(run(&greet).await, Ok(()));
}
