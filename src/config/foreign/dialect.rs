use super::{OtherClient, variables::Style};
use crate::config::{Document, Member, Node, file::is_server};

/// How a file writes its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `mcpServers` and `servers`, with the keys that are read here.
    Common(Style),
    /// Zed's `context_servers`.
    Zed,
    /// Codex's `mcp_servers`.
    Codex,
    /// opencode's `mcp`.
    OpenCode,
    /// Goose's `extensions`.
    Goose,
    /// Gemini CLI's `mcpServers`.
    Gemini,
}

impl Dialect {
    /// That of a client, where all its files are alike.
    fn of(client: OtherClient) -> Self {
        match client {
            OtherClient::ClaudeCode => Self::Common(Style::Ours),
            OtherClient::ClaudeDesktop | OtherClient::LmStudio => Self::Common(Style::Plain),
            OtherClient::Cursor | OtherClient::VsCode | OtherClient::Windsurf => Self::Common(Style::Editor),
            OtherClient::Zed => Self::Zed,
            OtherClient::Codex => Self::Codex,
            OtherClient::GeminiCli => Self::Gemini,
            OtherClient::OpenCode => Self::OpenCode,
            OtherClient::Goose => Self::Goose,
        }
    }

    /// How the texts of its entries name variables.
    pub(super) fn style(self) -> Style {
        match self {
            Self::Common(style) => style,
            Self::Zed | Self::Codex | Self::Goose => Style::Plain,
            Self::OpenCode => Style::Braces,
            Self::Gemini => Style::Dollar,
        }
    }
}

/// Where the servers of a file stand, and how they are written; `None` where it has none.
pub(super) fn servers_of(root: &Node, client: Option<OtherClient>) -> Option<(&Node, Dialect)> {
    let under = |key: &str| object(root.member(key));
    // VS Code's settings had `mcp.servers` before it had a file of its own.
    let settings = || under("mcp").and_then(|mcp| object(mcp.member("servers"))).or_else(|| under("mcp.servers"));
    if let Some(client) = client {
        let servers = match client {
            OtherClient::Zed => under("context_servers"),
            OtherClient::Codex => under("mcp_servers"),
            // Version 2 has the servers one level deeper.
            OtherClient::OpenCode => {
                under("mcp").and_then(|mcp| object(mcp.member("servers"))).or_else(|| under("mcp"))
            }
            OtherClient::Goose => under("extensions"),
            OtherClient::VsCode => under("servers").or_else(settings).or_else(|| under("mcpServers")),
            _ => under("mcpServers").or_else(|| under("servers")),
        };
        if let Some(servers) = servers {
            return Some((servers, Dialect::of(client)));
        }
    }
    // A file of no known name is told by what stands in it.
    let common = Dialect::Common(Style::Ours);
    let keys = [
        ("mcpServers", common),
        ("servers", common),
        ("context_servers", Dialect::Zed),
        ("mcp_servers", Dialect::Codex),
        ("extensions", Dialect::Goose),
    ];
    let keyed = keys.into_iter().find_map(|(key, dialect)| Some((under(key)?, dialect)));
    let keyed = keyed.or_else(|| settings().map(|servers| (servers, Dialect::Common(Style::Editor))));
    let keyed = keyed.or_else(|| under("mcp").map(|servers| (servers, Dialect::OpenCode)));
    keyed.or_else(|| {
        let members = root.members()?;
        members.iter().any(|member| is_server(&member.value)).then_some((root, common))
    })
}

/// The value of a member that is an object, and no server itself.
fn object(member: Option<&Member>) -> Option<&Node> {
    member.map(|member| &member.value).filter(|value| value.members().is_some() && !is_server(value))
}

/// Reads a text as what its file's name says that it is.
///
/// # Errors
/// Where the text is not of that kind.
pub(super) fn parse_any(text: &str, name: &str) -> Result<Document, crate::config::SyntaxError> {
    let extension = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    match extension.as_str() {
        "toml" => super::toml::parse_toml(text),
        "yaml" | "yml" => super::yaml::parse_yaml(text),
        _ => Document::parse(text),
    }
}
