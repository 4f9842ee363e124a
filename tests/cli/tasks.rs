//! Calls that servers turn into tasks: the extension `io.modelcontextprotocol/tasks`, and the experiment of 2025-11-25.

use std::{
    fs,
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::harness::{Fake, Step, Test, received};

fn form() -> Value {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    json!({"method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": schema}})
}

/// A task with this status, as in the result of `tasks/get`, with further members.
fn task(status: &str, more: &Value) -> Value {
    let mut task =
        json!({"resultType": "complete", "taskId": "t1", "status": status, "ttlMs": null, "pollIntervalMs": 30});
    let more = more.as_object().expect("members").clone();
    task.as_object_mut().expect("a task").extend(more);
    task
}

fn handle() -> Step {
    let mut handle = task("working", &json!({"statusMessage": "at work"}));
    handle["resultType"] = json!("task");
    Step::Reply(handle)
}

fn asks() -> Step {
    Step::Reply(task("input_required", &json!({"inputRequests": {"who": form()}})))
}

fn completed() -> Step {
    let result = json!({"content": [{"type": "text", "text": "done"}], "resultType": "complete"});
    Step::Reply(task("completed", &json!({"result": result})))
}

/// A modern server whose tool `t` becomes a task.
fn server() -> Fake {
    Fake::new()
        .modern()
        .tool("t")
        .on_call([handle()])
        .on("tasks/update", [Step::Reply(json!({"resultType": "complete"}))])
}

fn call(server: &Fake) -> Test {
    Test::new().server("s", server).args(["call", "s", "t"])
}

