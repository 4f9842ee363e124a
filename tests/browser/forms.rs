//! Forms, filled by a person at a browser.

use serde_json::json;

use super::{
    call,
    chrome::{Chrome, tool},
    harness::Test,
};

#[tokio::test]
async fn greet_is_filled_mended_and_sent() {
    let run = call("greet").at_browser();
    let chrome = Chrome::open().await;
    chrome.go(&run.url()).await;
    chrome.see("Welcome! Tell us a little about you.").await;
    chrome.look("greet").await;
    chrome.fill("Name", "A").await;
    // The error comes when the field is left, without anything being sent.
    chrome.fill("Age", "17").await;
    chrome.see("A is too short: 2 to 20 characters").await;
    chrome.choose("Plan", "Pro plan").await;
    chrome.see("17 is below").await;
    chrome.choose("Topics", "Security").await;
    chrome.press("Review").await;
    chrome.see("2 things are not right yet").await;
    chrome.look("greet-wrong").await;
    // What was typed is still there.
    assert_eq!(chrome.value("Age").await, "17");
    chrome.fill("Name", "Ada").await;
    chrome.fill("Age", "36").await;
    // Enter goes on to the review, and sends nothing.
    chrome.input("Age").await.send_keys("\u{e007}").await.expect("Enter");
    chrome.see("What forms will receive").await;
    chrome.look("greet-review").await;
    chrome.press("Send").await;
    chrome.see("Sent to forms").await;
    let run = run.end(0);
    assert_eq!(run.stdout, "Hello, Ada! You are 36. You are on the pro plan. You will hear about security.\n");
    chrome.see("You can close this page.").await;
    chrome.look("greet-sent").await;
}

#[tokio::test]
async fn survey_takes_every_kind_of_field() {
    let run = call("survey").args(["-o", "json"]).at_browser();
    let chrome = Chrome::open().await;
    chrome.go(&run.url()).await;
    chrome.see("A survey with every kind of field.").await;
    chrome.look("survey").await;
    chrome.fill("Nickname", "ada1").await;
    chrome.fill("City", "Brno").await;
    chrome.fill("E-mail", "ada@example.com").await;
    chrome.fill("Homepage", "https://example.com/").await;
    chrome.fill("Birthday", "12101815").await;
    let moment = chrome.find("//input[@type='datetime-local']").await;
    moment.send_keys("12012026\u{e004}1000AM").await.expect("a date and time");
    chrome.find("//input[@placeholder='as your clock']").await.send_keys("+01:00").await.expect("an offset");
    chrome.fill("Children", "3").await;
    chrome.fill("Height", "1.68").await;
    for (group, option) in [
        ("Newsletter", "Yes"),
        ("I agree to the rules", "Yes"),
        ("Colour", "blue"),
        ("Airport", "Los Angeles"),
        ("Size", "Medium"),
        ("Languages", "en"),
        ("Languages", "cs"),
        ("Languages", "fr"),
        ("Codecs", "Zstandard"),
    ] {
        chrome.choose(group, option).await;
    }
    chrome.press("Review").await;
    chrome.see("What forms will receive").await;
    chrome.look("survey-review").await;
    chrome.press("Send").await;
    chrome.see("Sent to forms").await;
    let expected = json!({
        "nickname": "ada1", "city": "Brno", "email": "ada@example.com", "homepage": "https://example.com/",
        "birthday": "1815-12-10", "meeting": "2026-12-01T10:00:00+01:00", "children": 3, "height": 1.68, "news": true,
        "rules": true, "color": "blue", "airport": "lax", "size": "m", "languages": ["cs", "fr"], "codecs": ["zst"]
    });
    assert_eq!(run.end(0).json()["structuredContent"]["content"], expected);
}

#[tokio::test]
async fn the_thirteen_fields_of_server_everything() {
    let script = tool("@modelcontextprotocol/server-everything/dist/index.js");
    let run = Test::new()
        .entry("everything", json!({"command": "node", "args": [script, "stdio"]}))
        .env("PATH", &std::env::var("PATH").expect("PATH"))
        .args(["call", "everything", "trigger-elicitation-request", "--elicit", "browser", "--no-browser"])
        .at_browser();
    let chrome = Chrome::open().await;
    chrome.go(&run.url()).await;
    chrome.see("everything asks").await;
    chrome.look("everything").await;
    println!("{}", chrome.text().await);
    chrome.press("Cancel").await;
    run.end(0);
}

#[tokio::test]
async fn greet_without_javascript() {
    let run = call("greet").at_browser();
    let chrome = Chrome::without_script().await;
    chrome.go(&run.url()).await;
    chrome.fill("Name", "A").await;
    chrome.press("Review").await;
    chrome.see("One thing is not right yet").await;
    chrome.look("no-script").await;
    chrome.fill("Name", "Ada").await;
    chrome.choose("Plan", "Free plan").await;
    chrome.press("Review").await;
    chrome.see("What forms will receive").await;
    chrome.press("Send").await;
    chrome.see("Sent to forms").await;
    assert_eq!(run.end(0).stdout, "Hello, Ada! You are on the free plan.\n");
}
