//! The error that a run ends with: its message, its hint, and the exit code.

mod details;

use std::sync::Arc;

use serde_json::{Value, json};

use details::{rpc_details, transport_details, unanswered_details};

use crate::{
    client::{ClientError, CredentialsFate, Unauthorized},
    config::{ConfigError, near_misses},
    elicitation::{CallName, Question, ServerName, Why},
    output::{Detail, Report, UNANSWERED},
    protocol::{RpcError, code},
    text::{with_causes, without_numbers},
    transport::TransportError,
};

/// How many fields of an unanswered form are listed.
const FIELDS: usize = 60;

/// Why a run did not end well. Each variant has an exit code, a name for programs, and often a hint.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The command line is wrong, or an argument does not fit.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What would be right, or how to find out.
        hint: Option<String>,
    },
    /// The configuration, or a server's name, is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// An answers file, or another file with answers, cannot be used: a complete clause.
    #[error("{0}")]
    Answers(String),
    /// A call was put aside, but its server is configured differently now.
    #[error("the configuration of {server} has changed since the call was put aside")]
    Changed {
        /// The server.
        server: ServerName,
    },
    /// The conversation with a server failed.
    #[error("{server}: {}", client_message(error))]
    Client {
        /// The server.
        server: ServerName,
        /// What happened.
        error: Box<ClientError>,
    },
    /// The server says that the tool failed; its message is in the result.
    #[error("{server}: the tool {tool:?} reported an error")]
    ToolFailed {
        /// The server.
        server: ServerName,
        /// The tool.
        tool: String,
    },
    /// The server has no tool of this name.
    #[error("{server} has no tool {tool:?}")]
    UnknownTool {
        /// The server.
        server: ServerName,
        /// What was asked for.
        tool: String,
        /// The tools that it has.
        known: Vec<String>,
    },
    /// The server has no prompt of this name.
    #[error("{server} has no prompt {prompt:?}")]
    UnknownPrompt {
        /// The server.
        server: ServerName,
        /// What was asked for.
        prompt: String,
        /// The prompts that it has.
        known: Vec<String>,
    },
    /// The result does not have the part that was asked for: a complete clause.
    #[error("{0}")]
    NoPart(String),
    /// The servers can be used, but something about them looks wrong.
    #[error("{}", unwell_message(*.0))]
    Unwell(usize),
    /// Questions could not be answered; the server was told cancel.
    #[error("{}", unanswered_message(.0))]
    Unanswered(Vec<Unanswered>),
    /// Something on our side failed, such as a file or a stream: a complete clause.
    #[error("{0}")]
    Io(String),
    /// What is kept of sign-ins cannot be used: a clause that says so.
    #[error("{0}")]
    SignIns(String),
    /// The call was put aside for a later run.
    #[error("the call is waiting for answers")]
    Deferred,
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
    /// SIGTERM.
    #[error("terminated")]
    Terminated,
    /// A line of a script, or of arguments, failed.
    #[error("line {line}: {error}")]
    Line {
        /// The line number, from 1.
        line: usize,
        /// Why.
        error: Box<Error>,
    },
    /// This many lines failed (of a script, or of arguments), and each failure was printed.
    #[error("{failed} {} failed", if *.failed == 1 { "line" } else { "lines" })]
    Lines {
        /// How many.
        failed: usize,
        /// The exit code of the first.
        exit: u8,
    },
    /// A command that ran in its own process failed, and has already said why.
    #[error("{command} ended with exit code {exit}")]
    Said {
        /// The command's name.
        command: String,
        /// Its exit code.
        exit: u8,
    },
}

/// A question that could not be answered, and why.
#[derive(Clone, Debug)]
pub struct Unanswered {
    /// The question; `None` if the call ended before it was asked.
    pub question: Option<Arc<Question>>,
    /// Why.
    pub why: Why,
}

