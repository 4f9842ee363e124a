//! Servers of other clients, editing of configuration files, and two files that act as one.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::harness::{Fake, Test};

/// A run with the examples of all clients in its folder and home.
fn examples() -> Test {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/clients");
    let mut test = Test::new();
    let project = fs::canonicalize(test.folder()).expect("a folder").display().to_string();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(from.join(&folder)).expect("a folder").flatten() {
            let path = folder.join(entry.file_name());
            if entry.path().is_dir() {
                folders.push(path);
            } else {
                let name = path.to_str().expect("UTF-8").trim_start_matches("project/").to_owned();
                let text = fs::read_to_string(entry.path()).expect("read").replace("$PROJECT", &project);
                test = test.file(&name, text);
            }
        }
    }
    test
}

const OWN: &str = "home/.config/toolnexus/mcp.json";

fn json_of(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).expect("read")).expect("JSON")
}

#[test]
fn the_servers_of_every_client_are_found_with_their_place_and_nothing_is_started_or_given_away() {
    let run = examples().args(["servers", "--discover"]).stderr("").run();
    for part in [
        "Claude Code  ",
        "Claude Desktop  ",
        "Cline  ",
        "Codex  ",
        "GitHub Copilot CLI  ",
        "Cursor  ",
        "Gemini CLI  ",
        "Goose  ",
        "Kiro  ",
        "LM Studio  ",
        "opencode  ",
        "Qwen Code  ",
        "VS Code  ",
        "Windsurf  ",
        "Zed  ",
        "line 17, local",
        "npx -y @upstash/context7-mcp",
        "the variable GITHUB_TOKEN is not set",
        "cannot be used: its program comes with a Zed extension",
        "`toolnexus import CLIENT [NAME]...`",
        "asks for something",
    ] {
        assert!(run.stdout.contains(part), "{part}: {}", run.stdout);
    }
    for secret in ["BSA-not-a-real-key", "hf_0123456789abcdefghij"] {
        assert!(!run.stdout.contains(secret), "{secret}");
    }
    let run = examples().args(["servers", "--discover", "-o", "json", "context7", "database"]).run();
    let found = run.json()["found"].clone();
    let told =
        |key: &str| found.as_array().expect("a list").iter().map(|server| server[key].clone()).collect::<Vec<_>>();
    assert_eq!(
        (told("client"), told("scope")),
        (vec![json!("claude-code"), json!("codex")], vec![json!("local"), json!("user")])
    );
    assert_eq!((told("line"), told("configured")), (vec![json!(17), json!(4)], vec![json!(false), json!(false)]));
    Test::new().args(["servers", "--discover"]).stdout("no servers of other clients were found\n").run();
}

#[test]
fn servers_are_copied_with_what_belongs_to_them_and_secrets_are_warned_of() {
    let run =
        examples().args(["import", "vscode", "perplexity"]).stdout_contains("copied 1 server to ").stderr("").run();
    let own = json_of(&run.path(OWN));
    assert_eq!(own["mcpServers"]["perplexity"]["env"], json!({"PERPLEXITY_API_KEY": "${input:perplexity-key}"}));
    let inputs: Vec<&Value> = own["inputs"].as_array().expect("a list").iter().map(|input| &input["id"]).collect();
    assert_eq!(inputs, ["perplexity-key", "region"]);
    assert_eq!(fs::metadata(run.path(OWN)).expect("there").permissions().mode() & 0o777, 0o600);

    let told = "brave-search: env.BRAVE_API_KEY looks like a secret, and is in the file as plain text; write `${VAR}` \
                instead to keep it out";
    let run = examples().args(["import", "claude-desktop"]).stderr_contains(told).run();
    let servers = json_of(&run.path(OWN))["mcpServers"].clone();
    assert_eq!(servers["brave-search"]["env"]["BRAVE_API_KEY"], "BSA-not-a-real-key");
    assert_eq!(servers["filesystem"]["args"][3], "$${NOT_A_VARIABLE}");

    let run = examples().args(["import", "cursor", "nearby"]).run();
    let nearby = json_of(&run.path(OWN))["mcpServers"]["nearby"].clone();
    assert_eq!(nearby["cwd"], fs::canonicalize(run.folder()).expect("a folder").display().to_string());
    let run = examples().args(["import", "claude-code", "shared", "--to", "there.json", "-o", "json"]).run();
    assert_eq!(run.json()["imported"][0]["name"], "shared");
    assert_eq!(json_of(&run.path("there.json"))["mcpServers"]["shared"]["command"], "./bin/shared");
}

