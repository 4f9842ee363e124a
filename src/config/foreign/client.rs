use std::path::{Path, PathBuf};

use crate::config::Environment;

/// An MCP client whose files can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum OtherClient {
    /// Anthropic's desktop application.
    ClaudeDesktop,
    /// Anthropic's coding agent.
    ClaudeCode,
    /// The coding agent Cline.
    Cline,
    /// GitHub's coding agent in the terminal.
    CopilotCli,
    /// The editor Cursor.
    Cursor,
    /// Visual Studio Code.
    VsCode,
    /// The editor Windsurf.
    Windsurf,
    /// The editor Zed.
    Zed,
    /// OpenAI's coding agent.
    Codex,
    /// Google's coding agent.
    GeminiCli,
    /// The coding agent opencode.
    OpenCode,
    /// The agent Goose.
    Goose,
    /// Amazon's editor and agent.
    Kiro,
    /// LM Studio.
    LmStudio,
    /// Alibaba's coding agent.
    QwenCode,
}

/// Who a file, or a part of it, is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The user, in all projects.
    User,
    /// The user, in this project only.
    Local,
    /// Everybody who has the project.
    Project,
}

impl Reach {
    /// The name of the scope.
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Local => "local",
            Self::Project => "project",
        }
    }
}

/// The editions of VS Code, by the names of their folders.
const EDITIONS: [&str; 3] = ["Code", "Code - Insiders", "VSCodium"];

impl OtherClient {
    /// All of them, by name.
    pub const ALL: [Self; 15] = [
        Self::ClaudeCode,
        Self::ClaudeDesktop,
        Self::Cline,
        Self::Codex,
        Self::CopilotCli,
        Self::Cursor,
        Self::GeminiCli,
        Self::Goose,
        Self::Kiro,
        Self::LmStudio,
        Self::OpenCode,
        Self::QwenCode,
        Self::VsCode,
        Self::Windsurf,
        Self::Zed,
    ];

