//! A listing of one server, or of all of them at the same time, each with its own outcome.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use serde_json::{Map, Value, json};

use crate::commands::{
    context::Context,
    listing::{
        names::remember,
        one_or_all::{AllArgs, GrepArgs},
    },
    options::ServerArgs,
    server::{
        command_host::CommandHost,
        select::{ServerWord, all_servers},
    },
};
use crate::{
    client::{Client, ClientError, left_out},
    config::Config,
    error::Error,
    output::{Printer, table},
    protocol::{Tool, code},
    text::safe_line,
};

/// How long a slow server delays those after it in the configuration.
const IN_ORDER: Duration = Duration::from_secs(1);

/// The servers to list.
pub(crate) struct Picked {
    /// Their configuration.
    pub(crate) config: Config,
    /// Their names.
    pub(crate) names: Vec<String>,
}

impl Picked {
    /// The server that was named, or all that are enabled.
    ///
    /// # Errors
    /// If there is no such server, no configuration, or nobody agreed to start the servers.
    pub(crate) async fn new(
        server: Option<ServerWord>,
        context: &Context,
        args: &ServerArgs,
        trust: bool,
    ) -> anyhow::Result<Self> {
        let (config, names) = match server {
            Some(server) => {
                let (config, name) = server.ready(context, args).await?;
                (config, vec![name])
            }
            None => all_servers(context, trust).await?,
        };
        Ok(Self { config, names })
    }
}

/// The output of one server.
#[derive(Default)]
pub(crate) struct Shown {
    /// For programs.
    pub(crate) value: Value,
    /// For people.
    pub(crate) text: String,
    /// For `--grep`: the name and description of each match.
    pub(crate) found: Vec<[String; 2]>,
}

/// Asks all servers at the same time, and passes each outcome to `take`: in the order of `names`, unless a slow one
/// would delay the others.
///
/// # Errors
/// The errors of `take`.
pub(crate) async fn each<T>(
    names: &[String],
    ask: impl AsyncFn(&str) -> Result<T, Error>,
    mut take: impl FnMut(&str, Result<T, Error>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let ask = &ask;
    let run = |(index, name)| async move { (index, ask(name).await) };
    let mut running: FuturesUnordered<_> = names.iter().map(String::as_str).enumerate().map(run).collect();
    let mut pending: BTreeSet<usize> = (0..names.len()).collect();
    let mut ready = BTreeMap::new();
    let mut late = std::pin::pin!(tokio::time::sleep(IN_ORDER));
    let mut in_order = true;
    while !pending.is_empty() {
        tokio::select! {
            Some((index, outcome)) = running.next() => {
                pending.remove(&index);
                ready.insert(index, outcome);
            }
            () = &mut late, if in_order => in_order = false,
        }
        let first_pending = pending.first().copied().unwrap_or(usize::MAX);
        while let Some(entry) = ready.first_entry().filter(|entry| !in_order || *entry.key() < first_pending) {
            let (index, outcome) = entry.remove_entry();
            take(&names[index], outcome)?;
        }
    }
    Ok(())
}

/// A listing in progress: text is printed as it arrives, data at the end.
pub(crate) struct Listing<'a> {
    printer: &'a Printer,
    event: &'static str,
    alone: bool,
    greps: Option<&'a str>,
    /// Whether anything was found.
    found: bool,
    strict: bool,
    servers: Map<String, Value>,
    failed: Option<Error>,
    any: bool,
}

impl<'a> Listing<'a> {
    /// A listing of the servers `names`; `event` says what is listed.
    pub(crate) fn new(
        printer: &'a Printer,
        event: &'static str,
        names: &[String],
        all: &AllArgs,
        grep: &'a GrepArgs,
    ) -> Self {
        Self {
            printer,
            event,
            alone: names.len() == 1,
            greps: grep.grep.as_deref(),
            found: false,
            strict: all.strict,
            servers: Map::new(),
            failed: None,
            any: names.is_empty(),
        }
    }

    /// Adds the outcome of one server.
    ///
    /// # Errors
    /// If stdout cannot be written.
    pub(crate) fn take(&mut self, name: &str, outcome: Result<Shown, Error>) -> anyhow::Result<()> {
        let (value, text) = match outcome {
            Ok(shown) => {
                self.any = true;
                self.found |= !shown.found.is_empty();
                let nothing = || format!("no {}\n", self.event);
                let text = match (self.greps, self.alone) {
                    (Some(_), _) => lines(name, shown.found),
                    (None, true) => shown.text,
                    (None, false) if shown.text.is_empty() => format!("{}\n  {}", safe_line(name), nothing()),
                    (None, false) => format!("{}\n{}", safe_line(name), indented(&shown.text)),
                };
                // The tools listing prints a better message itself.
                if text.is_empty() && self.alone && self.greps.is_none() && self.event != "tools" {
                    self.printer.note(&format!("{} offers no {}", safe_line(name), self.event))?;
                }
                (shown.value, text)
            }
            Err(error) => {
                let report = self.printer.masked(&error.report());
                self.failed.get_or_insert(error);
                let text = if self.alone {
                    String::new()
                } else if self.greps.is_some() {
                    self.printer.warning(&report.message)?;
                    String::new()
                } else {
                    format!("{}\n  {}", safe_line(name), indented(&report.to_text(None)).trim_start())
                };
                (json!({"error": report.to_json()["error"].take()}), text)
            }
        };
        self.servers.insert(name.to_owned(), value);
        if self.printer.mode().is_text() && !text.is_empty() {
            if self.alone {
                self.printer.page(self.event, &Value::Null, || text)?;
            } else {
                self.printer.data(self.event, &Value::Null, || text)?;
            }
        }
        Ok(())
    }