impl Error {
    /// A usage error without a hint.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), hint: None }
    }

    /// The process's exit code.
    pub fn exit(&self) -> u8 {
        match self {
            Self::ToolFailed { .. } | Self::Io(_) | Self::NoPart(_) => 1,
            Self::Usage { .. } | Self::Config(ConfigError::Option(_)) => 2,
            Self::Config(_) | Self::Answers(_) | Self::Changed { .. } | Self::SignIns(_) => 3,
            Self::Client { error, .. } => client_exit(error),
            Self::UnknownTool { .. } | Self::UnknownPrompt { .. } | Self::Unwell(_) => 6,
            Self::Unanswered(_) => 8,
            Self::Deferred => 75,
            Self::Interrupted => 130,
            Self::Terminated => 143,
            Self::Line { error, .. } => error.exit(),
            Self::Lines { exit, .. } | Self::Said { exit, .. } => *exit,
        }
    }

    /// The kind of error, in kebab-case.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Usage { .. } | Self::Config(ConfigError::Option(_)) => "usage",
            Self::Config(ConfigError::UnknownServer { .. }) => "unknown-server",
            Self::Config(ConfigError::Disabled(_)) => "server-disabled",
            Self::Config(ConfigError::NotFound(..)) => "no-config",
            Self::Config(_) => "config",
            Self::Answers(_) => "answers-file",
            Self::Changed { .. } => "changed-config",
            Self::Client { error, .. } => client_code(error),
            Self::ToolFailed { .. } => "tool-failed",
            Self::UnknownTool { .. } => "unknown-tool",
            Self::UnknownPrompt { .. } => "unknown-prompt",
            Self::Unwell(_) => "unwell",
            Self::NoPart(_) => "no-part",
            Self::Unanswered(_) => UNANSWERED,
            Self::Io(_) => "io",
            Self::SignIns(_) => "sign-ins",
            Self::Deferred => "deferred",
            Self::Interrupted => "interrupted",
            Self::Terminated => "terminated",
            Self::Line { error, .. } => error.code(),
            Self::Lines { .. } => "lines-failed",
            Self::Said { .. } => "command-failed",
        }
    }

    /// What to do about it, if there is something.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Usage { hint, .. } => hint.clone(),
            Self::NoPart(_) => Some("-o json shows the whole result".to_owned()),
            Self::Config(error) => error.hint(),
            Self::Changed { .. } => Some("--changed-config continues with the new configuration".to_owned()),
            Self::UnknownTool { server, tool, known } => Some(others(server, "tools", tool, known)),
            Self::UnknownPrompt { server, prompt, known } => Some(others(server, "prompts", prompt, known)),
            Self::Client { error, .. } => client_hint(error),
            Self::Unanswered(asked) => asked.iter().find_map(|unanswered| unanswered.why.hint.clone()),
            Self::Line { error, .. } => error.hint(),
            _ => None,
        }
    }

    /// The server it is about.
    pub fn server(&self) -> Option<&ServerName> {
        match self {
            Self::Client { server, .. }
            | Self::ToolFailed { server, .. }
            | Self::UnknownTool { server, .. }
            | Self::UnknownPrompt { server, .. } => Some(server),
            Self::Line { error, .. } => error.server(),
            Self::Unanswered(asked) => asked.iter().find_map(|u| u.question.as_ref()).map(|q| &q.origin.server),
            _ => None,
        }
    }

    /// The JSON-RPC error that the server answered with.
    pub fn rpc(&self) -> Option<&RpcError> {
        match self {
            Self::Client { error, .. } => match &**error {
                ClientError::Rpc { error, .. } => Some(error),
                _ => None,
            },
            Self::Line { error, .. } => error.rpc(),
            _ => None,
        }
    }

    /// The error as data for the printer.
    pub fn report(&self) -> Report {
        Report {
            code: self.code(),
            exit: self.exit(),
            message: without_numbers(&self.to_string()),
            details: self.details(),
            asked: self.asked(),
            hint: self.hint(),
            server: self.server().map(ToString::to_string),
            rpc: self.rpc().cloned(),
        }
    }

    /// The questions that nobody answered: `{server, call, message, schema or url}`.
    fn asked(&self) -> Vec<Value> {
        let asked = match self {
            Self::Unanswered(asked) => asked,
            Self::Line { error, .. } => return error.asked(),
            _ => return Vec::new(),
        };
        let questions = asked.iter().filter_map(|unanswered| unanswered.question.as_ref());
        let told = |question: &Arc<Question>| {
            let (origin, request) = (&question.origin, &question.request);
            let mut told = json!({"server": origin.server.as_str(), "call": origin.call.as_ref().map(CallName::as_str),
                "message": request.prompt});
            match &request.url {
                Some(url) => told["url"] = json!(url),
                None => told["schema"] = json!(request.schema()),
            }
            told
        };
        questions.map(told).collect()
    }

    fn details(&self) -> Vec<Detail> {
        match self {
            Self::Client { error, .. } => match &**error {
                ClientError::Rpc { error, .. } => rpc_details(error),
                ClientError::Connect(source) | ClientError::Lost { source, .. } => transport_details(source),
                _ => Vec::new(),
            },
            Self::Unanswered(asked) => asked.iter().flat_map(unanswered_details).collect(),
            Self::Line { error, .. } => error.details(),
            _ => Vec::new(),
        }
    }
}

