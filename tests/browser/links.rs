//! Links, opened by a person at a browser.

use fantoccini::Locator;
use serde_json::json;

use super::{call, chrome::Chrome, does, harness::Step};

#[tokio::test]
async fn connect_is_opened_approved_and_done() {
    let run = call("connect").at_browser();
    let chrome = Chrome::open().await;
    chrome.go(&run.url()).await;
    chrome.see("Leads to 127.0.0.1").await;
    chrome.look("link").await;
    chrome.press("Open 127.0.0.1").await;
    chrome.see("Waiting for 127.0.0.1").await;
    chrome.look("link-waiting").await;
    chrome.turn_to(1).await;
    chrome.see("Connect the demo server?").await;
    chrome.look("demo").await;
    chrome.press("Approve").await;
    chrome.see("Approved").await;
    chrome.look("demo-approved").await;
    chrome.turn_to(0).await;
    chrome.see("Done").await;
    assert!(run.end(0).stdout.contains("Connected"));
}

#[tokio::test]
async fn without_javascript_the_page_follows_by_itself() {
    let run = call("connect").at_browser();
    let chrome = Chrome::without_script().await;
    chrome.go(&run.url()).await;
    chrome.see("Leads to 127.0.0.1").await;
    let link = chrome.client.find(Locator::Css("a.agrees")).await.expect("a link");
    let link = link.attr("href").await.expect("an address").expect("an address");
    chrome.press("I have opened it").await;
    chrome.see("Waiting for 127.0.0.1").await;
    chrome.new_tab().await;
    chrome.go(&link).await;
    chrome.press("Approve").await;
    chrome.see("Approved").await;
    chrome.turn_to(0).await;
    chrome.see("Done").await;
    assert!(run.end(0).stdout.contains("Connected"));
}

#[tokio::test]
async fn without_javascript_a_link_that_is_withdrawn_says_so() {
    let params = json!({"mode": "url", "message": "Go there", "url": "https://a.example/", "elicitationId": "e"});
    let steps = [
        Step::Send(json!({"id": 1, "method": "elicitation/create", "params": params})),
        Step::ExpectFile("seen".into()),
        Step::Send(json!({"method": "notifications/cancelled", "params": {"requestId": 1}})),
        Step::ExpectFile("over".into()),
        Step::Reply(json!({"content": [{"type": "text", "text": "done"}]})),
    ];
    let run = does(steps).at_browser();
    let chrome = Chrome::without_script().await;
    chrome.go(&run.url()).await;
    chrome.see("Leads to a.example").await;
    run.write("seen");
    chrome.see("Withdrawn").await;
    run.write("over");
    run.end(0);
}
