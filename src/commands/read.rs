//! `toolnexus read`: reads a resource.

use std::{
    collections::HashMap,
    io::Write as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context as _;
use clap::Args;
use serde_json::{Map, Value, json};
use tokio::sync::Notify;

use super::{
    context::Context,
    options::{QuestionArgs, ServerArgs},
    resources,
    server::{
        command_host::Ear,
        one_server::{OneServer, Opening, text_pairs},
        select::Selected,
    },
};
use crate::{
    client::{Notice, NoticeKind},
    config::near_misses,
    error::Error,
    files::PrivateFile,
    output::Printer,
    protocol::{ResourceBody, ResourceContents, UriTemplate},
};

/// What `read` takes.
#[derive(Args, Debug)]
#[command(
    override_usage = "toolnexus read [OPTIONS] SERVER URI [ARG]...\n       \
                      toolnexus read [OPTIONS] URI [ARG]... -- COMMAND...",
    after_help = "URI can also be a template, with its variables as ARGs (key=text), or the name of a resource or template.
The content is written to stdout unchanged; binary content is not written to a terminal.

Examples:
  toolnexus read forms demo://readme
  toolnexus read forms demo://notes/{day} day=monday
  toolnexus read forms demo://logo.png > logo.png
  toolnexus read forms demo://clock --watch"
)]
pub struct ReadArgs {
    /// The server, the resource, and a template's variables
    #[arg(value_name = "SERVER URI [ARG]", hide = true)]
    pub words: Vec<String>,
    /// A server to start instead of SERVER: everything after `--`
    #[arg(last = true, value_name = "COMMAND", hide = true)]
    pub command: Vec<String>,
    /// Write the resource to this file instead of stdout
    #[arg(long, value_name = "FILE")]
    pub to: Option<PathBuf>,
    /// Read it again each time the server says that it has changed
    #[arg(long)]
    pub watch: bool,
    /// Options for the server.
    #[command(flatten)]
    pub server: ServerArgs,
    /// Options for answering questions.
    #[command(flatten)]
    pub questions: QuestionArgs,
}

/// Reads the resource and prints it.
///
/// # Errors
/// [`Error`].
pub async fn run(args: ReadArgs, context: &Context) -> anyhow::Result<()> {
    let printer = &context.printer;
    let Selected { server, mut rest } = Selected::new(args.words, args.command);
    let (Some(server), false) = (server, rest.is_empty()) else {
        return Err(Error::Usage {
            message: "SERVER or URI is missing".to_owned(),
            hint: Some("toolnexus read SERVER URI; `toolnexus resources` lists the URIs".to_owned()),
        }
        .into());
    };
    if let Some(path) = &args.to {
        let refused = |error| Error::usage(format!("{} cannot be written: {error}", path.display()));
        PrivateFile::new(path).map_err(refused)?;
    }
    let word = rest.remove(0);
    let variables = text_pairs(&rest)?;
    let changed = Arc::new(Notify::new());
    let ear = args.watch.then(|| ear(&changed));
    let opening = Opening { server, context, args: &args.server, questions: &args.questions, ear, level: None };
    opening
        .run(async |one| {
            let uri = uri(one, &word, &variables).await?;
            let to = args.to.as_deref();
            if !args.watch {
                return read(one, &uri, to, (printer, false)).await;
            }
            let filter = Map::from_iter([("resourceSubscriptions".to_owned(), json!([uri]))]);
            let listen = async { one.client.listen(filter, &one.session.signals.stop).await };
            let show = async {
                loop {
                    read(one, &uri, to, (printer, true)).await?;
                    changed.notified().await;
                }
            };
            tokio::select! {
                ended = listen => {
                    ended.map_err(|error| one.error(error))?;
                    one.session.signals.error().map_or(Ok(()), |error| Err(error.into()))
                }
                failed = show => failed,
                () = printer.gone() => Ok(()),
            }
        })
        .await
}

fn ear(changed: &Arc<Notify>) -> Ear {
    let changed = Arc::clone(changed);
    Arc::new(move |notice: &Notice| match &notice.kind {
        // There is only one subscription; the notification may name a part of the resource.
        NoticeKind::Changed { method, .. } if method == "notifications/resources/updated" => {
            changed.notify_one();
            true
        }
        _ => false,
    })
}

