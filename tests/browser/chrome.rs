//! Chromium without a window, used like a person does: by the words on the page, and by keys.

use std::{
    env,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use fantoccini::{
    Client, ClientBuilder, Locator,
    actions::{InputSource as _, KeyAction, KeyActions},
    elements::Element,
    wd::{TimeoutConfiguration, WebDriverCompatibleCommand},
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// How long to wait for anything.
const LIMIT: Duration = Duration::from_secs(90);

/// A browser with its own profile.
pub(crate) struct Chrome {
    pub(crate) client: Client,
    driver: Child,
    port: u16,
    session: String,
    /// Whether pages may run scripts.
    has_script: bool,
    _profile: TempDir,
}

/// A command of the DevTools protocol.
#[derive(Debug)]
struct Own(Value);

impl WebDriverCompatibleCommand for Own {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/goog/cdp/execute", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(self.0.to_string()))
    }
}

impl Chrome {
    /// A new browser.
    pub(crate) async fn open() -> Self {
        Self::start(true).await
    }

    /// A new browser in which no page runs a script.
    pub(crate) async fn without_script() -> Self {
        Self::start(false).await
    }

    async fn start(has_script: bool) -> Self {
        let profile = tempfile::tempdir().expect("a folder");
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("\n\n    CHROMEDRIVER IS MISSING: run tests/browser/run\n\n");
        let lines = BufReader::new(driver.stdout.take().expect("stdout")).lines();
        let port = lines
            .map_while(Result::ok)
            .find_map(|line| line.split_once("successfully on port ")?.1.trim_end_matches('.').parse().ok())
            .expect("chromedriver says its port");
        let folder = format!("--user-data-dir={}", profile.path().display());
        let mut args = vec!["--headless=new", "--disable-gpu", "--disable-quic", "--no-first-run", "--lang=en-US"];
        args.extend(["--disable-background-networking", "--disable-component-update", "--disable-sync", &folder]);
        args.extend(["--window-size=1100,1000", "--force-device-scale-factor=1", "--disable-dev-shm-usage"]);
        if nix::unistd::geteuid().is_root() {
            args.push("--no-sandbox");
        }
        let javascript = if has_script { 1 } else { 2 };
        let options =
            json!({"args": args, "prefs": {"profile.managed_default_content_settings.javascript": javascript}});
        let capabilities = json!({"browserName": "chrome", "goog:chromeOptions": options});
        let Value::Object(capabilities) = capabilities else { panic!("an object") };
        let client = ClientBuilder::new(hyper_util::client::legacy::connect::HttpConnector::new())
            .capabilities(capabilities)
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .expect("Chromium starts");
        let session = client.session_id().await.expect("a session").expect("a session");
        let waits = TimeoutConfiguration::new(Some(LIMIT), Some(LIMIT), None);
        client.update_timeouts(waits).await.expect("timeouts");
        Self { client, driver, port, session, has_script, _profile: profile }
    }

    pub(crate) async fn go(&self, url: &str) {
        self.client.goto(url).await.expect("the page opens");
    }

    /// Opens another tab, and switches to it.
    pub(crate) async fn new_tab(&self) {
        let tab = self.client.new_window(true).await.expect("a tab");
        self.client.switch_to_window(tab.handle).await.expect("the tab");
    }

    /// Switches to the tab with this number, in the order in which they were opened.
    pub(crate) async fn turn_to(&self, number: usize) {
        let tabs = self.client.windows().await.expect("tabs");
        self.client.switch_to_window(tabs[number].clone()).await.expect("the tab");
    }

    /// The text on the page.
    pub(crate) async fn text(&self) -> String {
        match self.client.find(Locator::Css("body")).await {
            Ok(body) => body.text().await.unwrap_or_default(),
            Err(_) => String::new(),
        }
    }

    /// Waits until these words are on the page.
    #[track_caller]
    pub(crate) fn see<'a>(&'a self, words: &'a str) -> impl Future<Output = ()> + 'a {
        let place = std::panic::Location::caller();
        async move {
            let begin = Instant::now();
            loop {
                let text = self.text().await;
                if text.contains(words) {
                    return;
                }
                assert!(begin.elapsed() < LIMIT, "{place}: {words:?} does not come; there is\n{text}");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }

    /// The first usable element for this XPath, once there is one.
    #[track_caller]
    pub(crate) fn find<'a>(&'a self, path: &'a str) -> impl Future<Output = Element> + 'a {
        let place = std::panic::Location::caller();
        async move {
            let begin = Instant::now();
            loop {
                for element in self.client.find_all(Locator::XPath(path)).await.unwrap_or_default() {
                    if element.is_displayed().await.unwrap_or(false) {
                        return element;
                    }
                }
                assert!(begin.elapsed() < LIMIT, "{place}: there is no {path} in\n{}", self.text().await);
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }

    /// Presses the button or link with this text.
    pub(crate) async fn press(&self, words: &str) {
        let path = format!("//*[(self::button or self::a) and not(@aria-hidden) and normalize-space()={words:?}]");
        self.find(&path).await.click().await.expect("it can be pressed");
    }

    /// Types into the input with this label, replacing its content.
    pub(crate) async fn fill(&self, label: &str, text: &str) {
        let input = self.input(label).await;
        // Date inputs cannot be cleared like this.
        if input.attr("type").await.ok().flatten().is_none_or(|kind| !kind.starts_with("date")) {
            input.clear().await.expect("it can be emptied");
        }
        input.send_keys(text).await.expect("it can be typed into");
    }

    pub(crate) async fn input(&self, label: &str) -> Element {
        let name = format!("//label[.//span[contains(@class, 'name') and normalize-space()={label:?}]]");
        self.find(&format!("//*[@id={name}/@for]")).await
    }

    /// Chooses an option of the group or list with this name.
    pub(crate) async fn choose(&self, group: &str, option: &str) {
        let name = format!("[.//span[contains(@class, 'name') and normalize-space()={group:?}]]");
        let radio = format!("//fieldset[legend{name}]//label[.//span[normalize-space()={option:?}]]");
        let listed = format!("//select[@id=//label{name}/@for]/option[normalize-space()={option:?}]");
        self.find(&format!("{radio} | {listed}")).await.click().await.expect("it can be chosen");
    }

    /// The value of the input with this label.
    pub(crate) async fn value(&self, label: &str) -> String {
        self.input(label).await.prop("value").await.expect("a value").unwrap_or_default()
    }

    /// Presses keys, wherever the focus is.
    pub(crate) async fn keys(&self, keys: &str) {
        let mut actions = KeyActions::new("keys".to_owned());
        for value in keys.chars() {
            actions = actions.then(KeyAction::Down { value }).then(KeyAction::Up { value });
        }
        self.client.perform_actions(actions).await.expect("keys are pressed");
    }

    /// A command of the DevTools protocol.
    pub(crate) async fn own(&self, command: &str, params: Value) -> Value {
        let command = Own(json!({"cmd": command, "params": params}));
        self.client.issue_cmd(command).await.expect("Chromium does it")
    }

    /// Whether scripts of pages run.
    pub(crate) fn has_script(&self) -> bool {
        self.has_script
    }
}

impl Drop for Chrome {
    fn drop(&mut self) {
        // Chromium ends with its session, not with chromedriver.
        if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) {
            let head = format!("DELETE /session/{} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n", self.session, self.port);
            let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
            let _ = write!(stream, "{head}Connection: close\r\n\r\n");
            // The answer arrives when it has ended.
            let _ = stream.read(&mut [0; 1024]);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// A file that `tests/browser/run` has installed. Fails loudly if it is missing.
pub(crate) fn tool(path: &str) -> PathBuf {
    let folder = env::var("TOOLNEXUS_BROWSER_TOOLS").unwrap_or_else(|_| "target/browser".to_owned());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join("node_modules").join(path);
    assert!(path.exists(), "\n\n    {} IS MISSING: run tests/browser/run\n\n", path.display());
    path
}
