//! `toolnexus login`: sign in to a server.

use std::{sync::Arc, time::Duration};

use clap::Args;
use futures_util::{FutureExt as _, future::BoxFuture};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    context::Context,
    options::ServerArgs,
    server::{
        command_host::{CommandHost, sign_ins_folder},
        questions::Questions,
        select::Selected,
    },
};
use crate::{
    auth::{SignInOptions, Store, StoredSignIn},
    client::{ClientError, Unauthorized},
    elicitation::{Answer, Outcome, Question, QuestionBody, Resolver, Why},
    error::Error,
    output::Printer,
    resolver::Person,
    terminal::Terminal,
    text::{safe_line, with_causes},
    transport::Endpoint,
};

/// What `login` takes.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  toolnexus login https://mcp.example.com/mcp
  toolnexus login calendar --scope 'events:read events:write'
  toolnexus login calendar --device        sign in on another device, with a code
  toolnexus login calendar --status        exit code 0 when signed in, else 5")]
pub struct LoginArgs {
    /// The server: a name in the configuration, or a URL
    #[arg(value_name = "SERVER")]
    pub server: String,
    /// Ask for these scopes as well as those that the server names
    #[arg(long = "scope", value_name = "SCOPES")]
    pub scopes: Vec<String>,
    /// Sign in on another device with a code
    #[arg(long)]
    pub device: bool,
    /// Show the address, but do not open it in a browser
    #[arg(long)]
    pub no_browser: bool,
    /// Sign in again, even if you are signed in
    #[arg(long)]
    pub again: bool,
    /// Only show whether you are signed in
    #[arg(long, conflicts_with_all = ["scopes", "device", "no_browser", "again"])]
    pub status: bool,
    /// Options for the server.
    #[command(flatten)]
    pub options: ServerArgs,
}

/// Signs in.
///
/// # Errors
/// [`Error`]: exit code 5 if nobody is signed in afterwards.
pub async fn run(args: LoginArgs, context: &Context) -> anyhow::Result<()> {
    let printer = &context.printer;
    let Selected { server, .. } = Selected::new(vec![args.server.clone()], Vec::new());
    // There is exactly one word.
    let Some(server) = server else { return Err(Error::usage("SERVER is missing").into()) };
    let (config, name) = server.ready(context, &args.options).await?;
    let Endpoint::Http(http) = config.server(&name)?.endpoint.clone() else {
        return Err(
            Error::usage(format!("{name} is a local program; you can sign in only to servers with a URL")).into()
        );
    };
    if http.has_authorization() {
        let message =
            format!("{name} has an Authorization header in its configuration, which is used instead of a sign-in");
        return Err(Error::usage(message).into());
    }
    let folder = sign_ins_folder()
        .ok_or_else(|| Error::SignIns("there is no folder for your data: set HOME or XDG_DATA_HOME".to_owned()))?;
    let store = Store::new(folder).at(config.server(&name)?.auth.oauth.token_store);
    let find =
        || store.find(http.url.as_str()).map_err(|error| unauthorized(&name, &args.server, &with_causes(&error)));
    if args.status {
        return match find()?.filter(|known| known.is_fresh() || known.can_renew()) {
            Some(known) => show(printer, &name, &known, "signed in"),
            None => Err(unauthorized(&name, &args.server, "you are not signed in").into()),
        };
    }
    let scopes: Vec<String> =
        args.scopes.iter().flat_map(|scopes| scopes.split_ascii_whitespace()).map(str::to_owned).collect();
    let before = find()?;
    let has_scopes = before.as_ref().is_some_and(|known| scopes.iter().all(|scope| known.requested.contains(scope)));
    let terminal = Terminal::open(false);
    let person: Arc<dyn Resolver> = match terminal {
        Some(terminal) => Arc::new(Person::new(terminal, !args.no_browser)),
        None => Arc::new(Unattended { printer: Arc::clone(printer), browser: !args.no_browser }),
    };
    let questions = Questions::for_login(SignInOptions {
        person: Some(person),
        scopes,
        again: args.again || !has_scopes,
        device: args.device,
        patience: args.options.timeout.unwrap_or(PATIENCE),
    });
    let session = CommandHost::new(config, &args.options, &questions, None, context)?;
    let asked = async {
        let client = session.connect(&name).await?;
        // Some servers require a sign-in only for requests after the opening.
        let listed = client.list_tools(&session.signals.stop).await;
        listed.map(drop).map_err(|error| session.error(&name.as_str().into(), error))
    }
    .await;
    session.close().await;
    let after = find()?;
    // Other failures after the sign-in do not matter here.
    if let Err(error) = asked
        && (after.is_none() || after == before || error.exit() == 5)
    {
        return Err(error.into());
    }
    match after {
        Some(known) if Some(&known) == before.as_ref() => show(printer, &name, &known, "already signed in"),
        Some(known) => show(printer, &name, &known, "signed in"),
        None => {
            printer.data("login", &json!({"server": name, "signedIn": false}), || {
                format!("{} does not need a sign-in\n", safe_line(&name))
            })?;
            Ok(())
        }
    }
}

