//! `toolnexus tools`: what servers offer.

use std::{fmt::Write as _, sync::Arc};

use clap::Args;
use futures_util::future::join_all;
use serde_json::{Map, Value, json};

use super::{
    questions::Questions,
    run::block_on,
    select::{Selected, all_servers},
    session::Session,
};
use crate::text::safe_line;
use crate::{
    cli::{GlobalArgs, ServerArgs},
    error::Error,
    output::{PageOptions, Printer, Report, tool_list, tool_page},
    protocol::Tool,
};

/// What `tools` takes.
#[derive(Args, Debug)]
#[command(
    override_usage = "toolnexus tools [OPTIONS] [SERVER [TOOL]]\n       toolnexus tools [OPTIONS] [TOOL] -- COMMAND...",
    after_help = "Without SERVER all servers of the configuration are listed; TOOL shows one tool's arguments and a call to copy.

Examples:
  toolnexus tools
  toolnexus tools forms
  toolnexus tools forms countdown
  toolnexus tools -- npx -y @modelcontextprotocol/server-everything"
)]
pub struct ToolsArgs {
    /// The server and one of its tools
    #[arg(value_name = "SERVER [TOOL]", hide = true)]
    pub words: Vec<String>,
    /// A server to start instead of SERVER: everything after `--`
    #[arg(last = true, value_name = "COMMAND", hide = true)]
    pub command: Vec<String>,
    /// With TOOL: show its schemas, too, as the server sent them
    #[arg(long)]
    pub schema: bool,
    /// Start all servers of a configuration file that was found and not named, without asking
    #[arg(long)]
    pub trust: bool,
    /// Options for the server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Lists tools.
///
/// # Errors
/// [`Error`]; with several servers, that of the first when none of them could be listed.
pub fn run(args: ToolsArgs, global: &GlobalArgs, printer: &Arc<Printer>) -> anyhow::Result<()> {
    let Selected { server, rest } = Selected::new(args.words, args.command);
    if rest.len() > 1 {
        return Err(Error::usage(format!("{:?} is one word too many", rest[1])).into());
    }
    let page = rest.first().zip(server.as_ref()).map(|(tool, server)| Page {
        tool,
        call: server.call(tool),
        schema: args.schema,
    });
    if args.schema && page.is_none() {
        let hint = Some("toolnexus tools SERVER TOOL --schema; -o json has the schemas of all tools".to_owned());
        return Err(Error::Usage { message: "--schema needs TOOL".to_owned(), hint }.into());
    }
    let (config, names) = match server {
        Some(server) => {
            let (config, name) = server.config(global, &args.server)?;
            (config, vec![name])
        }
        None => all_servers(global, args.trust)?,
    };
    block_on(async {
        let session = Session::new(config, &args.server, &Questions::for_listing(), None, printer)?;
        let listings = join_all(names.iter().map(|name| list(&session, name))).await;
        let shown = print(printer, &names, listings, page.as_ref());
        let stopped = session.signals.error();
        let unanswered = session.close().await.unanswered;
        match (shown, stopped) {
            (Ok(()), Some(error)) => Err(error.into()),
            (Ok(()), None) if !unanswered.is_empty() => Err(Error::Unanswered(unanswered).into()),
            (shown, _) => shown,
        }
    })
}

/// The one tool that is asked for.
struct Page<'a> {
    tool: &'a str,
    /// The words before and after the arguments of a call.
    call: (String, String),
    schema: bool,
}

impl Page<'_> {
    fn text(&self, tool: &Tool) -> String {
        tool_page(tool, PageOptions { call: (&self.call.0, &self.call.1), schema: self.schema })
    }
}

async fn list(session: &Session, server: &str) -> Result<Vec<Tool>, Error> {
    let client = session.connect(server).await?;
    let tools = client.list_tools(&session.signals.stop).await;
    tools.map_err(|error| session.error(&server.into(), error))
}

fn print(
    printer: &Printer,
    names: &[String],
    listings: Vec<Result<Vec<Tool>, Error>>,
    page: Option<&Page<'_>>,
) -> anyhow::Result<()> {
    let alone = names.len() == 1;
    let mut text = String::new();
    let mut servers = Map::new();
    let mut failed = None;
    let mut any = names.is_empty();
    for (name, listing) in names.iter().zip(listings) {
        let listing = listing.and_then(|tools| only(name, tools, page.map(|page| page.tool)));
        let value = match listing {
            Ok(tools) => {
                any = true;
                if !alone {
                    _ = writeln!(text, "{}", safe_line(name));
                }
                text.push_str(&if let Some(page) = page {
                    tools.iter().map(|tool| page.text(tool)).collect::<String>()
                } else if alone {
                    tool_list(&tools)
                } else {
                    indented(&tool_list(&tools))
                });
                json!({"tools": tools.into_iter().map(|tool| tool.raw).collect::<Vec<_>>()})
            }
            Err(error) if alone => return Err(error.into()),
            Err(error) => {
                let report = error.report();
                _ = write!(text, "{}\n  {}", safe_line(name), indented(&report.to_text(None)).trim_start());
                failed.get_or_insert(error);
                json!({"error": report_value(&report)})
            }
        };
        servers.insert(name.clone(), value);
    }
    printer.data("tools", &json!({"servers": servers}), || text)?;
    match failed {
        Some(error) if !any => Err(error.into()),
        _ => Ok(()),
    }
}

fn report_value(report: &Report) -> Value {
    report.to_json()["error"].take()
}

/// The one tool that was asked for, where one was.
fn only(server: &str, tools: Vec<Tool>, tool: Option<&str>) -> Result<Vec<Tool>, Error> {
    let Some(wanted) = tool else { return Ok(tools) };
    match tools.iter().find(|tool| tool.name == wanted) {
        Some(found) => Ok(vec![found.clone()]),
        None => Err(Error::UnknownTool {
            server: server.into(),
            tool: wanted.to_owned(),
            known: tools.into_iter().map(|tool| tool.name).collect(),
        }),
    }
}

fn indented(text: &str) -> String {
    text.lines().flat_map(|line| ["  ", line, "\n"]).collect()
}
