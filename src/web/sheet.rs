use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::{about::About, filling::Filling};
use crate::{
    elicitation::{Link, Waited},
    form::Form,
};

/// One question, with its own page.
pub(super) struct Sheet {
    pub(super) number: u64,
    /// The id of the request.
    pub(super) id: String,
    pub(super) about: About,
    pub(super) matter: Matter,
    pub(super) stage: SheetStage,
}

/// The question.
pub(crate) enum Matter {
    /// A form to fill in.
    Form(Box<Filling>),
    /// A link to open.
    Link(Link),
    /// Whether a server that has asked this many questions may continue.
    GoOn(usize),
    /// Nothing any more: the question and the answer are forgotten.
    Forgotten,
}

impl Matter {
    /// A form that nobody has touched.
    pub(crate) fn form(form: Form) -> Self {
        Self::Form(Filling::new(form))
    }
}

/// The stage of a question.
pub(super) enum SheetStage {
    /// It waits for an answer.
    Open(oneshot::Sender<SheetAnswer>),
    /// The link was opened, and nobody waits for it yet, or any longer.
    Opened,
    /// The link was opened, and is being waited for.
    Waiting(oneshot::Sender<Waited>),
    Over(SheetEnding),
}

/// A person's answer, if any.
#[derive(Debug, PartialEq)]
pub(crate) enum SheetAnswer {
    /// Yes, with this content.
    Send(Map<String, Value>),
    /// No.
    Decline,
    /// Closed.
    Cancel,
    /// Closed, with everything that is waiting.
    CancelAll,
    /// No answer, because the question was withdrawn.
    Withdrawn,
    /// No answer, because the time was over.
    Late,
}

/// How a question ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SheetEnding {
    Sent,
    Agreed,
    Declined,
    Cancelled,
    Withdrawn,
    Late,
    LinkDone,
    LinkLeft,
    LinkLate,
    /// A sign-in was opened, and another page waits for its end.
    Handed,
}

impl SheetEnding {
    /// The heading for the ending, and its meaning.
    pub(super) fn words(self, about: &About) -> (String, String) {
        let server = &about.server;
        if about.is_sign_in {
            return self.sign_in_words();
        }
        let (title, words) = match self {
            Self::Sent => (format!("Sent to {server}"), "Your answer is on its way.".to_owned()),
            Self::Agreed => (format!("Sent to {server}"), "You agreed.".to_owned()),
            Self::Declined => {
                ("Declined".to_owned(), format!("{server} is told that you said no. Nothing else was sent."))
            }
            Self::Cancelled => ("Cancelled".to_owned(), "The question was closed without an answer.".to_owned()),
            Self::Withdrawn => {
                ("Withdrawn".to_owned(), "The server withdrew the question. Nothing was sent.".to_owned())
            }
            Self::Late => ("Too late".to_owned(), "The time to answer is over. Nothing was sent.".to_owned()),
            Self::LinkDone => ("Done".to_owned(), format!("{server} continues.")),
            Self::LinkLeft => ("No longer waiting".to_owned(), format!("{server} decides what happens next.")),
            Self::LinkLate => {
                ("No longer waiting".to_owned(), "The server did not report in time that you were done.".to_owned())
            }
            Self::Handed => ("Opened".to_owned(), "Continue in the other tab.".to_owned()),
        };
        (title, words)
    }

    /// The same for a sign-in, which the server does not learn about.
    fn sign_in_words(self) -> (String, String) {
        let (title, words) = match self {
            Self::Sent => ("Address received", "It is used to sign you in."),
            Self::Agreed | Self::Handed => ("Opened", "Sign in there, in the other tab."),
            Self::Declined | Self::Cancelled | Self::LinkLeft => ("Cancelled", "You are not signed in."),
            Self::Withdrawn | Self::LinkDone => ("No longer waiting", "The other tab says how the sign-in ended."),
            Self::Late | Self::LinkLate => ("Too late", "The time for the sign-in is over. You are not signed in."),
        };
        (title.to_owned(), words.to_owned())
    }
}

impl From<Waited> for SheetEnding {
    fn from(waited: Waited) -> Self {
        match waited {
            Waited::Complete | Waited::Continue => Self::LinkDone,
            Waited::Cancel => Self::LinkLeft,
            Waited::TimedOut => Self::LinkLate,
        }
    }
}

impl Sheet {
    /// Whether the person still has something to do.
    pub(super) fn is_live(&self) -> bool {
        matches!(self.stage, SheetStage::Open(_) | SheetStage::Waiting(_) | SheetStage::Opened)
    }

    /// Ends it. What was typed is forgotten.
    pub(super) fn end(&mut self, ending: SheetEnding) {
        self.stage = SheetStage::Over(ending);
        self.matter = Matter::Forgotten;
    }
}