#[test]
fn a_task_is_followed_with_progress_and_its_question_answered() {
    let progress = json!({"method": "notifications/progress", "params":
        {"progressToken": "$token", "progress": 1, "total": 2, "message": "half"}});
    let server = Fake::new()
        .modern()
        .tool("t")
        .on_call([handle()])
        .on("tasks/get", [Step::Send(progress), Step::Reply(task("working", &json!({"statusMessage": "still"})))])
        .on("tasks/get", [asks()])
        .on("tasks/get", [completed()])
        .on("tasks/update", [Step::Reply(json!({"resultType": "complete"}))]);
    let run = call(&server).args(["--answer", "name=Ada", "-o", "events"]).run();
    let events = run.events();
    let states: Vec<&Value> = events.iter().filter(|event| event["event"] == "task").map(|e| &e["status"]).collect();
    assert_eq!(states, ["working", "working", "input_required", "completed"]);
    let result = &events.last().expect("events")["result"];
    assert_eq!(result["content"][0]["text"], "done");
    let update = run.params("s", "tasks/update", 0);
    assert_eq!(update["taskId"], "t1");
    assert_eq!(update["inputResponses"], json!({"who": {"action": "accept", "content": {"name": "Ada"}}}));
    let declared = &run.params("s", "tools/call", 0)["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(declared["extensions"]["io.modelcontextprotocol/tasks"], json!({}));
    assert_eq!(run.params("s", "tasks/get", 0)["taskId"], "t1");
}

#[test]
fn how_a_task_can_end() {
    let failed = task("failed", &json!({"error": {"code": -32603, "message": "it broke"}}));
    for (end, status, told) in [
        (failed, 6, "it broke"),
        (task("cancelled", &json!({})), 6, "the server cancelled the task"),
        (task("completed", &json!({})), 6, "without a result"),
        (task("completed", &json!({"result": {"content": [], "isError": true}})), 1, ""),
    ] {
        let server = server().on("tasks/get", [Step::Reply(end)]);
        call(&server).status(status).stderr_contains(told).run();
    }
}

#[test]
fn an_unanswered_question_of_a_task_is_reported_and_the_task_continues() {
    let server = server().on("tasks/get", [asks()]).on("tasks/get", [completed()]);
    let run =
        call(&server).args(["--elicit", "fail"]).status(8).stdout("done\n").stderr_contains("nobody answered").run();
    assert_eq!(run.params("s", "tasks/update", 0)["inputResponses"], json!({"who": {"action": "cancel"}}));
}

#[test]
#[cfg(unix)]
fn an_interrupted_task_is_cancelled() {
    let server = server()
        .on("tasks/get", [Step::Reply(task("working", &json!({})))])
        .on("tasks/cancel", [Step::Reply(json!({"resultType": "complete"}))]);
    let person = call(&server).at_terminal(24, 80);
    person.wait_for_request("s", "tasks/get").send("\x03");
    let ended = person.end(130);
    let cancels = ended.received("s").into_iter().filter(|message| message["method"] == "tasks/cancel");
    assert_eq!(cancels.map(|cancel| cancel["params"]["taskId"].clone()).collect::<Vec<_>>(), ["t1"]);
}

#[test]
fn a_task_is_put_aside_and_goes_on_after_a_crash() {
    let test = Test::new().server("s", &server().on("tasks/get", [asks()]));
    let run = |args: &[&str]| {
        let output = test.command().args(args).stdin(Stdio::null()).output().expect("the program starts");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (status, told) = run(&["call", "s", "t", "--defer", "call.json", "-o", "json"]);
    let told: Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!((status, &told["status"], &told["pending"][0]["prompt"]), (Some(75), &json!("pending"), &json!("Who?")));
    let file = || -> Value {
        serde_json::from_slice(&fs::read(test.folder().join("call.json")).expect("the file")).expect("JSON")
    };
    assert_eq!((&file()["task"], &file()["sent"]), (&json!("t1"), &json!(false)));

    // The server accepts the answer, and dies before there is a result.
    let dies = Fake::new().modern().tool("t").on("tasks/update", [Step::Reply(json!({}))]);
    dies.on("tasks/get", [Step::Exit(3)]).entry(test.folder(), "s");
    assert_eq!(run(&["resume", "call.json", "--answer", "name=Ada"]).0, Some(4));
    assert_eq!(file()["sent"], true);
    server().on("tasks/get", [completed()]).entry(test.folder(), "s");
    assert_eq!(run(&["resume", "call.json"]).0, Some(2));
    assert_eq!(run(&["resume", "call.json", "--again"]), (Some(0), "done\n".to_owned()));
    assert!(!test.folder().join("call.json").exists());
    let messages = received(test.folder(), "s");
    assert_eq!(messages.iter().filter(|message| message["method"] == "tools/call").count(), 1, "it was called once");
    for update in messages.iter().filter(|message| message["method"] == "tasks/update") {
        assert_eq!(update["params"]["inputResponses"]["who"]["content"], json!({"name": "Ada"}));
    }
}

#[test]
fn a_task_is_kept_from_its_beginning_and_outlives_a_killed_program() {
    let test = Test::new().server("s", &server().on("tasks/get", [Step::Pause(60_000)]));
    let args = ["call", "s", "t", "--defer", "call.json"];
    let mut killed = test.command().args(args).stdin(Stdio::null()).spawn().expect("the program starts");
    let file = test.folder().join("call.json");
    let deadline = Instant::now() + Duration::from_secs(20);
    while !received(test.folder(), "s").iter().any(|message| message["method"] == "tasks/get") {
        assert!(Instant::now() < deadline, "the task was never looked at");
        thread::sleep(Duration::from_millis(10));
    }
    killed.kill().expect("it runs");
    killed.wait().expect("it ends");
    let kept: Value = serde_json::from_slice(&fs::read(&file).expect("the file")).expect("JSON");
    assert_eq!((&kept["task"], &kept["sent"]), (&json!("t1"), &json!(false)));

    server().on("tasks/get", [completed()]).entry(test.folder(), "s");
    let output = test.command().args(["resume", "call.json"]).stdin(Stdio::null()).output().expect("it starts");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), b"done\n".as_slice()));
    assert!(!file.exists());
}

#[test]
fn a_kept_task_leaves_no_file_when_it_ends_and_can_be_taken_up_when_it_is_lost() {
    let run = call(&server().on("tasks/get", [completed()])).args(["--defer", "call.json"]).stdout("done\n").run();
    assert!(!run.path("call.json").exists());
    let lost = call(&server().on("tasks/get", [Step::Exit(3)])).args(["--defer", "call.json"]).status(4);
    let run = lost.stderr_contains("`toolnexus resume call.json` continues the task").run();
    assert!(run.path("call.json").exists());
}

