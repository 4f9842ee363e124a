use std::fmt;

use serde::{Deserialize, Serialize};

use super::Request;
use crate::protocol::{Era, Id};

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The name as text, not made safe for a terminal.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl<T: Into<String>> From<T> for $name {
            fn from(text: T) -> Self {
                Self(text.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name! {
    /// What a server is called: its key in the configuration, the host of its URL, or `adhoc`.
    ServerName
}

name! {
    /// What is being done while a server asks: the tool, prompt or resource named in the request.
    CallName
}

/// A [`Request`] and where it comes from: what a resolver sees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// What is asked.
    pub request: Request,
    /// Who asks, and why.
    pub origin: Origin,
}

/// Who asks a question, and during what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// The server.
    pub server: ServerName,
    /// The request of ours that is under way; `None` when the server asks outside of one.
    pub call: Option<CallName>,
    /// Whether that request is a `tools/call`.
    pub is_tool: bool,
    /// How the server speaks.
    pub era: Era,
    /// In what way the question came.
    pub cause: Cause,
}

/// In what way a question came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Cause {
    /// A request of the server's, with this id (legacy).
    Asked(Id),
    /// An entry of `inputRequests`, under this key (modern).
    Input(String),
    /// An entry of the error -32042, with this `elicitationId`.
    UrlRequired(String),
    /// An entry of a task's `inputRequests`: the task's id.
    Task(String),
    /// The host's own sign-in. Never matched by an answers file.
    SignIn,
}
