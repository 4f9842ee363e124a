use serde_json::json;

use super::{all, is, scripted, shell, text};
use crate::harness::{Fake, Step};

#[test]
fn programs_that_do_not_become_servers() {
    all(vec![
        is("there is no such program", |_| json!({"command": "no-such-program-here"}), 4, "no-such-program-here"),
        is("a folder in a program's place", |_| json!({"command": "/usr"}), 4, "/usr"),
        is(
            "a file that may not be run",
            |folder| {
                std::fs::write(folder.join("plain"), "x").expect("a file");
                json!({"command": folder.join("plain")})
            },
            4,
            "plain",
        ),
        is(
            "a script whose interpreter is missing",
            |folder| {
                let path = folder.join("script");
                std::fs::write(&path, "#!/no/such/interpreter\n").expect("a file");
                std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a mode");
                json!({"command": path})
            },
            4,
            "script",
        ),
        is("its folder is missing", |_| json!({"command": "sh", "cwd": "/no/such/folder"}), 4, "/no/such/folder"),
        is("it ends at once", |_| shell("exit 0"), 4, "exited with status 0"),
        is("it fails at once", |_| shell("echo out of paper >&2; exit 3"), 4, "out of paper"),
        is("it is killed", |_| shell("kill -9 $$"), 4, "SIGKILL"),
        is("it prints a banner and ends", |_| shell("echo Welcome; exit 1"), 4, "exited with status 1"),
        is("it prints for ever", |_| json!({"command": "yes", "timeout": 1500}), 7, "1.5 s"),
        is("it says nothing", |_| shell("sleep 60"), 7, "1.5 s"),
        is("it closes its output and stays", |_| shell("exec 1>&-; sleep 60"), 4, "closed its output"),
        is("it ends with half a line", |_| shell("printf '{\"jsonrpc\"'; exit 0"), 4, "exited with status 0"),
        is("it writes zeros", |_| shell("head -c 100000 /dev/zero; sleep 60"), 7, "1.5 s"),
        is(
            "it speaks in Content-Length frames",
            |_| shell("printf 'Content-Length: 2\\r\\n\\r\\n{}'; sleep 60"),
            4,
            "Content-Length",
        ),
        is(
            "a line that never ends",
            |folder| {
                let mut entry = scripted(folder, &Fake::new());
                entry["command"] = json!("sh");
                entry["args"] = json!(["-c", "tr '\\0' x < /dev/zero"]);
                entry["maxMessage"] = json!(1_000_000);
                entry
            },
            4,
            "wrote too much",
        ),
        is("stderr that never ends", |_| shell("tr '\\0' x < /dev/zero >&2 & sleep 60"), 7, "1.5 s"),
    ]);
}

#[test]
fn handshakes_that_go_wrong() {
    all(vec![
        is(
            "the handshake is refused",
            |folder| {
                let no = Step::Fail(json!({"code": -32603, "message": "out of order"}));
                scripted(folder, &Fake::new().tool("t").on("initialize", [no]))
            },
            6,
            "out of order",
        ),
        is(
            "the handshake is answered with null",
            |folder| scripted(folder, &Fake::new().tool("t").on("initialize", [Step::Reply(json!(null))])),
            6,
            "initialize",
        ),
        is(
            "the handshake is answered with a text",
            |folder| scripted(folder, &Fake::new().tool("t").on("initialize", [Step::Reply(json!("hi"))])),
            6,
            "initialize",
        ),
        is(
            "a revision that does not exist",
            |folder| {
                let odd = json!({"protocolVersion": "1999-01-01", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}});
                scripted(folder, &Fake::new().tool("t").on("initialize", [Step::Reply(odd)]))
            },
            6,
            "1999-01-01",
        ),
        is(
            "the handshake is answered under another id",
            |folder| {
                let other = json!({"id": 4711, "result": {}});
                scripted(folder, &Fake::new().tool("t").on("initialize", [Step::Send(other)]))
            },
            7,
            "3 s",
        ),
        is(
            "it ends in the handshake",
            |folder| scripted(folder, &Fake::new().tool("t").on("initialize", [Step::Exit(9)])),
            4,
            "exited with status 9",
        ),
        is(
            "the handshake is answered twice",
            |folder| {
                let hello = json!({"protocolVersion": "$version", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}});
                scripted(
                    folder,
                    &Fake::new().tool("t").on("initialize", [Step::Reply(hello.clone()), Step::Reply(hello)]),
                )
            },
            0,
            "done\n",
        ),
    ]);
}

#[test]
fn listings_that_go_wrong() {
    all(vec![
        is(
            "the list is refused",
            |folder| {
                let no = Step::Fail(json!({"code": -32603, "message": "no"}));
                scripted(folder, &Fake::new().on("tools/list", [no]))
            },
            0,
            "done\n",
        ),
        is(
            "the list is no list",
            |folder| scripted(folder, &Fake::new().on("tools/list", [Step::Reply(json!({"tools": "many"}))])),
            0,
            "done\n",
        ),
        is(
            "the list never comes",
            |folder| {
                let mut entry = scripted(folder, &Fake::new().on("tools/list", []));
                entry["timeout"] = json!(1_500);
                entry
            },
            0,
            "done\n",
        ),
        is(
            "the list has no end",
            |folder| {
                let page = json!({"tools": [{"name": "t", "inputSchema": {}}], "nextCursor": "again"});
                scripted(folder, &Fake::new().on("tools/list", [Step::Reply(page)]))
            },
            0,
            "done\n",
        ),
        is(
            "the list has what are no tools",
            |folder| {
                let odd = json!({"tools": [7, null, {"name": 8}, {"name": "t", "inputSchema": "x"}, {"name": "t"}]});
                scripted(folder, &Fake::new().on("tools/list", [Step::Reply(odd)]))
            },
            0,
            "done\n",
        ),
        is(
            "it ends while it is listed",
            |folder| scripted(folder, &Fake::new().on("tools/list", [Step::Exit(5)])),
            4,
            "exited with status 5",
        ),
        is(
            "the schema does harm",
            |folder| {
                let bomb = json!({"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}}});
                scripted(folder, &Fake::new().tool_with("t", &bomb).result(text("done")))
            },
            0,
            "done\n",
        ),
    ]);
}