async fn read(
    one: &OneServer<'_>,
    uri: &str,
    to: Option<&Path>,
    (printer, is_watched): (&Printer, bool),
) -> anyhow::Result<()> {
    let method = "resources/read";
    let raw = one.call(method, Map::from_iter([("uri".to_owned(), json!(uri))])).await?;
    // Programs get what the server sent, whatever it is.
    let is_as_sent = to.is_none() && !printer.mode().is_text();
    let each = match ResourceContents::each(raw.get()) {
        Ok(each) => each,
        Err(_) if is_as_sent => Vec::new(),
        Err(reason) => return Err(one.invalid(method, reason).into()),
    };
    let (contents, faults): (Vec<_>, Vec<_>) = each.into_iter().partition(Result::is_ok);
    let contents: Vec<ResourceContents> = contents.into_iter().flatten().collect();
    let mut faults = faults.into_iter().filter_map(Result::err).filter(|_| !is_as_sent);
    if let Some(fault) = faults.next() {
        // A file holds the whole resource, or is not written.
        if contents.is_empty() || to.is_some() {
            return Err(one.invalid(method, fault).into());
        }
        let more = match faults.count() {
            0 => String::new(),
            more => format!("; {more} more cannot be shown"),
        };
        printer.warning(&format!("{}: {fault}{more}; -o json shows all that was sent", one.server))?;
    }
    if let Some(path) = to {
        let count = write(path, &contents).with_context(|| format!("{} cannot be written", path.display()))?;
        printer.line(&format!("{}: {count} bytes", path.display()));
        return Ok(());
    }
    let bytes = contents.iter().find_map(|one| match &one.body {
        ResourceBody::Bytes(bytes) => Some((one.mime_type.as_deref().unwrap_or("bytes"), bytes.len())),
        ResourceBody::Text(_) => None,
    });
    if let Some((kind, length)) = bytes.filter(|_| !printer.shows_bytes()) {
        return Err(Error::Usage {
            message: format!("{uri} is binary ({kind}, {length} bytes) and is not written to a terminal"),
            hint: Some("--to FILE writes it to a file; so does `> FILE`".to_owned()),
        }
        .into());
    }
    Ok(printer.contents(&raw, &contents, !is_watched)?)
}

/// Writes all contents to the file at `path`, atomically, readable only by its owner, and returns the number of bytes.
fn write(path: &Path, contents: &[ResourceContents]) -> std::io::Result<usize> {
    let mut file = PrivateFile::new(path)?;
    let mut count = 0;
    for one in contents {
        let bytes = match &one.body {
            ResourceBody::Text(text) => text.as_bytes(),
            ResourceBody::Bytes(bytes) => bytes,
        };
        file.write_all(bytes)?;
        count += bytes.len();
    }
    file.put()?;
    Ok(count)
}

/// The URI that `word` means: itself, with variables replaced, or that of the resource or template with this name.
async fn uri(one: &OneServer<'_>, word: &str, variables: &[(String, String)]) -> Result<String, Error> {
    let is_uri = word.contains(':') || word.contains('{');
    let template = if is_uri {
        word.to_owned()
    } else {
        let (resources, templates) = resources::list(one.session, one.server.as_str()).await?;
        let named = |entries: &[Value], key: &str| {
            let found = entries.iter().find(|entry| entry["name"] == word);
            found.and_then(|entry| entry[key].as_str()).map(str::to_owned)
        };
        match named(&resources, "uri") {
            Some(uri) if variables.is_empty() => return Ok(uri),
            found => found.or_else(|| named(&templates, "uriTemplate")).ok_or_else(|| {
                let names = resources.iter().chain(&templates).filter_map(|entry| entry["name"].as_str());
                let hint = match near_misses(word, names).first() {
                    Some(near) => format!("did you mean {near}?"),
                    None => format!("`toolnexus resources {}` lists them", shell_words::quote(one.server.as_str())),
                };
                let message = format!("{} has no resource {word:?}, and {word:?} is not a URI", one.server);
                Error::Usage { message, hint: Some(hint) }
            })?,
        }
    };
    // A URI with a brace that is not a template is sent unchanged.
    let Some(parsed) = UriTemplate::parse(&template) else { return Ok(template) };
    let known = parsed.variables();
    if let Some((unknown, _)) = variables.iter().find(|(key, _)| !known.contains(&key.as_str())) {
        let message = format!("{template} has no variable {unknown:?}");
        let hint = (!known.is_empty()).then(|| format!("its variables: {}", known.join(", ")));
        return Err(Error::Usage { message, hint });
    }
    if known.is_empty() {
        return Ok(template);
    }
    let mut values: HashMap<&str, Vec<String>> = HashMap::new();
    for (key, value) in variables {
        values.entry(key).or_default().push(value.clone());
    }
    let missing: Vec<&str> = parsed.required().into_iter().filter(|name| !values.contains_key(name)).collect();
    if let Some(first) = missing.first() {
        let message = format!("{template} needs {}", missing.join(", "));
        return Err(Error::Usage { message, hint: Some(format!("give {first}=…")) });
    }
    Ok(parsed.expand(|name| values.get(name).cloned().unwrap_or_default()))
}
