//! `toolnexus tools`: the tools that servers offer.

use clap::Args;
use serde_json::json;

use super::{
    argv::slips::Slip,
    context::Context,
    listing::{
        everywhere::{Listing, Picked, Shown, each, mentions},
        one_or_all::{AllArgs, GrepArgs},
    },
    options::ServerArgs,
    server::{command_host::CommandHost, questions::Questions, select::Selected},
};
use crate::{
    error::Error,
    output::{PageOptions, Printer, found_line, offer_line, tool_list, tool_page},
    protocol::Tool,
};

/// What `tools` takes.
#[derive(Args, Debug)]
#[command(
    override_usage = "toolnexus tools [OPTIONS] [SERVER [TOOL]]\n       toolnexus tools [OPTIONS] [TOOL] -- COMMAND...",
    after_help = "Without SERVER, the tools of all configured servers are listed. TOOL shows the arguments of one tool and a call to copy.

Examples:
  toolnexus tools
  toolnexus tools forms
  toolnexus tools forms countdown
  toolnexus tools --grep search
  toolnexus tools -- npx -y @modelcontextprotocol/server-everything"
)]
pub struct ToolsArgs {
    /// The server and one of its tools
    #[arg(value_name = "SERVER [TOOL]", hide = true)]
    pub words: Vec<String>,
    /// A server to start instead of SERVER: everything after `--`
    #[arg(last = true, value_name = "COMMAND", hide = true)]
    pub command: Vec<String>,
    /// With TOOL: also show its schemas as the server sent them
    #[arg(long)]
    pub schema: bool,
    /// What is listed.
    #[command(flatten)]
    pub grep: GrepArgs,
    /// What holds for all servers.
    #[command(flatten)]
    pub all: AllArgs,
    /// Options for the server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Lists tools.
///
/// # Errors
/// [`Error`]; with several servers, that of the first if none of them could be listed.
pub async fn run(args: ToolsArgs, context: &Context) -> anyhow::Result<()> {
    let printer = &context.printer;
    let Selected { server, rest } = Selected::new(args.words, args.command);
    let slip = server.as_ref().map(|server| Slip::new("tools", server, rest.iter()));
    let explained = |error: anyhow::Error| match slip {
        Some(slip) => slip.explained(error),
        None => error,
    };
    if rest.len() > 1 {
        // An extra word often belongs after `--`.
        Picked::new(server, context, &args.server, args.all.trust).await.map_err(explained)?;
        return Err(Error::usage(format!("{:?} is one word too many", rest[1])).into());
    }
    let page = rest.first().zip(server.as_ref()).map(|(tool, server)| ToolPage {
        tool,
        call: server.call(tool),
        schema: args.schema,
    });
    if args.schema && page.is_none() {
        let hint = Some("toolnexus tools SERVER TOOL --schema; -o json has the schemas of all tools".to_owned());
        return Err(Error::Usage { message: "--schema needs TOOL".to_owned(), hint }.into());
    }
    let Picked { config, names } =
        Picked::new(server, context, &args.server, args.all.trust).await.map_err(explained)?;
    let word = args.grep.grep.as_deref();
    let wanted = page.as_ref().map(|page| page.tool);
    let session = CommandHost::new(config, &args.server, &Questions::for_listing(), None, context)?;
    let mut listing = Listing::new(printer, "tools", &names, &args.all, &args.grep);
    let ask = async |name: &str| list(&session, name, printer).await.and_then(|tools| only(name, tools, wanted));
    let take = |name: &str, tools: Result<Vec<Tool>, Error>| {
        listing.take(name, tools.map(|tools| shown(tools, page.as_ref(), word)))
    };
    let taken = each(&names, ask, take).await;
    listing.finish(session, taken).await
}

/// The page of one tool.
struct ToolPage<'a> {
    tool: &'a str,
    /// The words before and after the arguments of a call.
    call: (String, String),
    schema: bool,
}

impl ToolPage<'_> {
    fn text(&self, tool: &Tool) -> String {
        tool_page(tool, PageOptions { call: (&self.call.0, &self.call.1), schema: self.schema })
    }
}

async fn list(session: &CommandHost, server: &str, printer: &Printer) -> Result<Vec<Tool>, Error> {
    let client = session.connect(server).await?;
    let waiting = session.wait_for_list(server);
    let tools = client.list_tools(&session.signals.stop).await;
    drop(waiting);
    let tools = tools.map_err(|error| session.error(&server.into(), error))?;
    let info = client.info();
    if tools.is_empty() {
        let others: Vec<&str> = ["resources", "prompts"].into_iter().filter(|key| info.declares(key)).collect();
        let others = if others.is_empty() { String::new() } else { format!(" (it has {})", others.join(" and ")) };
        // Listing continues even if stderr is gone.
        drop(printer.note(&format!("{server} offers no tools{others}")));
    }
    session.remember_tools(server, &tools);
    Ok(tools)
}

fn shown(mut tools: Vec<Tool>, page: Option<&ToolPage<'_>>, word: Option<&str>) -> Shown {
    tools.retain(|tool| mentions(&tool.raw, word));
    let text = match page {
        Some(page) => tools.iter().map(|tool| page.text(tool)).collect(),
        None => tool_list(&tools),
    };
    let found = tools.iter().map(|tool| found_line(offer_line(&tool.raw, "name"), &tool.raw, word)).collect();
    Shown { value: json!({"tools": tools.into_iter().map(|tool| tool.raw).collect::<Vec<_>>()}), text, found }
}

/// The one tool that was asked for, if any.
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
