use std::sync::Arc;

use futures_util::{FutureExt, future::BoxFuture};
use tokio_util::sync::CancellationToken;

use crate::{
    elicitation::{Outcome, Question, Resolver, Why},
    terminal::Terminal,
};

/// A person at a terminal. Everything is asked in the order in which it comes, one question at a time.
#[derive(Debug)]
pub struct Person {
    _terminal: Terminal,
    _browser: bool,
}

impl Person {
    /// A person at `terminal`; `browser` says whether links may be opened for them.
    pub fn new(terminal: Terminal, browser: bool) -> Self {
        Self { _terminal: terminal, _browser: browser }
    }
}

impl Resolver for Person {
    fn claim(&self, _question: Arc<Question>, _stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        async { Outcome::Unanswerable(Why::new("this terminal cannot ask yet")) }.boxed()
    }
}