/// What else a server offers of `what`, if it has nothing called `name`.
fn others(server: &ServerName, what: &str, name: &str, known: &[String]) -> String {
    let near = near_misses(name, known.iter().map(String::as_str));
    match (near.as_slice(), known.len()) {
        ([], 0) => format!("it has no {what} at all"),
        ([], 1..=12) => format!("its {what}: {}", known.join(", ")),
        ([], _) => format!("`toolnexus {what} {}` lists its {what}", shell_words::quote(server.as_str())),
        (near, _) => format!("did you mean {}?", near.join(" or ")),
    }
}

/// What went wrong with a server. The server's own message is shown below it, as a detail.
fn client_message(error: &ClientError) -> String {
    match error {
        ClientError::Rpc { method, error } => format!("the server answered {method} with error {}", error.code),
        other => with_causes(other),
    }
}

fn client_hint(error: &ClientError) -> Option<String> {
    match error {
        ClientError::Unauthorized(Unauthorized { fate: CredentialsFate::Missing, .. }) => None,
        ClientError::Unauthorized(refused) => Some(unauthorized_hint(refused)),
        ClientError::TimedOut { method, .. } if method == "tools/call" => {
            Some(
                "--timeout SECS, or `timeout` in the configuration, allows a longer silence; --max-time SECS a longer call"
                    .to_owned(),
            )
        }
        ClientError::LinkTimedOut { .. } => Some("--url-wait SECS waits longer".to_owned()),
        ClientError::Rpc { error, .. } if error.code == code::MISSING_CAPABILITY => Some(
            "the server needs something that was not declared: questions (leave out --elicit off), or folders (--root DIR)"
                .to_owned(),
        ),
        ClientError::TimedOut { method, .. } if is_opening(method) => Some(
            "is it an MCP server? if it is a slow one, `timeout` in the configuration gives it more time".to_owned(),
        ),
        _ => None,
    }
}

fn unauthorized_hint(refused: &Unauthorized) -> String {
    let Some(login) = &refused.login else {
        return "the server refused the configured credentials; as long as they are set, no sign-in is tried"
            .to_owned();
    };
    let mut words = vec!["toolnexus", "login", login];
    let scopes = refused.scopes.join(" ");
    if refused.is_step_up && !scopes.is_empty() {
        words.extend(["--scope", &scopes]);
    }
    format!("`{}` signs in; --bearer-env VAR sends your own token", shell_words::join(words))
}

/// Whether the request is one of those that open a connection.
fn is_opening(method: &str) -> bool {
    matches!(method, "initialize" | "server/discover")
}

fn client_exit(error: &ClientError) -> u8 {
    match error {
        ClientError::Connect(TransportError::Silent(_))
        | ClientError::TimedOut { .. }
        | ClientError::TaskExpired { .. }
        | ClientError::LinkTimedOut { .. } => 7,
        ClientError::Connect(_) | ClientError::Lost { .. } => 4,
        ClientError::Unauthorized(_) => 5,
        ClientError::Version { .. } | ClientError::Rpc { .. } | ClientError::Invalid { .. } => 6,
        ClientError::Arguments(_) => 2,
        ClientError::Interrupted { .. } => 130,
    }
}

fn client_code(error: &ClientError) -> &'static str {
    match error {
        ClientError::Connect(TransportError::Silent(_))
        | ClientError::TimedOut { .. }
        | ClientError::TaskExpired { .. }
        | ClientError::LinkTimedOut { .. } => "timed-out",
        ClientError::Connect(_) => "connect",
        ClientError::Lost { .. } => "connection-lost",
        ClientError::Unauthorized(_) => "unauthorized",
        ClientError::Version { .. } => "version",
        ClientError::Rpc { .. } => "rpc",
        ClientError::Invalid { .. } => "invalid-answer",
        ClientError::Arguments(_) => "usage",
        ClientError::Interrupted { .. } => "interrupted",
    }
}

fn unwell_message(count: usize) -> String {
    if count == 1 { "one thing looks wrong".to_owned() } else { format!("{count} things look wrong") }
}

fn unanswered_message(asked: &[Unanswered]) -> String {
    let Some(Unanswered { question: Some(question), why }) = asked.first() else {
        return asked.first().map_or_else(String::new, |unanswered| unanswered.why.reason.clone());
    };
    let call = question.origin.call.as_ref().map(|call| format!(" (call {call})")).unwrap_or_default();
    format!("{} asked a question that could not be answered{call}: {}", question.origin.server, why.reason)
}
