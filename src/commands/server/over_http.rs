//! HTTP in commands: sign-ins in their output, a person at a browser, the demo server on a port.

use std::{net::Ipv4Addr, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::commands::{
    doctor::surroundings::Around,
    login::{to_json, words},
    options::QuestionArgs,
    server::command_host::sign_ins_folder,
};
pub(crate) use crate::resolver::Browser;
use crate::{
    auth::{Store, StoredSignIn},
    config::{ServerConfig, ServerEntry},
    demo,
    error::Error,
    output::Printer,
    resolver::{BrowserNotice, BrowserOptions, BrowserSink},
    system::host_name,
    transport::{Endpoint, HttpEndpoint, proxy_of},
};

/// How long a person at a browser has, unless an option says otherwise.
const BROWSER_LIMIT: Duration = Duration::from_secs(1800);

/// Checks the surroundings of a server at a web address.
pub(crate) fn surroundings(server: &ServerConfig, http: &HttpEndpoint) -> Vec<Around> {
    let proxy = proxy_of(&http.url).map(|words| Ok(("proxy", words.clone(), json!({"through": words}))));
    proxy.into_iter().chain(exposed(http)).chain([sign_in(server, http)]).collect()
}

/// The warning that others can read the messages.
fn exposed(http: &HttpEndpoint) -> Vec<Around> {
    let is_loopback = http.url.host_str().is_some_and(|host| matches!(host, "localhost" | "127.0.0.1" | "[::1]"));
    let plain = (http.url.scheme() == "http" && !is_loopback)
        .then(|| Err("the address is plain http, so others on the network can read the messages".to_owned()));
    let insecure = http.insecure.then(|| Err("`insecure` is set, so the server's identity is not checked".to_owned()));
    plain.into_iter().chain(insecure).collect()
}

/// How requests are authorized: no value of it is shown.
fn sign_in(server: &ServerConfig, http: &HttpEndpoint) -> Around {
    let say = |how: &str, data: Value| Ok(("sign-in", how.to_owned(), data));
    if let Some(program) = &server.auth.program {
        let name = program.words.first().cloned().unwrap_or_default();
        return say(&format!("by the program {name}"), json!({"by": "program"}));
    }
    if http.has_authorization() {
        return say("the Authorization header of the configuration", json!({"by": "header"}));
    }
    let store = sign_ins_folder().map(Store::new);
    let known = store.map(|store| store.find(http.url.as_str())).transpose();
    match known.map(Option::flatten) {
        Ok(Some(known)) => Ok(("sign-in", words(&known), to_json(&known))),
        Ok(None) if server.auth.oauth.is_own_account => {
            say("with its own account", json!({"by": "client_credentials"}))
        }
        Ok(None) => say("you are not signed in", Value::Null),
        Err(error) => Err(error.to_string()),
    }
}

/// The stored sign-ins.
pub(crate) struct SignIns(Vec<StoredSignIn>);

impl SignIns {
    /// Reads them. Errors are reported where a sign-in is needed.
    pub(crate) fn read() -> Self {
        let stores = sign_ins_folder().map(Store::everywhere).unwrap_or_default();
        Self(stores.iter().filter_map(|store| store.all().ok()).flatten().collect())
    }

    /// The sign-in to the entry's server, in words and as data.
    pub(crate) fn of(&self, entry: &ServerEntry) -> Option<(String, Value)> {
        let Ok(Endpoint::Http(http)) = entry.server.as_ref().map(|server| &server.endpoint) else { return None };
        let known = self.0.iter().find(|known| http.url.as_str() == known.url)?;
        Some((words(known), to_json(known)))
    }
}

/// A person at a browser; the address is printed on standard error.
#[expect(clippy::unnecessary_wraps, reason = "a build without pages always fails")]
pub(crate) fn browser(args: &QuestionArgs, printer: &Arc<Printer>) -> anyhow::Result<Browser> {
    let printer = Arc::clone(printer);
    let sink: BrowserSink = Arc::new(move |notice| {
        let printed = match notice {
            BrowserNotice::Waits(question, url) => {
                #[cfg(feature = "notify")]
                if printer.verbosity() > crate::output::Verbosity::Quiet {
                    let server = crate::text::safe_name(question.origin.server.as_str());
                    crate::terminal::show_notification(&server);
                }
                let is_remote = std::env::var_os("SSH_CONNECTION").is_some();
                let host = is_remote.then(host_name).flatten();
                printer.waits_in_browser(&question.origin.server, url, host.as_deref())
            }
            BrowserNotice::NotStarted(why) => {
                printer.warning(&format!("the browser did not start ({why}); open the address above yourself"))
            }
        };
        // If stdout is gone, that is reported when the result cannot be written.
        drop(printed);
    });
    let limit = args.elicit_timeout.unwrap_or(BROWSER_LIMIT);
    Ok(Browser::new(BrowserOptions { sink, starts: !args.no_browser, limit }))
}

/// Serves the demo server on `port` of this machine until the program ends.
///
/// # Errors
/// If the port is taken.
pub(crate) async fn serve_demo(port: u16, printer: &Printer) -> anyhow::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
    let listener = listener.map_err(|error| Error::Io(format!("port {port} cannot be used: {error}")))?;
    printer.line(&format!("serving http://{}/mcp", listener.local_addr()?));
    Ok(demo::serve_http(listener, || Arc::new(demo::DemoSession::default())).await?)
}
