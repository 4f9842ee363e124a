use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Link, LinkRefused, Request};
use crate::{
    form::Form,
    protocol::{Era, Id},
};

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
    /// A server's name: its key in the configuration, the host of its URL, or `adhoc`.
    ServerName
}

name! {
    /// What is being done while a server asks: the tool, prompt or resource named in the request.
    CallName
}

/// A [`Request`] and where it comes from: what a resolver sees.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Question {
    /// What is asked.
    pub request: Request,
    /// Who asks, and why.
    pub origin: Origin,
    #[serde(skip)]
    body: OnceLock<QuestionBody>,
}

/// What a [`Question`] asks for, as its request says.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum QuestionBody {
    /// Values for this form.
    Form(Arc<Form>),
    /// That this link is opened.
    Link(Arc<Link>),
    /// That a link is opened, but the link was refused.
    Refused(LinkRefused),
}

impl Question {
    /// A question.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolnexus::elicitation::{Cause, Origin, Question, elicitation_to_request};
    /// use toolnexus::protocol::Era;
    ///
    /// let cause = Cause::Input("who".into());
    /// let origin = Origin { server: "forms".into(), call: None, is_tool: false, era: Era::Modern, cause };
    /// let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    /// let request = elicitation_to_request(&json!({"message": "Who?", "requestedSchema": schema}));
    /// assert_eq!(Question::new(request, origin).form().unwrap().fields[0].key, "name");
    /// ```
    pub fn new(request: Request, origin: Origin) -> Self {
        Self { request, origin, body: OnceLock::new() }
    }

    /// What is asked for. The request is read when this is first called, and shared from then on.
    pub fn body(&self) -> &QuestionBody {
        self.body.get_or_init(|| match &self.request.url {
            Some(url) => {
                Link::inspect(url).map_or_else(QuestionBody::Refused, |link| QuestionBody::Link(Arc::new(link)))
            }
            None if self.request.is_link() => {
                QuestionBody::Refused(LinkRefused { reason: "it has no address".to_owned() })
            }
            None => QuestionBody::Form(Arc::new(Form::from_schema(self.request.schema().unwrap_or(&Value::Null)))),
        })
    }

    /// The form, if there is one to fill in.
    pub fn form(&self) -> Option<&Arc<Form>> {
        match self.body() {
            QuestionBody::Form(form) => Some(form),
            QuestionBody::Link(_) | QuestionBody::Refused(_) => None,
        }
    }

    /// The link, if there is one that may be opened.
    pub fn link(&self) -> Option<&Arc<Link>> {
        match self.body() {
            QuestionBody::Link(link) => Some(link),
            QuestionBody::Form(_) | QuestionBody::Refused(_) => None,
        }
    }
}

impl PartialEq for Question {
    fn eq(&self, other: &Self) -> bool {
        (&self.request, &self.origin) == (&other.request, &other.origin)
    }
}

/// Who asks a question, and during what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// The server.
    pub server: ServerName,
    /// Our request in progress; `None` if the server asks outside of a request.
    pub call: Option<CallName>,
    /// Whether that request is a `tools/call`.
    pub is_tool: bool,
    /// The server's era.
    pub era: Era,
    /// How the question arrived.
    pub cause: Cause,
}

/// How a question arrived.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Cause {
    /// A request from the server, with this id (legacy).
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
