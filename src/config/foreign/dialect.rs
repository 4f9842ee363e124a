use super::{OtherClient, variables::Style};
use crate::config::{Document, Member, Node, file::is_server};

/// How a file writes its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `mcpServers` and `servers`, with the keys that we also accept.
    Common(Style),
    /// Cline's `mcpServers`.
    Cline,
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
    /// The dialect of a client whose files are all alike.
    fn of(client: OtherClient) -> Self {
        match client {
            OtherClient::ClaudeCode | OtherClient::CopilotCli | OtherClient::Kiro => Self::Common(Style::Ours),
            OtherClient::ClaudeDesktop | OtherClient::LmStudio => Self::Common(Style::Plain),
            OtherClient::Cline => Self::Cline,
            OtherClient::Cursor | OtherClient::VsCode | OtherClient::Windsurf => Self::Common(Style::Editor),
            OtherClient::Zed => Self::Zed,
            OtherClient::Codex => Self::Codex,
            OtherClient::GeminiCli | OtherClient::QwenCode => Self::Gemini,
            OtherClient::OpenCode => Self::OpenCode,
            OtherClient::Goose => Self::Goose,
        }
    }

    /// The variable syntax of its entries.
    pub(super) fn style(self) -> Style {
        match self {
            Self::Common(style) => style,
            Self::Cline => Style::Editor,
            Self::Zed | Self::Codex | Self::Goose => Style::Plain,
            Self::OpenCode => Style::Braces,
            Self::Gemini => Style::Dollar,
        }
    }
}

/// Where a file has its servers, and in which dialect; `None` if it has none.
pub(super) fn servers_of(root: &Node, client: Option<OtherClient>) -> Option<(&Node, Dialect)> {
    let under = |key: &str| object(root.member(key));
    // VS Code had `mcp.servers` in its settings before it had a separate file.
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
    // A file with an unknown name is recognized by its content.
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

/// The value of a member that is an object, but not a server itself.
fn object(member: Option<&Member>) -> Option<&Node> {
    member.map(|member| &member.value).filter(|value| value.members().is_some() && !is_server(value))
}

/// Parses a text in the format that the file's name indicates.
///
/// # Errors
/// If the text is not in that format.
pub(super) fn parse_any(text: &str, name: &str) -> Result<Document, crate::config::SyntaxError> {
    let extension = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    match extension.as_str() {
        "toml" => super::toml::parse_toml(text),
        "yaml" | "yml" => super::yaml::parse_yaml(text),
        _ => Document::parse(text),
    }
}
