//! How questions end: tabs, the way back, withdrawal, interruption.

use super::{call, chrome::Chrome};

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
    // In another tab it is changed behind the review.
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
