//! How questions end: tabs, the back button, withdrawal, interruption.

use serde_json::json;

use super::{call, chrome::Chrome, does, harness::Step};

#[tokio::test]
async fn two_tabs_and_the_way_back() {
    let run = call("greet").at_browser();
    let url = run.url();
    let chrome = Chrome::open().await;
    chrome.go(&url).await;
    chrome.fill("Name", "Ada").await;
    chrome.press("Review").await;
    chrome.see("What forms will receive").await;
    chrome.client.back().await.expect("back");
    assert_eq!(chrome.value("Name").await, "Ada");
    chrome.client.refresh().await.expect("reload");
    assert_eq!(chrome.value("Name").await, "Ada");
    chrome.press("Review").await;
    chrome.see("What forms will receive").await;
    // It is changed in another tab after the review.
    chrome.new_tab().await;
    chrome.go(&url).await;
    chrome.fill("Name", "Bob").await;
    chrome.press("Review").await;
    chrome.see("What forms will receive").await;
    chrome.turn_to(0).await;
    chrome.press("Send").await;
    chrome.see("It was changed in another tab").await;
    chrome.look("stale").await;
    chrome.press("Send").await;
    chrome.see("Sent to forms").await;
    chrome.turn_to(1).await;
    chrome.see("Sent to forms").await;
    assert_eq!(run.end(0).stdout, "Hello, Bob!\n");
}

#[tokio::test]
async fn declined_and_cancelled() {
    for (button, words, said) in [
        ("Decline", "forms is told that you said no", "rather not say"),
        ("Cancel", "Cancelled", "closed the question"),
    ] {
        let run = call("greet").at_browser();
        let chrome = Chrome::open().await;
        chrome.go(&run.url()).await;
        chrome.fill("Name", "Ada").await;
        chrome.press(button).await;
        chrome.see(words).await;
        assert!(run.end(0).stdout.contains(said));
    }
}

#[tokio::test]
async fn a_question_that_is_withdrawn_goes_and_another_one_comes() {
    let ask = |id: u64, message: &str| {
        let schema = json!({"type": "object", "properties": {"name": {"type": "string", "title": "Name"}}});
        let params = json!({"message": message, "requestedSchema": schema});
        Step::Send(json!({"id": id, "method": "elicitation/create", "params": params}))
    };
    let withdrawn = Step::Send(json!({"method": "notifications/cancelled", "params": {"requestId": 1}}));
    let done = Step::Reply(json!({"content": [{"type": "text", "text": "done"}]}));
    let steps = [
        ask(1, "First?"),
        Step::ExpectFile("typed".into()),
        withdrawn,
        Step::ExpectFile("gone".into()),
        ask(2, "Second?"),
        Step::Expect(json!({"id": 2})),
        done,
    ];
    let run = does(steps).at_browser();
    let chrome = Chrome::open().await;
    chrome.go(&run.url()).await;
    chrome.see("First?").await;
    chrome.fill("Name", "Ada").await;
    run.write("typed");
    chrome.see("Withdrawn").await;
    chrome.look("withdrawn").await;
    run.write("gone");
    // Nobody is moved away from what they were reading.
    chrome.press("Next question").await;
    chrome.see("Second?").await;
    assert_eq!(chrome.value("Name").await, "");
    chrome.fill("Name", "Bob").await;
    chrome.press("Review").await;
    chrome.press("Send").await;
    chrome.see("Sent to s").await;
    let run = run.end(0);
    assert_eq!(run.reply("s", &json!(2))["content"], json!({"name": "Bob"}));
}

#[tokio::test]
async fn a_run_that_is_interrupted_or_killed_says_so() {
    for (signal, words) in [
        (nix::sys::signal::Signal::SIGINT, "Withdrawn"),
        (nix::sys::signal::Signal::SIGKILL, "The command that asked cannot be reached"),
    ] {
        let run = call("greet").at_browser();
        let chrome = Chrome::open().await;
        chrome.go(&run.url()).await;
        chrome.fill("Name", "Ada").await;
        let id = nix::unistd::Pid::from_raw(run.id().cast_signed());
        nix::sys::signal::kill(id, signal).expect("a signal");
        chrome.see(words).await;
        chrome.look("ended").await;
        drop(run.end_any());
    }
}

#[tokio::test]
async fn a_second_browser_is_told_whose_page_it_is() {
    let run = call("greet").at_browser();
    let (url, first) = (run.url(), Chrome::open().await);
    first.go(&url).await;
    first.see("Welcome!").await;
    let second = Chrome::open().await;
    second.go(&url).await;
    second.see("This page is open in another browser").await;
    second.look("second").await;
    first.press("Decline").await;
    run.end(0);
}
