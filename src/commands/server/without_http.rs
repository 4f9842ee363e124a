//! Replaces HTTP in commands, in a build without that feature.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::commands::{doctor::surroundings::Around, options::QuestionArgs};
use crate::{
    config::{ServerConfig, ServerEntry},
    elicitation::{Outcome, Question, Resolver},
    error::Error,
    output::Printer,
    transport::HttpEndpoint,
};

/// Checks the surroundings of a server at a web address.
pub(crate) fn surroundings(_server: &ServerConfig, _http: &HttpEndpoint) -> Vec<Around> {
    Vec::new()
}

/// The stored sign-ins: none.
pub(crate) struct SignIns;

impl SignIns {
    pub(crate) fn read() -> Self {
        Self
    }

    #[expect(clippy::unused_self, reason = "with the feature `http` it uses `self`")]
    pub(crate) fn of(&self, _entry: &ServerEntry) -> Option<(String, Value)> {
        None
    }
}

/// A person at a browser: nobody.
#[derive(Clone)]
pub(crate) enum Browser {}

impl Browser {
    pub(crate) fn set_arguments(&self, _arguments: &Map<String, Value>) {
        match *self {}
    }

    #[expect(clippy::unused_async, reason = "with the feature `http` it awaits")]
    pub(crate) async fn close(&self) {
        match *self {}
    }
}

impl Resolver for Browser {
    fn claim(&self, _question: Arc<Question>, _stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        match *self {}
    }
}

/// # Errors
/// Always: there are no pages.
pub(crate) fn browser(_args: &QuestionArgs, _printer: &Arc<Printer>) -> anyhow::Result<Browser> {
    Err(Error::usage("`--elicit browser` needs a build with the feature `http`").into())
}

/// # Errors
/// Always: there is no HTTP.
#[expect(clippy::unused_async, reason = "with the feature `http` it awaits")]
pub(crate) async fn serve_demo(_port: u16, _printer: &Printer) -> anyhow::Result<()> {
    Err(Error::usage("`--http` needs a build with the feature `http`").into())
}
