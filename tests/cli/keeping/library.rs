//! The library and kept servers.

use std::{
    env,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::json;
use toolnexus::{
    elicitation::{make_answer, wait_for},
    host::{Host, HostOptions},
    keeper::Attaching,
};

use crate::harness::{Kept, Test, wait};

#[test]
fn the_library_hears_how_far_a_call_of_a_kept_server_is() {
    let entry = json!({"command": env!("CARGO_BIN_EXE_toolnexus"), "args": ["demo-server"]});
    let kept = Kept::new(Test::new().entry("d", entry));
    kept.run(0, &["up", "d"]);
    // In a separate process, so that the user's folders are left alone.
    let mut library = Command::new(env::current_exe().expect("this program"));
    library.args(["--exact", "keeping::library::a_call_with_progress", "--ignored", "--nocapture"]);
    library.env_clear().envs(kept.command(&[]).get_envs().filter_map(|(name, value)| Some((name, value?))));
    library.current_dir(kept.folder()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = wait(library.spawn().expect("it starts"), Duration::from_secs(60));
    assert_eq!(run.status, Some(0), "{}\n{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("heard 1 of 3, 2 of 3, 3 of 3"), "{}\n{}", run.stdout, run.stderr);
    assert_eq!(kept.standing("d").expect("it is up")["calls"], 1);
    kept.run(0, &["down", "--all"]);
}

#[tokio::test]
#[ignore = "run by the test above"]
async fn a_call_with_progress() {
    let nobody = wait_for(|request| async move { Ok(make_answer(request.id, false, None)) });
    let mut options = HostOptions::default();
    options.resolver = Some(Arc::new(nobody));
    options.attach = Some(Arc::new(Attaching::default()));
    let host = Host::with_options("mcp.json", options).expect("a configuration");
    let client = host.connect("d").await.expect("it is kept");
    let heard = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&heard);
    let call = client.tool("countdown", json!({"from": 3})).on_progress(move |at| {
        let total = at.total.unwrap_or_default();
        sink.lock().expect("whole").push(format!("{} of {total}", at.progress));
    });
    call.await.expect("a result");
    // The test above reads this output.
    #[expect(clippy::print_stdout, reason = "the test above reads it")]
    {
        println!("heard {}", heard.lock().expect("whole").join(", "));
    }
}
