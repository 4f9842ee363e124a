use std::{
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::sync::{mpsc, oneshot, watch};

use super::{Caller, ProgressSink, ToolProgress, clock::Clock, driver::DriverCommand, floor::FloorTurn};
use crate::elicitation::{CallName, Why};

/// One of our calls, from its first request to its end, over all its rounds, polls and repetitions. Progress belongs to
/// it, and questions are asked during it.
pub(super) struct CallScope {
    /// The `progressToken` of its requests.
    pub(super) token: u64,
    /// The tool, prompt or resource.
    pub(super) name: CallName,
    /// Whether it is a `tools/call`.
    pub(super) is_tool: bool,
    /// Who makes it, if several callers share the client.
    pub(super) caller: Option<Caller>,
    /// Paused while one of its questions is open.
    pub(super) clock: Clock,
    /// The time of its last sign of life, on its clock.
    pub(super) heard: watch::Sender<Duration>,
    unanswered: Mutex<Vec<Why>>,
    /// Whether the server asked something during the call.
    asked: AtomicBool,
    on_progress: OnceLock<ProgressSink>,
    /// Whether it has the floor, if several callers share the client.
    turn: Mutex<Option<FloorTurn>>,
    /// Whether the server is waiting for an answer, and asks nothing else meanwhile.
    is_blocked: AtomicBool,
}

impl CallScope {
    /// The scope of a call that begins now.
    pub(super) fn new(token: u64, name: CallName, is_tool: bool, clock: Clock, caller: Option<Caller>) -> Self {
        let heard = watch::Sender::new(clock.now());
        let (unanswered, asked, on_progress, turn, is_blocked) = Default::default();
        Self { token, name, is_tool, caller, clock, heard, unanswered, asked, on_progress, turn, is_blocked }
    }

    /// What is called: whether it is a tool, and its name.
    pub(super) fn called(&self) -> (bool, String) {
        (self.is_tool, self.name.to_string())
    }

    /// The call has the floor from now on.
    pub(super) fn hold(&self, turn: FloorTurn) {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner).replace(turn);
    }

    /// The call leaves the floor to others.
    pub(super) fn leave_floor(&self) {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Whether the server is waiting for an answer in this call.
    pub(super) fn is_blocked(&self) -> bool {
        self.is_blocked.load(Ordering::Relaxed)
    }

    /// The server is waiting for an answer in this call, or no longer.
    pub(super) fn set_blocked(&self, is_blocked: bool) {
        self.is_blocked.store(is_blocked, Ordering::Relaxed);
    }

    /// Sends the call's progress to `sink`.
    pub(super) fn tell_progress_to(&self, sink: Option<ProgressSink>) {
        if let Some(sink) = sink {
            // It is set only once, when the call begins.
            drop(self.on_progress.set(sink));
        }
    }

    /// The server reports progress of the call.
    pub(super) fn advance(&self, progress: ToolProgress) {
        if let Some(sink) = self.on_progress.get() {
            sink.tell(progress);
        }
    }

    /// There was a sign of life.
    pub(super) fn touch(&self) {
        self.heard.send_replace(self.clock.now());
    }

    /// A question during the call could not be answered.
    pub(super) fn add_unanswered(&self, why: Why) {
        self.unanswered.lock().unwrap_or_else(PoisonError::into_inner).push(why);
    }

    /// The server asked something during the call.
    pub(super) fn mark_asked(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// Whether the server has asked something during the call.
    pub(super) fn has_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Why questions could not be answered so far.
    pub(super) fn unanswered(&self) -> Vec<Why> {
        self.unanswered.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// How long a prompt whose question is gone may take to restore the terminal.
const PROMPTS_END: Duration = Duration::from_secs(2);

/// A scope that the driver knows, until this is finished or dropped.
pub(super) struct OpenScope {
    scope: Arc<CallScope>,
    commands: mpsc::UnboundedSender<DriverCommand>,
    is_open: bool,
}

impl OpenScope {
    /// Registers the scope with the driver behind `commands`.
    pub(super) fn open(commands: mpsc::UnboundedSender<DriverCommand>, scope: Arc<CallScope>) -> Self {
        // Without a driver there is nobody who has to know.
        drop(commands.send(DriverCommand::OpenScope(Arc::clone(&scope))));
        Self { scope, commands, is_open: true }
    }

    /// Ends the call: questions that are still open are answered with cancel, and their prompts are waited for.
    pub(super) async fn finish(mut self) {
        self.is_open = false;
        let (done, ended) = oneshot::channel();
        let closing = DriverCommand::CloseScope { token: self.scope.token, done: Some(done) };
        if self.commands.send(closing).is_ok() {
            drop(tokio::time::timeout(PROMPTS_END, ended).await);
        }
    }
}

impl Drop for OpenScope {
    fn drop(&mut self) {
        if self.is_open {
            drop(self.commands.send(DriverCommand::CloseScope { token: self.scope.token, done: None }));
        }
    }
}
