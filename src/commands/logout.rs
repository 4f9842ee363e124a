//! `toolnexus logout`: sign out of a server, or of all of them.

use clap::Args;
use serde_json::json;

use super::{
    context::Context,
    options::ServerArgs,
    server::{command_host::sign_ins_folder, select::Selected},
};
use crate::{
    auth::{AuthError, Store, sign_out},
    config::{Environment, OAuth},
    error::Error,
    text::{safe_line, with_causes},
    transport::{Endpoint, HttpEndpoint},
};

/// What `logout` takes.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  toolnexus logout calendar
  toolnexus logout          sign out of every server")]
pub struct LogoutArgs {
    /// The server: a name in the configuration, or a URL [default: every server]
    #[arg(value_name = "SERVER")]
    pub server: Option<String>,
}

/// Signs out: the tokens are revoked if possible, and forgotten in any case.
///
/// # Errors
/// [`Error`], if the stored tokens cannot be used.
pub async fn run(args: &LogoutArgs, context: &Context) -> anyhow::Result<()> {
    let (global, printer) = (&context.global, &context.printer);
    let folder = sign_ins_folder()
        .ok_or_else(|| Error::SignIns("there is no folder for your data: set HOME or XDG_DATA_HOME".to_owned()))?;
    let failed = |error: AuthError| {
        let message = format!("you are not signed out: {}", with_causes(&error));
        if matches!(error, AuthError::Store(_)) { Error::SignIns(message) } else { Error::Io(message) }
    };
    let targets = if let Some(word) = &args.server {
        let Selected { server, .. } = Selected::new(vec![word.clone()], Vec::new());
        let Some(server) = server else { return Err(Error::usage("SERVER is empty").into()) };
        let (config, name) = server.config(global, &ServerArgs::default())?;
        let config = config.server(&name)?.clone();
        let Endpoint::Http(http) = config.endpoint else {
            return Err(
                Error::usage(format!("{name} is a local program; you can sign in only to servers with a URL")).into()
            );
        };
        let store = Store::new(folder).at(config.auth.oauth.token_store);
        vec![(store, http.url.to_string(), Some(http), config.auth.oauth)]
    } else {
        let configured = configured(context);
        let mut all = Vec::new();
        for store in Store::everywhere(folder) {
            let known = store.all().map_err(|error| failed(error.into()))?;
            all.extend(known.into_iter().map(|known| {
                let found = configured.iter().find(|(endpoint, _)| endpoint.url.as_str() == known.url).cloned();
                let (endpoint, oauth) =
                    found.map_or_else(Default::default, |(endpoint, oauth)| (Some(endpoint), oauth));
                (store.clone(), known.url, endpoint, oauth)
            }));
        }
        all
    };
    let mut out = Vec::new();
    for (store, url, endpoint, oauth) in targets {
        let Some(signed_out) = sign_out(&store, &url, endpoint.as_ref(), &oauth).await.map_err(failed)? else {
            continue;
        };
        if let Some(Err(error)) = &signed_out.revoked {
            printer.warning(&format!(
                "the tokens for {} are deleted here, but could not be revoked: {}",
                signed_out.url,
                with_causes(error)
            ))?;
        }
        out.push((signed_out.url, matches!(signed_out.revoked, Some(Ok(())))));
    }
    let value: Vec<_> = out.iter().map(|(url, revoked)| json!({"url": url, "revoked": revoked})).collect();
    printer.data("logout", &json!({"signedOut": value}), || {
        if out.is_empty() {
            return "you were not signed in\n".to_owned();
        }
        let line = |(url, revoked): &(String, bool)| {
            let how = if *revoked { ", and its tokens are revoked" } else { "" };
            format!("signed out of {}{how}\n", safe_line(url))
        };
        out.iter().map(line).collect()
    })?;
    Ok(())
}

/// The configured servers at web addresses: their client credentials are needed to revoke tokens. An error in the
/// configuration must not keep anybody signed in.
fn configured(context: &Context) -> Vec<(HttpEndpoint, OAuth)> {
    let config = context.config(&Environment::current()).unwrap_or_default();
    let servers = config.servers.into_iter().filter_map(|entry| entry.server.ok());
    let remote = servers.filter_map(|server| match server.endpoint {
        Endpoint::Http(http) => Some((http, server.auth.oauth)),
        Endpoint::Stdio(_) => None,
    });
    remote.collect()
}
