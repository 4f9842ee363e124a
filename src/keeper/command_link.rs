use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{sync::oneshot, time::timeout};
use tokio_util::sync::CancellationToken;

use super::{
    message::{End, ToCommand, ToKeeper},
    outbox::{FrameBody, Outbox},
};
use crate::{
    client::{Notice, PendingCall, ToolProgress},
    elicitation::{Answer, Outcome, Question, Waited},
};

/// How long a prompt may take to leave the terminal after its question is over.
const PROMPT_ENDS: Duration = Duration::from_secs(2);

/// One attached command, as its keeper sees it.
pub(super) struct CommandLink {
    outbox: Outbox,
    /// Fires when the command is gone.
    pub(super) gone: CancellationToken,
    /// Whether it wants to trace all messages.
    pub(super) traces: bool,
    /// Whether there is a person who could sign in.
    pub(super) signs_in: bool,
    /// How many of its operations are in progress.
    pub(super) busy: AtomicUsize,
    /// The stop signals of its operations.
    stops: Mutex<HashMap<u64, CancellationToken>>,
    open: Mutex<Open>,
    next: AtomicU64,
}

/// What the command still has to answer.
#[derive(Default)]
struct Open {
    outcomes: HashMap<u64, oneshot::Sender<Outcome>>,
    waits: HashMap<u64, oneshot::Sender<Waited>>,
    may_send: HashMap<u64, oneshot::Sender<bool>>,
}

impl CommandLink {
    pub(super) fn new(outbox: Outbox, traces: bool, signs_in: bool) -> Arc<Self> {
        Arc::new(Self {
            outbox,
            gone: CancellationToken::new(),
            traces,
            signs_in,
            busy: AtomicUsize::new(0),
            stops: Mutex::default(),
            open: Mutex::default(),
            next: AtomicU64::new(1),
        })
    }

    /// Whether any of its operations is in progress.
    pub(super) fn is_served(&self) -> bool {
        self.busy.load(Ordering::Relaxed) > 0
    }

    pub(super) fn send(&self, message: &ToCommand) {
        self.outbox.send(message, FrameBody::Empty);
    }

    /// Sends something that may be dropped if the command does not read.
    pub(super) fn notice(&self, notice: Notice) {
        self.outbox.offer(&ToCommand::Notice(notice), FrameBody::Empty);
    }

    /// Sends a call's progress, which may be dropped if the command does not read.
    pub(super) fn progress(&self, id: u64, at: ToolProgress) {
        self.outbox.offer(&ToCommand::Progress { id, at }, FrameBody::Empty);
    }

    /// A line of the trace.
    pub(super) fn traced(&self, line: &[u8]) {
        self.outbox.offer(&ToCommand::Traced, FrameBody::Line(line.to_vec()));
    }

    /// An operation ended.
    pub(super) fn end(&self, id: u64, end: End, body: FrameBody) {
        self.stops().remove(&id);
        self.outbox.send(&ToCommand::Ended { id, end }, body);
    }

    /// The stop signal of the operation `id`.
    pub(super) fn stop_of(&self, id: u64) -> CancellationToken {
        let stop = self.gone.child_token();
        self.stops().insert(id, stop.clone());
        stop
    }

    /// Handles the command's answer to something that it was asked.
    pub(super) fn take(&self, message: ToKeeper) {
        match message {
            ToKeeper::Stop { id } => {
                if let Some(stop) = self.stops().get(&id) {
                    stop.cancel();
                }
            }
            ToKeeper::Outcome { question, outcome } => {
                if let Some(asker) = self.open().outcomes.remove(&question) {
                    let _ = asker.send(outcome);
                }
            }
            ToKeeper::Waited { question, waited } => {
                if let Some(asker) = self.open().waits.remove(&question) {
                    let _ = asker.send(waited);
                }
            }
            ToKeeper::MaySend { id, yes } => {
                if let Some(asker) = self.open().may_send.remove(&id) {
                    let _ = asker.send(yes);
                }
            }
            _ => {}
        }
    }

    /// Asks a question now, in the order of the calls to this function.
    pub(super) fn ask(self: &Arc<Self>, question: &Arc<Question>) -> QuestionOut {
        let (sender, outcome) = oneshot::channel();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.open().outcomes.insert(number, sender);
        self.send(&ToCommand::Ask { question: number, asked: Arc::clone(question) });
        let request = question.request.id.clone();
        QuestionOut { link: Arc::clone(self), number, outcome, request }
    }

    /// Lets the command wait for an accepted link.
    pub(super) async fn wait(self: Arc<Self>, link: Arc<Question>, done: CancellationToken, limit: Duration) -> Waited {
        let (sender, mut waited) = oneshot::channel();
        let question = self.next.fetch_add(1, Ordering::Relaxed);
        self.open().waits.insert(question, sender);
        self.send(&ToCommand::Wait { question, link, limit });
        tokio::select! {
            biased;
            waited = &mut waited => return waited.unwrap_or(Waited::Cancel),
            () = self.gone.cancelled() => return Waited::Cancel,
            () = done.cancelled() => {}
        }
        self.send(&ToCommand::Over { question });
        drop(timeout(PROMPT_ENDS, waited).await);
        Waited::Complete
    }

    /// Whether the answers of a call that was put aside may be sent.
    pub(super) async fn may_send(&self, id: u64, pending: PendingCall) -> bool {
        let (sender, yes) = oneshot::channel();
        self.open().may_send.insert(id, sender);
        self.send(&ToCommand::MaySend { id, pending });
        tokio::select! {
            yes = yes => yes.unwrap_or_default(),
            () = self.gone.cancelled() => false,
        }
    }

    fn open(&self) -> std::sync::MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stops(&self) -> std::sync::MutexGuard<'_, HashMap<u64, CancellationToken>> {
        self.stops.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A question that a command was asked.
pub(super) struct QuestionOut {
    link: Arc<CommandLink>,
    number: u64,
    outcome: oneshot::Receiver<Outcome>,
    request: String,
}

impl QuestionOut {
    /// How it ends: as the command says; withdrawn if `stop` fires; cancel if the command is gone.
    pub(super) async fn end(mut self, stop: &CancellationToken) -> Outcome {
        let closed = || Outcome::Answered(Answer::cancel(&self.request));
        tokio::select! {
            biased;
            outcome = &mut self.outcome => return outcome.unwrap_or_else(|_| closed()),
            () = self.link.gone.cancelled() => return closed(),
            () = stop.cancelled() => {}
        }
        self.link.send(&ToCommand::Over { question: self.number });
        drop(timeout(PROMPT_ENDS, &mut self.outcome).await);
        Outcome::Withdrawn
    }
}
