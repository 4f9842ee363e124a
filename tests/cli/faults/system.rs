use std::process::{Command, Stdio};

use super::LIMIT;
use crate::harness::{Run, Test, wait};

/// Runs a call of a well-behaved server in a shell that takes something away first; `$0 "$@"` is the program.
fn with(script: &str, words: &[&str]) -> Run {
    let test = Test::new().demo().args(words.iter().copied());
    let command = test.command();
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).arg(command.get_program()).args(command.get_args()).env_clear();
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?)))).current_dir(test.folder());
    let child = shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    wait(child.expect("the shell starts"), LIMIT)
}

#[test]
fn a_machine_that_gives_nothing() {
    let cases: [(&str, &str, &[&str], i32, &str); 9] = [
        (
            "few descriptors",
            r#"ulimit -n 6; exec "$0" "$@""#,
            &["call", "forms", "countdown", "from=1"],
            1,
            "ulimit -n",
        ),
        ("no home", r#"unset HOME; exec "$0" "$@""#, &["call", "forms", "countdown", "from=1"], 0, ""),
        (
            "a home that is a file",
            r#"touch f; HOME=$PWD/f exec "$0" "$@""#,
            &["call", "forms", "countdown", "from=1"],
            0,
            "",
        ),
        (
            "the folder is gone",
            r#"d=$PWD; mkdir x; cd x; rmdir ../x; exec "$0" --config "$d/mcp.json" "$@""#,
            &["call", "forms", "countdown", "from=1"],
            0,
            "",
        ),
        ("stdin is closed", r#"exec 0<&-; exec "$0" "$@""#, &["call", "forms", "countdown", "from=1"], 0, ""),
        ("stdout is closed", r#"exec 1>&-; exec "$0" "$@""#, &["call", "forms", "countdown", "from=1"], 0, ""),
        ("stderr is closed", r#"exec 2>&-; exec "$0" "$@""#, &["call", "forms", "countdown", "from=1"], 0, ""),
        (
            "a trace that may not grow",
            r#"trap '' XFSZ; ulimit -f 0; exec "$0" "$@""#,
            &["call", "forms", "countdown", "from=1", "--trace", "out"],
            0,
            "",
        ),
        (
            "a record that may not grow",
            r#"trap '' XFSZ; ulimit -f 0; exec "$0" "$@""#,
            &["call", "forms", "countdown", "from=1", "--record", "out"],
            1,
            "error: the record cannot be written: File too large",
        ),
    ];
    for (name, script, words, status, part) in cases {
        let run = with(script, words);
        let shown = format!("{name}\n--- stdout\n{:.2000}\n--- stderr\n{:.2000}", run.stdout, run.stderr);
        assert_eq!(run.status, Some(status), "exit code; {shown}");
        assert!(run.stderr.contains(part), "{part:?} is missing; {shown}");
        assert!(!run.stderr.contains("panicked"), "{shown}");
    }
}
