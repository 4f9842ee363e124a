//! A whole sign-in in the browser: at oidc-provider, with its login and consent pages, protecting server-everything.

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use tempfile::TempDir;

use super::{
    chrome::Chrome,
    harness::{Run, Test, pages, until, wait},
};

/// The two servers, and the home folder of somebody with an account there.
struct World {
    node: Child,
    base: String,
    home: TempDir,
}

impl World {
    fn start() -> Self {
        let folder = env::var_os("TOOLNEXUS_OIDC")
            .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target/oidc"), PathBuf::from);
        let node = folder.join("node_modules/node/bin/node");
        assert!(node.exists(), "\n\n    {} IS MISSING: run tests/browser/run\n\n", node.display());
        let mut node = Command::new(node)
            .arg(folder.join("world.mjs"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("node starts");
        let mut base = String::new();
        BufReader::new(node.stdout.take().expect("stdout")).read_line(&mut base).expect("an address");
        let home = tempfile::tempdir().expect("a folder");
        let opened = home.path().join("opened");
        let script = format!("printf '%s' \"$1\" > '{0}.new'\nmv '{0}.new' '{0}'\n", opened.display());
        fs::write(home.path().join("browser"), script).expect("written");
        Self { node, base: base.trim().to_owned(), home }
    }

    fn test(&self, words: &[&str]) -> Test {
        let home = self.home.path().to_str().expect("a path");
        let url = format!("{}/mcp", self.base);
        let words = words.iter().map(|word| if *word == "URL" { url.as_str() } else { word });
        Test::new().env("HOME", home).env("BROWSER", &format!("sh {home}/browser")).args(words)
    }

    /// The link with which the browser was started.
    fn opened(&self) -> String {
        let path = self.home.path().join("opened");
        until("the browser is started", || path.exists());
        let link = fs::read_to_string(&path).expect("a link");
        fs::remove_file(path).expect("removed");
        link
    }

    fn start_run(&self, words: &[&str]) -> (Child, Test) {
        let test = self.test(words);
        let child = test.command().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        (child.expect("the program starts"), test)
    }

    /// The authorization server's counters, and whether its last token is still valid.
    fn counts(&self) -> serde_json::Value {
        let (_, body) = pages::request(&format!("{}/counts", self.base), "GET", &[("Connection", "close")], "");
        let start = body.find('{').expect("an object");
        let end = body.rfind('}').expect("an object");
        serde_json::from_str(&body[start..=end]).expect("JSON")
    }

    fn count(&self, what: &str) -> u64 {
        self.counts()[what].as_u64().expect("a count")
    }

    /// Sets how many seconds tokens live that are issued from now on.
    fn set_life(&self, seconds: u64) {
        pages::request(&format!("{}/life/{seconds}", self.base), "GET", &[("Connection", "close")], "");
    }

    fn kept(&self) -> PathBuf {
        self.home.path().join(".local/share/toolnexus/sign-ins.json")
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // It ends its own children when its input ends.
        drop(self.node.stdin.take());
        let _ = self.node.wait();
    }
}

#[track_caller]
fn ended((child, _test): (Child, Test), status: i32) -> Run {
    let run = wait(child, Duration::from_secs(240));
    assert_eq!(run.status, Some(status), "{}\n{}", run.stdout, run.stderr);
    run
}

/// Fills in the login page.
async fn log_in(chrome: &Chrome) {
    chrome.find("//input[@name='login']").await.send_keys("ada").await.expect("typed");
    chrome.find("//input[@name='password']").await.send_keys("ada").await.expect("typed");
    chrome.press("Sign-in").await;
}

const SUM: [&str; 5] = ["call", "URL", "get-sum", "a=2", "b=3"];

#[tokio::test]
async fn from_the_first_sign_in_to_the_last() {
    let world = World::start();
    let chrome = Chrome::open().await;
    world.test(&["call", "URL", "echo", "message=hi"]).status(5).run();

    let login = world.start_run(&["login", "URL", "--timeout", "240"]);
    chrome.go(&world.opened()).await;
    log_in(&chrome).await;
    chrome.press("Continue").await;
    chrome.see("Signed in to 127.0.0.1").await;
    chrome.look("signed-in").await;
    assert!(ended(login, 0).stdout.contains("signed in to 127.0.0.1: "));
    world.test(&["call", "URL", "echo", "message=hi"]).stdout_contains("Echo: hi").run();

    // More scopes are needed, for a short time. A person who is logged in there only has to consent.
    world.test(&SUM).status(5).stderr_contains("--scope write").run();
    world.set_life(3);
    let login = world.start_run(&["login", "URL", "--scope", "write", "--timeout", "240"]);
    chrome.go(&world.opened()).await;
    chrome.press("Continue").await;
    chrome.see("Signed in to 127.0.0.1").await;
    ended(login, 0);
    world.test(&SUM).stdout_contains("5").run();

    // The token expires, and two processes need a new one.
    until("the token ends", || world.counts()["alive"] == false);
    world.set_life(3600);
    let before = world.count("refreshed");
    let calls = [world.start_run(&SUM), world.start_run(&SUM)];
    for call in calls {
        assert!(ended(call, 0).stdout.contains('5'));
    }
    assert_eq!(world.count("refreshed") - before, 1);

    // Signing out revokes the tokens for everybody who copied them.
    let stolen = world.home.path().join("stolen");
    fs::copy(world.kept(), &stolen).expect("copied");
    world.test(&["logout", "URL"]).stdout_contains("and its tokens are revoked").run();
    assert!(world.count("revoked") >= 1);
    world.test(&["login", "URL", "--status"]).status(5).run();
    fs::copy(&stolen, world.kept()).expect("copied");
    world.test(&["call", "URL", "echo", "message=hi"]).status(5).run();
}

#[tokio::test]
async fn who_cancels_there_is_not_signed_in() {
    let world = World::start();
    let chrome = Chrome::open().await;
    let login = world.start_run(&["login", "URL", "--timeout", "240"]);
    chrome.go(&world.opened()).await;
    chrome.press("[ Cancel ]").await;
    chrome.see("Not signed in to 127.0.0.1").await;
    chrome.look("not-signed-in").await;
    let run = ended(login, 5);
    assert!(run.stderr.contains("access_denied"), "{}", run.stderr);
    assert!(!world.kept().exists() || !fs::read_to_string(world.kept()).expect("read").contains("accessToken\": \""));
}

#[tokio::test]
async fn a_call_at_a_terminal_waits_for_the_sign_in_and_goes_on() {
    let world = World::start();
    let chrome = Chrome::open().await;
    let person = world.test(&["call", "URL", "echo", "message=hi"]).at_terminal(30, 100);
    person.see("asks you to sign in").see("  Open it in the browser").send("\x1b[B").send("\r");
    chrome.go(&world.opened()).await;
    log_in(&chrome).await;
    chrome.press("Continue").await;
    chrome.see("Signed in to 127.0.0.1").await;
    person.see("Echo: hi");
    person.end(0);
}

#[tokio::test]
async fn a_call_without_a_terminal_asks_to_sign_in_on_the_page_of_questions() {
    let world = World::start();
    let chrome = Chrome::open().await;
    let run = world.test(&["call", "URL", "echo", "message=hi", "--elicit", "browser", "--no-browser"]).at_browser();
    chrome.go(&run.url()).await;
    chrome.see("asks you to sign in").await;
    chrome.see("127.0.0.1 is not told").await;
    assert!(!chrome.text().await.contains("you agreed"));
    chrome.look("sign-in").await;
    chrome.press("Open 127.0.0.1").await;
    chrome.see("Continue in the other tab").await;
    chrome.look("sign-in-opened").await;
    chrome.turn_to(1).await;
    log_in(&chrome).await;
    chrome.press("Continue").await;
    chrome.see("Signed in to 127.0.0.1").await;
    chrome.turn_to(0).await;
    chrome.see("The other tab says how the sign-in ended").await;
    assert!(run.end(0).stdout.contains("Echo: hi"));
}