    /// Prints the rest, ends the servers, and returns the outcome. `taken` is the outcome of the printing.
    ///
    /// # Errors
    /// The first server's [`Error`], if it was the only one, none answered, or `--strict` was given; that of a signal,
    /// or of an unanswered question.
    pub(crate) async fn finish(self, session: CommandHost, taken: anyhow::Result<()>) -> anyhow::Result<()> {
        let shown = taken.and_then(|()| self.conclude());
        let stopped = session.signals.error();
        let unanswered = session.close().await.unanswered;
        match (shown, stopped) {
            (Ok(()), Some(error)) => Err(error.into()),
            (Ok(()), None) if !unanswered.is_empty() => Err(Error::Unanswered(unanswered).into()),
            (shown, _) => shown,
        }
    }

    fn conclude(self) -> anyhow::Result<()> {
        match self.failed {
            Some(error) if self.alone => return Err(error.into()),
            _ if self.printer.mode().is_text() => {
                if let Some(word) = self.greps.filter(|_| !self.found && self.any) {
                    self.printer.note(&format!("no {} have {word:?} in their name or description", self.event))?;
                }
            }
            _ => self.printer.data(self.event, &json!({"servers": self.servers}), String::new)?,
        }
        match self.failed {
            Some(error) if self.strict || !self.any => Err(error.into()),
            _ => Ok(()),
        }
    }
}

fn lines(server: &str, found: Vec<[String; 2]>) -> String {
    let row = |[name, about]: [String; 2]| vec![format!("{} {name}", safe_line(server)), about];
    table(&found.into_iter().map(row).collect::<Vec<_>>(), "")
}

/// Indents every line.
pub(crate) fn indented(text: &str) -> String {
    text.lines().flat_map(|line| ["  ", line, "\n"]).collect()
}

/// Whether an entry of a listing has `word` in its name, title, URI or description, ignoring case.
pub(crate) fn mentions(entry: &Value, word: Option<&str>) -> bool {
    let Some(word) = word.map(str::to_lowercase) else { return true };
    let texts = ["name", "title", "uri", "uriTemplate", "description"].iter().filter_map(|key| entry[*key].as_str());
    texts.into_iter().any(|text| text.to_lowercase().contains(&word))
}

impl CommandHost {
    /// Remembers what `server` offers, for completions.
    pub(crate) fn remember(&self, server: &str, key: &str, entries: &[Value]) {
        if let Ok(config) = self.host.config().server(server) {
            remember(config, key, entries);
        }
    }

    /// Remembers the tools of `server`, for completions.
    pub(crate) fn remember_tools(&self, server: &str, tools: &[Tool]) {
        self.remember(server, "tools", &tools.iter().map(|tool| tool.raw.clone()).collect::<Vec<_>>());
    }

    /// A listing of `server`: empty if it does not declare `capability`, or does not know the method after all.
    ///
    /// # Errors
    /// If a page cannot be fetched.
    pub(crate) async fn list(
        &self,
        server: &str,
        client: &Client,
        (capability, method, key): (&str, &str, &str),
    ) -> Result<Vec<Value>, Error> {
        if !client.info().declares(capability) {
            return Ok(Vec::new());
        }
        let _waiting = self.wait_for_list(server);
        match client.list(method, key, &self.signals.stop).await {
            Err(ClientError::Rpc { error, .. }) if error.code == code::METHOD_NOT_FOUND => Ok(Vec::new()),
            listed => listed.map_err(|error| self.error(&server.into(), error)),
        }
    }

    /// The same, without the entries that have no text under `id`, by which they are asked for: those are warned of.
    ///
    /// # Errors
    /// As [`CommandHost::list`].
    pub(crate) async fn list_by(
        &self,
        id: &str,
        server: &str,
        client: &Client,
        listing: (&str, &str, &str),
    ) -> Result<Vec<Value>, Error> {
        let mut entries = self.list(server, client, listing).await?;
        let all = entries.len();
        entries.retain(|entry| entry[id].is_string());
        if let Some(words) = left_out(all - entries.len(), listing.1, id) {
            // A stderr that is gone holds no listing up.
            drop(self.printer.warning(&format!("{server}: {words}")));
        }
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_slow_server_holds_up_the_others_for_a_moment_only() {
        let names: Vec<String> = ["slow", "a", "hanging", "b"].map(str::to_owned).into();
        let start = tokio::time::Instant::now();
        let mut seen = Vec::new();
        let ask = async |name: &str| {
            let seconds = match name {
                "slow" => 3,
                "hanging" => 60,
                _ => 0,
            };
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            Ok(())
        };
        let take = |name: &str, _| {
            seen.push((name.to_owned(), start.elapsed().as_secs()));
            Ok(())
        };
        each(&names, ask, take).await.expect("taken");
        let expected = [("a", 1), ("b", 1), ("slow", 3), ("hanging", 60)];
        assert_eq!(seen, expected.map(|(name, seconds)| (name.to_owned(), seconds)));
    }

    #[tokio::test(start_paused = true)]
    async fn quick_servers_keep_their_order() {
        let names: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
        let mut seen = Vec::new();
        let ask = async |name: &str| {
            tokio::time::sleep(Duration::from_millis(if name == "a" { 500 } else { 10 })).await;
            Ok(())
        };
        each(&names, ask, |name, _| {
            seen.push(name.to_owned());
            Ok(())
        })
        .await
        .expect("taken");
        assert_eq!(seen, names);
    }

    #[test]
    fn entries_are_found_by_any_of_their_words() {
        let entry = json!({"name": "search_docs", "description": "Finds Pages"});
        assert!(mentions(&entry, Some("PAGES")) && mentions(&entry, Some("search")) && mentions(&entry, None));
        assert!(!mentions(&entry, Some("image")));
    }
}