#[test]
fn a_legacy_task_is_called_fetched_and_may_ask() {
    let tool = json!({"name": "t", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "required"}});
    let tasks = json!({"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}});
    let state =
        |status: &str| json!({"taskId": "t1", "status": status, "pollInterval": 20, "statusMessage": "at work"});
    let mut ask = json!({"id": "q"});
    ask.as_object_mut().expect("an object").extend(form().as_object().expect("a request").clone());
    let server = Fake::new()
        .on("tools/list", [Step::Reply(json!({"tools": [tool]}))])
        .on(
            "initialize",
            [Step::Reply(json!({"protocolVersion": "2025-11-25", "capabilities": tasks,
            "serverInfo": {"name": "fake", "version": "1"}}))],
        )
        .on_call([Step::Reply(json!({"task": state("working")}))])
        .on("tasks/get", [Step::Reply(state("working"))])
        .on("tasks/get", [Step::Reply(state("input_required"))])
        .on(
            "tasks/result",
            [
                Step::Send(ask),
                Step::Expect(json!({"id": "q"})),
                Step::Reply(json!({"content": [{"type": "text", "text": "done"}]})),
            ],
        );
    let run = call(&server).args(["--answer", "name=Ada"]).stdout("done\n").run();
    assert!(run.params("s", "tools/call", 0)["task"]["ttl"].is_number());
    assert_eq!(run.reply("s", &json!("q"))["content"], json!({"name": "Ada"}));
}

#[test]
fn a_legacy_server_may_ask_in_a_task_of_ours() {
    let mut ask = json!({"id": "q"});
    ask.as_object_mut().expect("an object").extend(form().as_object().expect("a request").clone());
    ask["params"]["task"] = json!({"ttl": 60_000});
    let result = json!({"id": "r", "method": "tasks/result", "params": {"taskId": "question-1"}});
    let server = Fake::new().tool("t").on_call([
        Step::Send(ask),
        Step::Expect(json!({"id": "q"})),
        Step::Send(json!({"id": "l", "method": "tasks/list"})),
        Step::Expect(json!({"id": "l"})),
        Step::Send(result),
        Step::Expect(json!({"id": "r"})),
        Step::Reply(json!({"content": [{"type": "text", "text": "done"}]})),
    ]);
    let run = call(&server).args(["--answer", "name=Ada"]).stdout("done\n").run();
    let opened = run.reply("s", &json!("q"));
    assert_eq!(run.reply("s", &json!("l"))["tasks"][0]["taskId"], opened["task"]["taskId"]);
    let answer = run.reply("s", &json!("r"));
    assert_eq!((&answer["action"], &answer["content"]), (&json!("accept"), &json!({"name": "Ada"})));
}

/// A legacy server whose tool `t` is a task, polled with `looks` and fetched with `results`.
fn legacy_task(created: Value, looks: Vec<Value>, results: Vec<Step>) -> Test {
    let initialized = json!({
        "protocolVersion": "2025-11-25", "serverInfo": {},
        "capabilities": {"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}},
    });
    let tool = json!({"name": "t", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "required"}});
    let mut fake = Fake::new()
        .on("initialize", [Step::Reply(initialized)])
        .on("tools/list", [Step::Reply(json!({"tools": [tool]}))])
        .on_call([Step::Reply(created)]);
    for look in looks {
        fake = fake.on("tasks/get", [Step::Reply(look)]);
    }
    for result in results {
        fake = fake.on("tasks/result", [result]);
    }
    Test::new().server("s", &fake).args(["call", "s", "t"])
}

#[test]
fn a_legacy_task_whose_result_is_refused_meanwhile_is_looked_at_until_it_ends() {
    let state = |status: &str| json!({"taskId": "1", "status": status, "pollInterval": 20});
    let not_yet = Step::Fail(json!({"code": -32602, "message": "the task is not over"}));
    let done = Step::Reply(json!({"content": [{"type": "text", "text": "made"}]}));
    let looks = ["input_required", "working", "input_required", "completed"].map(state).to_vec();
    legacy_task(json!({"task": state("working")}), looks, vec![not_yet, done]).stdout("made\n").run();
}

#[test]
fn a_task_may_name_its_pause_in_both_ways_and_is_never_a_result() {
    let both = |status: &str| json!({"taskId": "1", "status": status, "pollInterval": 60_000, "pollIntervalMs": 20});
    let done = Step::Reply(json!({"content": [{"type": "text", "text": "made"}]}));
    let run = legacy_task(json!({"task": both("working")}), vec![both("completed")], vec![done]).stdout("made\n").run();
    assert!(run.took.as_secs() < 10, "{:?}", run.took);
    for odd in [json!({"taskId": "", "status": "working"}), json!({"taskId": 7, "status": []})] {
        let run = legacy_task(json!({"task": odd}), Vec::new(), Vec::new()).status(6).stdout("").run();
        assert!(run.stderr.contains("the result is a task"), "{}", run.stderr);
    }
}

#[test]
fn a_task_that_never_ends_is_given_up_when_its_time_is_over() {
    let state = json!({"taskId": "1", "status": "working", "pollInterval": 20, "ttl": 300});
    let test = legacy_task(json!({"task": state}), vec![state.clone()], Vec::new()).status(7);
    let run = test.stdout("").stderr_contains("within 0.3 s").run();
    assert!(run.took.as_secs() < 10, "{:?}", run.took);
    assert!(run.received("s").iter().any(|message| message["method"] == "tasks/cancel"));
    let told = "error: s: the task of tools/call did not end within 0.3 s, its time to live\n";
    assert_eq!(run.stderr, told);
    // A pause that is longer than its life, and than the call may take, holds neither up.
    let late = json!({"taskId": "1", "status": "working", "pollInterval": 3_600_000, "ttl": 300});
    let test = legacy_task(json!({"task": late}), vec![late.clone()], Vec::new()).status(7).stderr(told);
    assert!(test.run().took.as_secs() < 10);
    for ttl in [json!(null), json!(0)] {
        let late = json!({"taskId": "1", "status": "working", "pollInterval": 3_600_000, "ttl": ttl});
        let test = legacy_task(json!({"task": late}), Vec::new(), Vec::new()).args(["--max-time", "1"]).status(7);
        let run = test.stderr_contains("the server did not answer tools/call within 1 s").run();
        assert!(run.took.as_secs() < 10, "{:?}", run.took);
    }
}

#[test]
fn a_task_is_followed_however_it_is_written_and_never_printed() {
    let state = |status: &str| json!({"taskId": "1", "status": status, "pollInterval": 20});
    let done = || Step::Reply(json!({"content": [{"type": "text", "text": "made"}]}));
    for created in [state("working"), json!({"task": state("WORKING"), "content": null})] {
        legacy_task(created, vec![state("Completed")], vec![done()]).stdout("made\n").run();
    }
    // A server that makes a task of a call that did not ask for one.
    let fake = Fake::new().tool("t").result(json!({"task": state("working")}));
    let fake = fake.on("tasks/get", [Step::Reply(state("completed"))]).on("tasks/result", [done()]);
    Test::new().server("s", &fake).args(["call", "s", "t"]).stdout("made\n").run();
    // Where the result is to be, there is the task again: while it goes on, and then for ever.
    let again = |status: &str| Step::Reply(json!({"task": state(status)}));
    let looks = vec![state("input_required"), state("working"), state("completed")];
    let created = json!({"task": state("working")});
    legacy_task(created.clone(), looks.clone(), vec![again("working"), done()]).stdout("made\n").run();
    let told = "the task is over, and tasks/result gave the task again";
    legacy_task(created, looks, vec![again("completed")]).status(6).stdout("").stderr_contains(told).run();
    // What merely has a field of that name is a result.
    let plain = json!({"content": [{"type": "text", "text": "hi"}], "task": {"taskId": "1", "status": "working"}});
    Test::new().server("s", &Fake::new().tool("t").result(plain)).args(["call", "s", "t"]).stdout("hi\n").run();
}

/// A task that runs until there is a file `go`.
fn waits() -> Fake {
    server().on("tasks/get", [Step::ExpectFile("go".into()), completed()])
}

#[test]
fn the_result_comes_first_whatever_becomes_of_the_file() {
    let pending = |test: &Test| test.folder().join("call.json");
    for how in ["removed", "a folder", "unreadable"] {
        let test = Test::new().server("s", &waits());
        let args = ["call", "s", "t", "--defer", "call.json"];
        let program =
            test.command().args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let program = program.expect("the program starts");
        let deadline = Instant::now() + Duration::from_secs(20);
        while !pending(&test).exists() {
            assert!(Instant::now() < deadline, "the task was never kept");
            thread::sleep(Duration::from_millis(10));
        }
        match how {
            "removed" => fs::remove_file(pending(&test)).expect("removed"),
            "a folder" => {
                fs::remove_file(pending(&test)).expect("removed");
                fs::create_dir_all(pending(&test).join("inner")).expect("made");
            }
            _ => fs::write(pending(&test), "no JSON").expect("written"),
        }
        fs::write(test.folder().join("go"), "").expect("written");
        let output = program.wait_with_output().expect("it ends");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            (output.status.code(), output.stdout.as_slice()),
            (Some(0), b"done\n".as_slice()),
            "{how}: {stderr}"
        );
        assert!(!stderr.contains("error:"), "{how}: {stderr}");
    }
}