/// How long a person may take to sign in.
const PATIENCE: Duration = Duration::from_secs(300);

fn unauthorized(name: &str, word: &str, reason: &str) -> Error {
    let refused = Unauthorized { reason: reason.to_owned(), login: Some(word.to_owned()), ..Unauthorized::default() };
    Error::Client { server: name.into(), error: Box::new(ClientError::Unauthorized(refused)) }
}

fn show(printer: &Printer, name: &str, known: &StoredSignIn, how: &str) -> anyhow::Result<()> {
    let mut value = json!({"server": name, "signedIn": true});
    if let (Value::Object(value), Value::Object(rest)) = (&mut value, to_json(known)) {
        value.extend(rest);
    }
    printer.data("login", &value, || format!("{how} to {}: {}\n", safe_line(name), words(known)))?;
    Ok(())
}

/// A sign-in as data: who issued it, for what, until when. Contains no secret.
pub(super) fn to_json(known: &StoredSignIn) -> Value {
    json!({
        "url": known.url, "resource": known.resource, "issuer": known.issuer, "scopes": known.scopes,
        "expiresAt": until(known), "renewable": known.can_renew(),
    })
}

/// The same in words.
pub(super) fn words(known: &StoredSignIn) -> String {
    let scopes = if known.scopes.is_empty() { "no scopes".to_owned() } else { known.scopes.join(", ") };
    let end = match until(known) {
        _ if known.can_renew() => "renewed automatically".to_owned(),
        Some(at) => format!("until {at}"),
        None => "no expiry".to_owned(),
    };
    safe_line(&format!("{scopes}; at {}; {end}", known.issuer)).into_owned()
}

fn until(known: &StoredSignIn) -> Option<String> {
    let at = i64::try_from(known.expires_at?).ok()?;
    jiff::Timestamp::from_second(at).ok().map(|at| at.to_string())
}

/// A sign-in without a terminal: running the command was the consent. The address is printed, and the browser is
/// started.
struct Unattended {
    printer: Arc<Printer>,
    browser: bool,
}

impl Resolver for Unattended {
    fn claim(&self, question: Arc<Question>, _stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        let id = question.request.id.clone();
        let outcome = match question.body() {
            // Nobody can paste anything.
            QuestionBody::Form(_) => Outcome::Pass,
            QuestionBody::Refused(error) => Outcome::Unanswerable(Why::new(error.to_string())),
            QuestionBody::Link(link) => {
                self.printer.sign_in(&question.origin.server, &question.request.prompt, link);
                if self.browser {
                    let (printer, link) = (Arc::clone(&self.printer), Arc::clone(link));
                    // Starting a browser may take long, and the answer may arrive before it has started.
                    std::thread::spawn(move || {
                        if let Err(error) = webbrowser::open(&link.url) {
                            drop(printer.warning(&format!("the browser did not start: {error}")));
                        }
                    });
                }
                Outcome::Answered(Answer::accept(&id, None))
            }
        };
        std::future::ready(outcome).boxed()
    }
}