    /// Its name on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "claude-desktop",
            Self::ClaudeCode => "claude-code",
            Self::Cline => "cline",
            Self::CopilotCli => "copilot",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Windsurf => "windsurf",
            Self::Zed => "zed",
            Self::Codex => "codex",
            Self::GeminiCli => "gemini",
            Self::OpenCode => "opencode",
            Self::Goose => "goose",
            Self::Kiro => "kiro",
            Self::LmStudio => "lmstudio",
            Self::QwenCode => "qwen",
        }
    }

    /// Its official name.
    pub fn title(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::ClaudeCode => "Claude Code",
            Self::Cline => "Cline",
            Self::CopilotCli => "GitHub Copilot CLI",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Windsurf => "Windsurf",
            Self::Zed => "Zed",
            Self::Codex => "Codex",
            Self::GeminiCli => "Gemini CLI",
            Self::OpenCode => "opencode",
            Self::Goose => "Goose",
            Self::Kiro => "Kiro",
            Self::LmStudio => "LM Studio",
            Self::QwenCode => "Qwen Code",
        }
    }

    /// The client that `word` names, in any spelling.
    pub fn named(word: &str) -> Option<Self> {
        let plain = crate::config::near::plain(word);
        let is_it = |client: &Self| [client.word(), client.title()].map(crate::config::near::plain).contains(&plain);
        Self::ALL.into_iter().find(is_it)
    }

    /// The paths of its files, whether they exist or not.
    pub(super) fn places(self, environment: &Environment) -> Vec<(PathBuf, Reach)> {
        let mut places: Vec<_> = self.users(environment).into_iter().map(|path| (path, Reach::User)).collect();
        for name in self.in_projects() {
            // The nearest file counts, as for our own; the one in the home folder is the user's.
            let folders = environment.folder.ancestors().map(|folder| folder.join(name));
            let near = folders.into_iter().find(|path| path.is_file());
            let reach = if name.contains(".local.") { Reach::Local } else { Reach::Project };
            places.extend(near.map(|path| (path, reach)));
        }
        let mut seen = Vec::new();
        places.retain(|(path, _)| {
            !seen.contains(path) && {
                seen.push(path.clone());
                true
            }
        });
        places
    }

    fn users(self, environment: &Environment) -> Vec<PathBuf> {
        let home = environment.home.clone().unwrap_or_default();
        let config = environment.config_folder.clone().unwrap_or_else(|| home.join(".config"));
        let library = home.join("Library/Application Support");
        let named = |variable: &str| environment.variable(variable).filter(|path| !path.is_empty()).map(PathBuf::from);
        let both = |path: &str| vec![config.join(path), library.join(path)];
        match self {
            Self::ClaudeDesktop => both("Claude/claude_desktop_config.json"),
            Self::ClaudeCode => vec![named("CLAUDE_CONFIG_DIR").unwrap_or(home).join(".claude.json")],
            Self::Cline => {
                let file = || home.join(".cline/data/settings/cline_mcp_settings.json");
                let kept = "User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json";
                let in_editors = EDITIONS.iter().flat_map(|edition| both(&format!("{edition}/{kept}")));
                std::iter::once(named("CLINE_MCP_SETTINGS_PATH").unwrap_or_else(file)).chain(in_editors).collect()
            }
            Self::CopilotCli => {
                vec![named("COPILOT_HOME").unwrap_or_else(|| home.join(".copilot")).join("mcp-config.json")]
            }
            Self::Cursor => vec![home.join(".cursor/mcp.json")],
            Self::VsCode => {
                let files = EDITIONS.iter().flat_map(|kind| ["mcp.json", "settings.json"].map(|file| (kind, file)));
                files.flat_map(|(kind, file)| both(&format!("{kind}/User/{file}"))).collect()
            }
            Self::Windsurf => vec![home.join(".codeium/windsurf/mcp_config.json")],
            Self::Zed => vec![config.join("zed/settings.json")],
            Self::Codex => vec![named("CODEX_HOME").unwrap_or_else(|| home.join(".codex")).join("config.toml")],
            Self::GeminiCli => vec![home.join(".gemini/settings.json")],
            Self::OpenCode => {
                let files = ["opencode.json", "opencode.jsonc", "config.json"];
                let own = files.map(|file| config.join("opencode").join(file));
                named("OPENCODE_CONFIG").into_iter().chain(own).collect()
            }
            Self::Goose => vec![config.join("goose/config.yaml")],
            Self::Kiro => vec![home.join(".kiro/settings/mcp.json")],
            Self::QwenCode => vec![home.join(".qwen/settings.json")],
            Self::LmStudio => vec![home.join(".lmstudio/mcp.json"), home.join(".cache/lm-studio/mcp.json")],
        }
    }

    /// The paths of its files in a project, relative to the project's folder.
    fn in_projects(self) -> &'static [&'static str] {
        match self {
            Self::ClaudeCode => &[".mcp.json"],
            Self::Cursor => &[".cursor/mcp.json"],
            Self::VsCode => &[".vscode/mcp.json"],
            Self::Zed => &[".zed/settings.json"],
            Self::Codex => &[".codex/config.toml"],
            Self::GeminiCli => &[".gemini/settings.json"],
            Self::OpenCode => {
                &["opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"]
            }
            Self::CopilotCli => &[".github/mcp.json"],
            Self::Kiro => &[".kiro/settings/mcp.json"],
            Self::QwenCode => &[".qwen/settings.json", ".qwen/settings.local.json"],
            Self::ClaudeDesktop | Self::Cline | Self::Windsurf | Self::Goose | Self::LmStudio => &[],
        }
    }

    /// The client that `path` belongs to, judging by its name.
    pub(super) fn of_path(path: &Path) -> Option<Self> {
        let text = path.to_string_lossy();
        let ends = |end: &str| text.ends_with(end);
        let client = match () {
            () if ends("claude_desktop_config.json") => Self::ClaudeDesktop,
            () if ends(".claude.json") || path.file_name().is_some_and(|name| name == ".mcp.json") => Self::ClaudeCode,
            () if ends(".cursor/mcp.json") => Self::Cursor,
            () if ends(".vscode/mcp.json") || ends("User/mcp.json") || ends("User/settings.json") => Self::VsCode,
            () if ends("cline_mcp_settings.json") => Self::Cline,
            () if ends("mcp-config.json") || ends(".github/mcp.json") => Self::CopilotCli,
            () if ends(".kiro/settings/mcp.json") => Self::Kiro,
            () if ends(".qwen/settings.json") || ends(".qwen/settings.local.json") => Self::QwenCode,
            () if ends("mcp_config.json") => Self::Windsurf,
            () if ends("zed/settings.json") => Self::Zed,
            () if ends(".toml") => Self::Codex,
            () if ends(".gemini/settings.json") => Self::GeminiCli,
            () if ends("opencode.json") || ends("opencode.jsonc") => Self::OpenCode,
            () if ends(".yaml") || ends(".yml") => Self::Goose,
            () if ends(".lmstudio/mcp.json") => Self::LmStudio,
            () => return None,
        };
        Some(client)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_named_in_many_ways() {
        for (word, client) in [
            ("claude-desktop", OtherClient::ClaudeDesktop),
            ("Claude Code", OtherClient::ClaudeCode),
            ("VS-Code", OtherClient::VsCode),
            ("gemini", OtherClient::GeminiCli),
            ("GeminiCLI", OtherClient::GeminiCli),
            ("LM Studio", OtherClient::LmStudio),
            ("opencode", OtherClient::OpenCode),
            ("copilot", OtherClient::CopilotCli),
        ] {
            assert_eq!(OtherClient::named(word), Some(client), "{word}");
        }
        assert_eq!(OtherClient::named("emacs"), None);
        for client in OtherClient::ALL {
            assert_eq!(
                (OtherClient::named(client.word()), OtherClient::named(client.title())),
                (Some(client), Some(client))
            );
            let environment = Environment { home: Some("/home/ada".into()), ..Environment::default() };
            assert!(!client.places(&environment).is_empty(), "{client:?}");
        }
    }

    #[test]
    fn files_are_known_by_their_names() {
        for (path, client) in [
            ("/p/.cursor/mcp.json", Some(OtherClient::Cursor)),
            ("/home/a/.claude.json", Some(OtherClient::ClaudeCode)),
            ("x/config.toml", Some(OtherClient::Codex)),
            ("goose.yml", Some(OtherClient::Goose)),
            ("/h/.copilot/mcp-config.json", Some(OtherClient::CopilotCli)),
            ("/p/.github/mcp.json", Some(OtherClient::CopilotCli)),
            ("/p/.kiro/settings/mcp.json", Some(OtherClient::Kiro)),
            ("/h/.windsurf/mcp_config.json", Some(OtherClient::Windsurf)),
            ("/h/settings/cline_mcp_settings.json", Some(OtherClient::Cline)),
            ("/p/.qwen/settings.local.json", Some(OtherClient::QwenCode)),
            ("/h/.config/Code/User/settings.json", Some(OtherClient::VsCode)),
            ("/h/.zed/settings.json", Some(OtherClient::Zed)),
            ("mcp.json", None),
        ] {
            assert_eq!(OtherClient::of_path(Path::new(path)), client, "{path}");
        }
    }
}
