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
            r#"d=$PWD; mkdir x; cd x; rmdir ../x; exec "$0" "$@" --config "$d/mcp.json""#,
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
            "warning: the trace out is incomplete: File too large",
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

/// However few files may be open, the call is made, or the error says why not.
#[test]
fn every_number_of_descriptors() {
    for count in [4, 6, 8, 10, 12, 14, 16, 17, 18, 19, 20, 21, 22, 24] {
        let run = with(&format!(r#"ulimit -n {count}; exec "$0" "$@""#), &["call", "forms", "countdown", "from=1"]);
        let shown = format!("{count} descriptors: {}{}", run.stdout, run.stderr);
        match run.status {
            Some(0) => assert_eq!(run.stdout, "Counted down from 1.\n", "{shown}"),
            Some(1) => assert!(run.stderr.contains("ulimit -n"), "{shown}"),
            _ => panic!("{shown}"),
        }
    }
}

/// A small full file system, in its own namespace, as `full`; its content afterwards is printed on stderr.
const FULL: &str = r#"
    mkdir full && mount -t tmpfs -o size=16k,mode=700 none full || exit 99
    printf '{"mcpServers": {}}' > full/mcp.json
    head -c 100000 /dev/zero > full/filler 2>/dev/null
    [ -z "$OUT" ] || exec > "$OUT"
    "$0" "$@"; status=$?
    for file in full/*; do
        if [ -f "$file" ] && [ "$file" != full/filler ]; then echo "left: $file $(wc -c < "$file")" >&2; fi
    done
    exit $status"#;

#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn a_disk_that_is_full() {
    let in_namespace = |words: &[&str]| Command::new("unshare").args(["-rm", "sh", "-c"]).args(words).output();
    if !in_namespace(&["mount -t tmpfs none /mnt"]).is_ok_and(|output| output.status.success()) {
        eprintln!("no file system can be mounted here: full disks are left to the tests with `ulimit -f`");
        return;
    }
    let call = ["call", "forms", "countdown", "from=1", "--no-keep"];
    let ask = ["call", "forms", "greet", "--no-keep"];
    let cases: [(&str, &str, Vec<&str>, i32, &str, &str); 8] = [
        ("a home", "HOME=full", call.to_vec(), 0, "", ""),
        (
            "a trace",
            "",
            [&call[..], &["--trace", "full/trace"]].concat(),
            0,
            "warning: the trace full/trace is incomplete: No space left on device",
            "left: full/trace 0\n",
        ),
        (
            "a record",
            "",
            [&ask[..], &["--answer", "name=Ada", "--record", "full/record"]].concat(),
            1,
            "error: the record cannot be written: No space left on device",
            "",
        ),
        (
            "a call that is put aside",
            "",
            [&ask[..], &["--defer", "full/later"]].concat(),
            1,
            "error: the call cannot be put aside in full/later: No space left on device",
            "",
        ),
        (
            "stdout",
            "OUT=full/out",
            call.to_vec(),
            1,
            "error: the output cannot be written: No space left",
            "left: full/out 0\n",
        ),
        (
            "a configuration",
            "",
            vec!["--config", "full/mcp.json", "add", "x", "--", "echo", "hi"],
            3,
            "full/mcp.json cannot be written: No space left on device",
            "",
        ),
        (
            "the folder of the sockets",
            "XDG_RUNTIME_DIR=$PWD/full",
            vec!["call", "forms", "countdown", "from=1", "--keep"],
            0,
            "it is started only for this command, because",
            "",
        ),
        ("a file of a result", "", [&call[..], &["--save", "full"]].concat(), 0, "", ""),
    ];
    for (name, variables, words, status, part, left) in cases {
        let test = Test::new().demo();
        let test = test.args(words);
        let command = test.command();
        let mut shell = Command::new("unshare");
        shell.args(["-rm", "sh", "-c", &format!("export IN=full {variables}; {FULL}")]);
        shell.arg(command.get_program()).args(command.get_args()).env_clear();
        shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?)))).current_dir(test.folder());
        let child = shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let run = wait(child.expect("the shell starts"), LIMIT);
        let shown = format!("{name}\n--- stdout\n{}\n--- stderr\n{}", run.stdout, run.stderr);
        assert_eq!(run.status, Some(status), "exit code; {shown}");
        assert!(run.stderr.contains(part) && !run.stderr.contains("os error"), "{part:?} is missing; {shown}");
        // The configuration has not changed.
        let wanted = format!("left: full/mcp.json 18\n{left}");
        let found: String =
            run.stderr.lines().filter(|line| line.starts_with("left: ")).map(|line| format!("{line}\n")).collect();
        assert_eq!(found, wanted, "{shown}");
    }
}
