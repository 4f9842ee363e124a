//! Forms, filled by a person at a browser.

use fantoccini::Locator;
use serde_json::{Value, json};

use super::{
    asks, call,
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
    // The error appears when the field loses focus, before anything is sent.
    chrome.fill("Age", "17").await;
    chrome.see("A is too short: 2 to 20 characters").await;
    chrome.choose("Plan", "Pro plan").await;
    chrome.see("17 is below").await;
    chrome.choose("Topics", "Security").await;
    chrome.press("Review").await;
    chrome.see("2 things are not right yet").await;
    chrome.look("greet-wrong").await;
    // The typed text is still there.
    assert_eq!(chrome.value("Age").await, "17");
    chrome.fill("Name", "Ada").await;
    chrome.fill("Age", "36").await;
    // Enter continues to the review, and sends nothing.
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
    chrome.find("//input[@placeholder=\"your clock's\"]").await.send_keys("+01:00").await.expect("an offset");
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
    for (label, text) in [
        ("String", "Ada Lovelace"),
        ("String with default", "Call me Ishmael."),
        ("String with email format", "ada@example.com"),
        ("String with uri format", "https://example.com/"),
        ("String with date format", "12101815"),
        ("Integer", "7"),
        ("Number in range 1-1000", "2.5"),
    ] {
        chrome.fill(label, text).await;
    }
    for (group, option) in [
        ("Boolean", "Yes"),
        ("Untitled Single Select Enum", "Ross"),
        ("Untitled Multiple Select Enum", "Guitar"),
        ("Untitled Multiple Select Enum", "Drums"),
        ("Titled Single Select Enum", "Wonder Woman"),
        ("Titled Multiple Select Enum", "Tuna"),
        ("Titled Multiple Select Enum", "Trout"),
        ("Legacy Titled Single Select Enum", "Reptiles"),
    ] {
        chrome.choose(group, option).await;
    }
    chrome.press("Review").await;
    chrome.see("What everything will receive").await;
    chrome.press("Send").await;
    chrome.see("Sent to everything").await;
    let told = run.end(0).stdout;
    for part in [
        "Ada Lovelace",
        "Call me Ishmael.",
        "ada@example.com",
        "https://example.com/",
        "1815-12-10",
        "\"integer\": 7",
        "\"number\": 2.5",
        "\"check\": true",
        "Ross",
        "Drums",
        "hero-3",
        "fish-3",
        "pet-5",
    ] {
        assert!(told.contains(part), "{part} is not in {told}");
    }
    assert!(!told.contains("Guitar") && !told.contains("fish-1"), "{told}");
}

/// A form with the rarer kinds of fields.
fn kinds() -> Value {
    let countries: Vec<String> = (0..60).map(|number| format!("Country {number}")).collect();
    let address = json!({"type": "object", "title": "Address", "required": ["street"], "properties": {
        "street": {"type": "string", "title": "Street"}, "kind": {"enum": ["flat", "house"], "title": "Kind"}}});
    let properties = json!({
        "password": {"type": "string", "title": "Password"},
        "bio": {"type": "string", "title": "About you", "maxLength": 500, "default": "first\nsecond"},
        "country": {"enum": countries, "title": "Country"},
        "visited": {"type": "array", "title": "Visited", "items": {"enum": countries}},
        "address": address,
        "pets": {"type": "array", "title": "Pets", "items": {"type": "object", "properties": {
            "name": {"type": "string", "title": "Name"}}}},
        "anything": {"type": "object", "title": "Anything", "description": "Whatever else there is"},
        "kind": {"const": "fixed", "title": "Kind of form"},
    });
    json!({"type": "object", "properties": properties, "required": ["country", "kind"]})
}

#[tokio::test]
async fn the_rarer_kinds_of_fields() {
    let params = json!({"message": "Everything else.", "requestedSchema": kinds()});
    let run = asks(&params).at_browser();
    let chrome = Chrome::open().await;
    chrome.go(&run.url()).await;
    chrome.see("Everything else.").await;
    chrome.look("kinds").await;
    let secrets = chrome.client.find_all(Locator::Css("input[type=password]")).await.expect("inputs");
    secrets[0].send_keys("hush").await.expect("typed");
    secrets[1].send_keys("hash").await.expect("typed");
    chrome.fill("About you", "third\nfourth").await;
    // The list is narrowed down.
    chrome.find("//input[@data-filter='f2']").await.send_keys("country 42").await.expect("typed");
    chrome.see("1 of 60").await;
    chrome.choose("Country", "Country 42").await;
    chrome.find("//input[@data-filter='f3']").await.send_keys("59").await.expect("typed");
    chrome.choose("Visited", "Country 59").await;
    chrome.choose("Address", "Fill it in").await;
    chrome.fill("Street", "Long Lane").await;
    chrome.fill("Name", "Rex").await;
    chrome.press("Add an entry to Pets").await;
    chrome.see("Pets 2").await;
    assert_eq!(chrome.value("Name").await, "Rex");
    chrome.press("Review").await;
    chrome.see("the two do not match").await;
    chrome.look("kinds-wrong").await;
    let secrets = chrome.client.find_all(Locator::Css("input[type=password]")).await.expect("inputs");
    for secret in secrets {
        assert_eq!(secret.prop("value").await.expect("a value").unwrap_or_default(), "");
        secret.send_keys("hush").await.expect("typed");
    }
    chrome.press("Review").await;
    chrome.see("What s will receive").await;
    chrome.look("kinds-review").await;
    chrome.press("Send").await;
    chrome.see("Sent to s").await;
    let expected = json!({"password": "hush", "bio": "third\nfourth", "country": "Country 42", "visited": ["Country 59"],
        "address": {"street": "Long Lane"}, "pets": [{"name": "Rex"}], "kind": "fixed"});
    assert_eq!(run.end(0).reply("s", &json!(1))["content"], expected);
}

#[tokio::test]
async fn the_keyboard_is_enough() {
    let run = call("greet").at_browser();
    let chrome = Chrome::open().await;
    chrome.go(&run.url()).await;
    chrome.see("Welcome!").await;
    // Enter sends nothing and agrees to nothing before anything is focused.
    chrome.keys("\u{e007}").await;
    let (tab, space) = ("\u{e004}", " ");
    chrome.keys(&format!("{tab}Ada{tab}36{tab}\u{e013}{tab}{space}{tab}{tab}{tab}\u{e007}")).await;
    chrome.see("What forms will receive").await;
    chrome.see("Pro plan").await;
    chrome.see("Releases").await;
    // Four ways to change something come first, then Send.
    chrome.keys("\u{e007}").await;
    chrome.see("What forms will receive").await;
    chrome.find("//button[.='Send']").await;
    chrome.keys(&format!("{tab}{tab}{tab}{tab}{tab}\u{e007}")).await;
    chrome.see("Sent to forms").await;
    assert!(
        run.end(0).stdout.starts_with("Hello, Ada! You are 36. You are on the pro plan. You will hear about releases.")
    );
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