#[test]
fn what_cannot_be_imported_is_said_and_nothing_is_written() {
    for (words, status, part) in [
        (&["import", "curser"][..], 2, "did you mean cursor?"),
        (&["import", "emacs"], 2, "the clients are claude-code, claude-desktop"),
        (&["import", "zed", "locla"], 3, "did you mean local?"),
        (&["import", "goose", "developer"], 3, "built into Goose"),
        (&["import", "none.json"], 3, "none.json"),
        (&["import", "home/.codex/config.toml", "nope"], 3, "it has context7, figma"),
        (&["import", "wrong.toml"], 3, "wrong.toml:2:"),
        (&["import", "other.yaml"], 3, "it has no servers"),
        (&["import", "cursor", "--to", "broken.json"], 3, "broken.json:1:2"),
        (&["import", "cursor", "--to", "home"], 3, "it is a folder"),
    ] {
        let test =
            examples().file("wrong.toml", "a = 1\nb = \n").file("other.yaml", "a: 1\n").file("broken.json", "{,}");
        let run = test.args(words.iter().copied()).status(status).stdout("").stderr_contains(part).run();
        assert!(
            !run.path(OWN).exists() && fs::read_to_string(run.path("broken.json")).expect("read") == "{,}",
            "{words:?}"
        );
    }
    Test::new().args(["import", "cursor"]).status(3).stderr_contains("no servers of Cursor were found").run();
}

#[test]
fn existing_servers_are_kept_unless_replace_is_given() {
    let test = || examples().file(OWN, "// mine\n{\"mcpServers\": {\"hf\": {\"url\": \"https://other.example/\"}}}\n");
    let run = test()
        .args(["import", "lmstudio"])
        .stdout_contains("nothing new")
        .stderr_contains("--replace replaces it")
        .run();
    assert_eq!(json_of_jsonc(&run.path(OWN))["mcpServers"]["hf"]["url"], "https://other.example/");
    let run = test().args(["import", "lmstudio", "hf", "--replace"]).run();
    assert_eq!(json_of_jsonc(&run.path(OWN))["mcpServers"]["hf"]["url"], "https://huggingface.co/mcp");
    assert!(fs::read_to_string(run.path(OWN)).expect("read").starts_with("// mine\n"));
    // The same again is not new, and causes no warning.
    let again = run.command_again(&["import", "lmstudio"]);
    assert!(again.contains("nothing new: 1 of 1 are already in "), "{again}");
}

fn json_of_jsonc(path: &Path) -> Value {
    let text = fs::read_to_string(path).expect("read");
    let document = toolnexus::config::Document::parse(&text).expect("JSON with comments");
    document.root.expect("a value").to_value()
}

const MINE: &str = "// mine\r\n{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {\"command\": \"x\"}, // keep me\r\n\t}\r\n}\r\n";

