//! Links, opened by a person at a browser.

use super::{call, chrome::Chrome};

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
