//! The examples in the documentation are run.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use toolnexus::config::{Environment, parse};

use super::harness::Test;

/// A fenced block: its info string and its text.
fn blocks(text: &str) -> Vec<(&str, String)> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            let inside: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push((info, inside.join("\n") + "\n"));
        }
    }
    blocks
}

/// Runs the blocks of a page in one folder. `file=NAME` writes a file; in `console` each `$ COMMAND` is followed by its
/// output on both streams, and by `[exit N]` unless that is 0.
fn run_page(text: &str) {
    let run = Test::new();
    let mut commands = 0;
    for (info, block) in blocks(text) {
        if let Some((_, name)) = info.split_once(" file=") {
            fs::write(run.folder().join(name), block).expect("written");
        } else if info == "console" {
            for part in block.split("$ ").filter(|part| !part.is_empty()) {
                let (command, expected) = part.split_once('\n').expect("a line");
                let (output, status) = shell(&run, command);
                let shown = if status == 0 { output.clone() } else { format!("{output}[exit {status}]\n") };
                assert_eq!(shown, expected, "$ {command}\n--- gave\n{shown}");
                commands += 1;
            }
        } else if info == "terminal" {
            at_terminal(&run, &block);
            commands += 1;
        } else if info == "browser" {
            in_browser(&run, &block);
            commands += 1;
        }
    }
    assert!(commands > 0, "the page runs nothing");
}

/// Plays a block at a terminal: `$ COMMAND` is started, `⌨` is followed by text and names of keys, and every other line
/// must appear.
fn at_terminal(run: &Test, block: &str) {
    let mut person = None;
    for line in block.lines() {
        if let Some(command) = line.strip_prefix("$ toolnexus ") {
            person = Some(run.again().args(command.split(' ')).at_terminal(24, 80));
            continue;
        }
        let person = person.as_ref().expect("a command comes first");
        match line.strip_prefix("⌨ ") {
            None => drop(person.see(line)),
            Some(keys) => keys.split(' ').for_each(|key| {
                person.send(match key {
                    "Enter" => "\r",
                    "Down" => "\x1b[B",
                    text => text,
                });
            }),
        }
    }
    person.expect("a command").end(0);
}

/// Plays a block in a browser: `$ COMMAND` is started, `⌨ LABEL: TEXT` is typed, `☞ BUTTON` pressed, the text after `>
/// ` is printed at the end, and every other line must appear.
fn in_browser(run: &Test, block: &str) {
    let mut person = None;
    let mut typed: Vec<(String, String)> = Vec::new();
    let mut printed = String::new();
    for line in block.lines() {
        if let Some(command) = line.strip_prefix("$ toolnexus ") {
            let started = run.again().args(command.split(' ')).args(["--no-browser"]).at_browser();
            let (tab, page) = started.asked();
            person = Some((started, tab, page));
            continue;
        }
        let (_, tab, page) = person.as_mut().expect("a command comes first");
        if let Some((label, text)) = line.strip_prefix("⌨ ").and_then(|line| line.split_once(": ")) {
            let before =
                page.body.split_once(&format!("class=\"name\" dir=\"auto\">{label}</span>")).expect("a label").0;
            let name = before.rsplit_once("<label for=\"").expect("an input").1.split('"').next();
            typed.push((name.unwrap_or_default().to_owned(), text.to_owned()));
        } else if let Some(button) = line.strip_prefix("☞ ") {
            let before = page.body.rsplit_once(&format!(">{button}</button>")).expect("a button").0;
            let act = before.rsplit_once("value=\"").expect("a value").1.split('"').next().unwrap_or_default();
            let fields: Vec<(&str, &str)> = typed.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
            *page = tab.send(page, act, &fields);
            typed.clear();
        } else if let Some(line) = line.strip_prefix("> ") {
            printed.push_str(line);
            printed.push('\n');
        } else {
            page.see(line);
        }
    }
    let (started, ..) = person.expect("a command");
    assert_eq!(started.end(0).stdout, printed);
}

fn shell(test: &Test, command: &str) -> (String, i32) {
    let program = Path::new(env!("CARGO_BIN_EXE_toolnexus"));
    let own = test.command();
    let mut shell = Command::new("sh");
    let script = format!("toolnexus() {{ '{}' \"$@\"; }}\nexec 2>&1\n{command}", program.display());
    shell.args(["-c", &script]).current_dir(test.folder()).env_clear().stdin(Stdio::null());
    shell.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = shell.output().expect("a shell");
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code().unwrap_or(-1))
}

#[test]
#[cfg(unix)]
fn elicitation() {
    run_page(include_str!("../../docs/elicitation.md"));
}

#[test]
fn answers() {
    run_page(include_str!("../../docs/answers.md"));
}

/// Reads every configuration on a page, and returns how many there are.
fn read_configurations(text: &str) -> usize {
    let environment =
        Environment { home: Some("/home/ada".into()), folder: "/project".into(), ..Environment::default() };
    let blocks = blocks(text);
    let configurations = blocks.iter().filter(|(info, _)| *info == "jsonc config");
    for (_, block) in configurations.clone() {
        let config = parse(block, Some(Path::new("mcp.json")), &environment).expect("a configuration");
        assert!(!config.servers.is_empty() && config.warnings.is_empty(), "{block}");
        for entry in &config.servers {
            assert_eq!(entry.server.as_ref().err(), None, "{block}");
            assert!(entry.warnings.is_empty(), "{block}");
        }
    }
    configurations.count()
}

#[test]
fn configuration() {
    assert_eq!(read_configurations(include_str!("../../docs/configuration.md")), 6);
}

#[test]
fn signing_in() {
    assert_eq!(read_configurations(include_str!("../../docs/sign-in.md")), 2);
}

/// Each dependency is used by some code, and `docs/dependencies.md` says what for.
#[test]
fn every_dependency_is_used_and_told() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = fs::read_to_string(root.join("Cargo.toml")).expect("it is there");
    let page = fs::read_to_string(root.join("docs/dependencies.md")).expect("it is there");
    let code = |folders: &[&str]| folders.iter().map(|folder| sources(&root.join(folder))).collect::<String>();
    let (program, all) = (code(&["src"]), code(&["src", "tests", "benches", "examples"]));
    for (table, code) in [("[dependencies]", &program), ("[dev-dependencies]", &all)] {
        let lines =
            manifest.lines().skip_while(|line| *line != table).skip(1).take_while(|line| !line.starts_with('['));
        let names: Vec<&str> = lines.filter_map(|line| Some(line.split_once(" = ")?.0)).collect();
        assert!(names.len() > 3, "{table}: {names:?}");
        for name in names {
            let path = format!("{}::", name.replace('-', "_"));
            let is_used = code.match_indices(&path).any(|(at, _)| !code[..at].ends_with(|c: char| c.is_alphanumeric()));
            assert!(is_used, "nothing uses {name}");
            assert!(page.contains(name), "docs/dependencies.md says nothing of {name}");
        }
    }
}

/// All Rust code in a folder.
fn sources(folder: &Path) -> String {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let text = |path: std::path::PathBuf| match path.extension() {
        _ if path.is_dir() => sources(&path),
        Some(ending) if ending == "rs" => fs::read_to_string(path).unwrap_or_default(),
        _ => String::new(),
    };
    entries.map(text).collect()
}