#[test]
fn servers_are_added_removed_and_switched_and_all_else_stays_as_it_is_written() {
    let test = |words: &[&str]| Test::new().config(MINE).args(words.iter().copied());
    let text = |run: &super::harness::Run| fs::read_to_string(run.path("mcp.json")).expect("read");
    let run =
        test(&["add", "b", "--env", "K=v=w", "--", "sh", "-y", "pkg"]).stdout_contains("added b to ").stderr("").run();
    let entry = "\t\t\"b\": {\r\n\t\t\t\"command\": \"sh\",\r\n\t\t\t\"args\": [\"-y\", \"pkg\"],\r\n\t\t\t\"env\": {\r\n\t\t\t\t\"K\": \"v=w\",\r\n\t\t\t},\r\n\t\t},\r\n\t}\r\n}\r\n";
    assert_eq!(text(&run), MINE.replace("\t}\r\n}\r\n", entry));
    let run = test(&["disable", "a"]).run();
    assert!(text(&run).contains("\"disabled\": true") && text(&run).contains("// keep me"), "{}", text(&run));
    assert!(run.command_again(&["servers"]).contains("disabled"));
    run.command_again(&["enable", "a"]);
    assert!(text(&run).contains("\"disabled\": false"), "{}", text(&run));
    assert!(run.command_again(&["enable", "a"]).contains("a is already enabled"));
    let run = test(&["remove", "a"]).run();
    assert!(!text(&run).contains("\"a\"") && text(&run).starts_with("// mine\r\n"), "{}", text(&run));

    let off = Test::new().config(r#"{"mcpServers": {"a": {"command": "x", "disabled": true}}}"#).args(["tools", "a"]);
    off.status(3).stderr_contains("hint: `toolnexus enable a` switches it on\n").run();

    let url = ["add", "web", "https://x.example/mcp", "-H", "Authorization: Bearer ${TOKEN}", "-o", "json"];
    let run = test(&url).stderr("").run();
    assert_eq!(run.json()["added"], "web");
    assert_eq!(
        json_of_jsonc(&run.path("mcp.json"))["mcpServers"]["web"]["headers"]["Authorization"],
        "Bearer ${TOKEN}"
    );
    let run = Test::new()
        .args(["add", "--user", "web", "https://x.example/mcp", "-H", "X-Api-Key: abc"])
        .stderr_contains("looks like a secret")
        .run();
    assert_eq!(json_of(&run.path(OWN))["mcpServers"]["web"]["url"], "https://x.example/mcp");
    test(&["add", "--user", "c", "--", "x"]).stdout_contains(OWN).run();
    let run = test(&["add", "c", "--config", "new.json", "--", "x"]).stdout("added c to new.json\n").run();
    assert_eq!(text(&run), MINE);
}

#[test]
fn what_may_go_wrong_with_an_entry_is_said_when_it_is_added() {
    let note = "note: x: the program no-such-program is not on PATH: install it, or write its full path\n";
    Test::new().config(MINE).args(["add", "x", "--", "no-such-program"]).stderr(note).run();
    // Your own file is used in every folder.
    let note = "note: x: ./data is relative to the folder in which toolnexus is run; --replace --cwd . ties it to \
                this folder\n";
    Test::new().args(["add", "x", "--", "sh", "./data"]).stderr(note).run();
    Test::new().config(MINE).args(["add", "x", "--", "sh", "./data"]).stderr("").run();
    let run = Test::new().args(["add", "x", "--cwd", ".", "--", "sh", "./data"]).stderr("").run();
    let here = fs::canonicalize(run.folder()).expect("a folder");
    let cwd = json_of(&run.path(OWN))["mcpServers"]["x"]["cwd"].clone();
    assert_eq!(fs::canonicalize(cwd.as_str().expect("a folder")).expect("there"), here);
    let run = Test::new().config(MINE).args(["add", "x", "--cwd", ".", "--", "sh"]).run();
    assert_eq!(json_of_jsonc(&run.path("mcp.json"))["mcpServers"]["x"]["cwd"], ".");
    Test::new()
        .args(["add", "x"])
        .status(2)
        .stderr("error: URL is missing\nhint: toolnexus add NAME URL, or toolnexus add NAME -- COMMAND...\n")
        .run();
}

#[test]
fn what_cannot_be_edited_is_refused_and_stays() {
    for (config, words, status, part) in [
        (MINE, &["add", "a", "--", "x"][..], 3, "already has a server \"a\""),
        (MINE, &["remove", "b"], 3, "configured servers: a"),
        (MINE, &["disable", "aa"], 3, "configured servers: a"),
        (MINE, &["add", "b"], 2, "URL"),
        (MINE, &["add", "b", "npx"], 2, "is not a web address"),
        (MINE, &["add", "b", "ftp://x/"], 2, "is not a web address"),
        (MINE, &["add", "b", "https://x/", "-H", "secret-without-a-name"], 2, "-H needs 'NAME: VALUE'"),
        (MINE, &["add", "b", "https://x/", "--", "y"], 2, "cannot be used with"),
        ("{\"mcpServers\": {\n  \"a\": }\n}", &["add", "b", "--", "x"], 3, "mcp.json:2:8"),
        ("[1]", &["add", "b", "--", "x"], 3, "expected an object"),
        ("{\"mcpServers\": 7}", &["add", "b", "--", "x"], 3, "mcpServers: expected an object of servers, not 7"),
    ] {
        let run = Test::new()
            .config(config)
            .args(words.iter().copied())
            .status(status)
            .stdout("")
            .stderr_contains(part)
            .run();
        assert_eq!(fs::read_to_string(run.path("mcp.json")).expect("read"), config, "{words:?}");
        assert!(!run.stderr.contains("secret-without-a-name"));
    }
    let test = Test::new().config(MINE).args(["remove", "a"]).status(3).stderr_contains("it is read-only");
    fs::set_permissions(test.folder().join("mcp.json"), fs::Permissions::from_mode(0o444)).expect("a mode");
    assert_eq!(fs::read_to_string(test.run().path("mcp.json")).expect("read"), MINE);
}

#[test]
fn a_project_and_the_user_have_one_configuration_and_the_nearer_wins() {
    let test = |words: &[&str]| {
        let own = Test::new();
        let (near, far) = (Fake::new().tool("near"), Fake::new().tool("far"));
        let far_entry = far.entry(own.folder(), "far");
        let both = json!({"mcpServers": {"s": far_entry, "mine": far.entry(own.folder(), "mine")}});
        own.file(OWN, both.to_string()).server("s", &near).args(words.iter().copied())
    };
    let run = test(&["servers", "-o", "json"]).run();
    let file = |name: &str| run.json()["servers"][name]["file"].as_str().map(|file| file.ends_with(OWN));
    assert_eq!((file("s"), file("mine")), (Some(false), Some(true)));
    assert!(run.json()["servers"]["s"]["hides"].as_str().is_some_and(|hidden| hidden.ends_with(OWN)));
    test(&["servers"]).stdout_contains("hides the one in ").stdout_contains("your own").run();
    test(&["call", "s", "near"]).stdout("done\n").stderr_contains("warning: s comes from ").run();
    test(&["call", "mine", "far"]).stdout("done\n").stderr("").run();
    test(&["tools"]).status(2).stderr_contains("was found here and would start").run();
    let run = test(&["tools", "--trust", "-o", "json"]).run();
    assert_eq!(run.json()["servers"].as_object().map(serde_json::Map::len), Some(2));
    let run = test(&["disable", "mine"]).run();
    assert_eq!(json_of(&run.path(OWN))["mcpServers"]["mine"]["disabled"], true);
}

#[test]
fn what_an_entry_asks_for_is_entered_once_and_not_shown_again() {
    let config = |test: Test| {
        let inputs = json!([
            {"type": "promptString", "id": "key", "description": "Your key", "password": true},
            {"type": "pickString", "id": "region", "description": "Where", "options": ["eu", "us"]},
        ]);
        let entry = json!({"command": "sh", "args": ["-c", "printf '%s' \"$KEY|$1\" > seen; exit 3", "sh", "${input:region}"],
            "env": {"KEY": "${input:key}"}});
        test.file(".vscode/mcp.json", json!({"servers": {"s": entry}, "inputs": inputs}).to_string())
    };
    let person = config(Test::new()).args(["tools", "s"]).at_terminal(24, 90);
    person.see("s needs").see("Where").send("us").see("› us").send("\r").see("Your key").send("sesame-open\r");
    person.see("  Send").send("\x1b[B").see("› Send").send("\r");
    person.see("exit");
    assert!(!person.written().contains("sesame-open") && !person.written().contains("secrets do not belong"));
    let ended = person.end(4);
    assert_eq!(fs::read_to_string(ended.folder().join("seen")).expect("started"), "sesame-open|us");

    config(Test::new())
        .args(["tools", "s"])
        .status(3)
        .stderr_contains("`${input:region}` is asked for at a terminal")
        .run();
    let run = config(Test::new()).args(["servers", "-o", "json"]).run();
    assert_eq!(run.json()["servers"]["s"]["asks"], json!(["region", "key"]));
    assert!(run.json()["servers"]["s"]["endpoint"].as_str().is_some_and(|words| words.contains("${input:region}")));
}
