use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use futures_util::{StreamExt, future::BoxFuture, stream::FuturesUnordered};
use serde_json::json;
use tokio::{
    sync::{mpsc, oneshot},
    task::coop::consume_budget,
    time::timeout,
};

use super::{
    DriverCommand, DriverRequest, DriverSetup,
    links::{ExpectedLinks, LinkWait},
    questions::OpenQuestion,
    tasks::OwnTasks,
    whose::Unclear,
};
use crate::{
    client::scope::CallScope,
    elicitation::{Elicited, Waited},
    protocol::{Frame, Id, Revision},
    text::with_causes,
    transport::{Closed, Ended, Grace, Incoming, Transport, TransportError},
};

/// How long prompts may take to end before the connection is closed anyway.
const PROMPTS_END: Duration = Duration::from_secs(2);

/// Starts the driver of `transport`; it ends when it gets the command to, or when nobody can send it commands any more.
pub(in crate::client) fn spawn(
    transport: Box<dyn Transport>,
    setup: Arc<DriverSetup>,
) -> mpsc::UnboundedSender<DriverCommand> {
    let (sender, commands) = mpsc::unbounded_channel();
    let driver = Driver {
        transport,
        setup,
        revision: None,
        pending: HashMap::new(),
        abandoned: HashSet::new(),
        scopes: Vec::new(),
        leaving: Vec::new(),
        questions: HashMap::new(),
        unclear: Vec::new(),
        asks_at_once: false,
        waits: HashMap::new(),
        expected_links: ExpectedLinks::default(),
        tasks: OwnTasks::default(),
        next_key: 0,
        running: FuturesUnordered::new(),
        warned: HashSet::new(),
        closed: None,
    };
    tokio::spawn(driver.run(commands));
    sender
}

pub(super) struct Driver {
    pub(super) transport: Box<dyn Transport>,
    pub(super) setup: Arc<DriverSetup>,
    /// The revision, once agreed on.
    pub(super) revision: Option<Revision>,
    /// The requests in progress.
    pub(super) pending: HashMap<Id, PendingRequest>,
    /// Requests that were given up; a late answer is dropped.
    pub(super) abandoned: HashSet<Id>,
    /// The calls in progress, in the order in which they began.
    pub(super) scopes: Vec<Arc<CallScope>>,
    /// Ended calls that wait for prompts to leave the terminal.
    leaving: Vec<oneshot::Sender<()>>,
    pub(super) questions: HashMap<u64, OpenQuestion>,
    /// Questions whose call is not known yet, in order of arrival.
    pub(super) unclear: Vec<Unclear>,
    /// Whether the server was seen to ask several questions of one call at the same time.
    pub(super) asks_at_once: bool,
    pub(super) waits: HashMap<u64, LinkWait>,
    pub(super) expected_links: ExpectedLinks,
    pub(super) tasks: OwnTasks,
    next_key: u64,
    /// The futures of questions and of links, with their keys in `questions` and `waits`.
    pub(super) running: FuturesUnordered<BoxFuture<'static, DriverEvent>>,
    /// The warnings that were already given.
    pub(super) warned: HashSet<String>,
    pub(super) closed: Option<Closed>,
}

/// A request in progress.
pub(super) struct PendingRequest {
    /// Who waits for the response.
    pub(super) reply: oneshot::Sender<Result<Frame, TransportError>>,
    /// The progress token of the call that it belongs to.
    token: Option<u64>,
}

/// The end of something that we wait for.
pub(super) enum DriverEvent {
    /// A question.
    Elicited(u64, Elicited),
    /// Waiting behind a link.
    Waited(u64, Waited),
    /// The time to find out which call a question belongs to.
    Unclear(u64),
}

impl Driver {
    async fn run(mut self, mut commands: mpsc::UnboundedReceiver<DriverCommand>) {
        let done = loop {
            tokio::select! {
                // A server that floods us must delay neither us nor the people who answer.
                biased;
                command = commands.recv() => match command {
                    None => break None,
                    Some(DriverCommand::Close(done)) => break Some(done),
                    Some(command) => self.obey(command),
                },
                Some(event) = self.running.next(), if !self.running.is_empty() => self.ended(event),
                incoming = self.transport.next(), if self.closed.is_none() => {
                    self.take(incoming);
                    // Many messages are read in a row: timers and signals get their turn in between.
                    consume_budget().await;
                }
            }
            if !self.leaving.is_empty() && !self.is_leaving() {
                for done in self.leaving.drain(..) {
                    let _ = done.send(());
                }
            }
        };
        self.close().await;
        if let Some(done) = done {
            let _ = done.send(());
        }
    }

    fn obey(&mut self, command: DriverCommand) {
        match command {
            DriverCommand::Request(request) => self.request(request),
            DriverCommand::Abandon { id, reason } => self.abandon(id, reason),
            DriverCommand::Notify(frame) => self.send(frame),
            DriverCommand::Agree(revision) => {
                self.revision = Some(revision);
                self.transport.agree(revision);
            }
            DriverCommand::OpenScope(scope) => self.scopes.push(scope),
            DriverCommand::CloseScope { token, done } => {
                self.scopes.retain(|scope| scope.token != token);
                self.end_questions_of(token);
                self.ask_unclear();
                self.leaving.extend(done);
            }
            DriverCommand::ExpectLink { id, done } => self.expected_links.expect(id, done),
            // Handled by the loop.
            DriverCommand::Close(_) => {}
        }
    }

    fn request(&mut self, request: DriverRequest) {
        let DriverRequest { id, out, token, reply } = request;
        let sent = match &self.closed {
            Some(closed) => Err(TransportError::Closed(closed.clone())),
            None => self.transport.send(out),
        };
        match sent {
            Ok(()) => drop(self.pending.insert(id, PendingRequest { reply, token })),
            // The requester may be gone.
            Err(error) => drop(reply.send(Err(error))),
        }
    }

    fn abandon(&mut self, id: Id, reason: Option<&'static str>) {
        if self.pending.remove(&id).is_none() {
            return;
        }
        if let Some(reason) = reason
            && !self.transport.cancel(&id)
        {
            let params = json!({"requestId": id.to_value(), "reason": reason});
            self.send(Frame::notification("notifications/cancelled", Some(&params)));
        }
        self.abandoned.insert(id);
    }

    /// Sends a frame that has no answer. If the connection is over, the transport reports it.
    pub(super) fn send(&mut self, frame: Frame) {
        if self.closed.is_none() {
            drop(self.transport.send(frame.into()));
        }
    }

    fn take(&mut self, incoming: Incoming) {
        match incoming {
            Incoming::Frame(frame) => self.take_frame(frame, None),
            Incoming::During(id, frame) => {
                let token = self.pending.get(&id).and_then(|pending| pending.token);
                self.take_frame(frame, token);
            }
            Incoming::Junk(junk) => self.warn_once("junk", || {
                format!("it wrote something that is not a message and was skipped: {} ({})", junk.preview, junk.reason)
            }),
            Incoming::Log(line) => self.setup.notice(crate::client::NoticeKind::Stderr(line)),
            Incoming::Failed { id, error } => {
                if let Some(pending) = self.pending.remove(&id) {
                    drop(pending.reply.send(Err(error)));
                }
            }
            Incoming::Undelivered { what, error } => {
                self.setup.warn(format!("{what} did not reach it: {}", with_causes(&error)));
            }
            Incoming::Closed(closed) => self.over(&closed),
        }
    }

    /// The connection is over: no replies are written any more, and open questions are withdrawn.
    fn over(&mut self, closed: &Closed) {
        self.closed = Some(closed.clone());
        // It ends once, and what is said first is true.
        drop(self.setup.ended.set(closed.clone()));
        self.setup.over.cancel();
        for (_, pending) in self.pending.drain() {
            drop(pending.reply.send(Err(TransportError::Closed(closed.clone()))));
        }
        self.withdraw_all();
    }

    pub(super) fn warn_once(&mut self, about: &str, text: impl FnOnce() -> String) {
        if self.warned.insert(about.to_owned()) {
            self.setup.warn(text());
        }
    }

    pub(super) fn next_key(&mut self) -> u64 {
        self.next_key += 1;
        self.next_key
    }

    fn ended(&mut self, event: DriverEvent) {
        match event {
            DriverEvent::Elicited(key, elicited) => self.elicited(key, elicited),
            DriverEvent::Waited(key, waited) => self.waited(key, waited),
            DriverEvent::Unclear(key) => self.stays_unclear(key),
        }
    }

    /// Whether there is still a prompt whose question is gone.
    fn is_leaving(&self) -> bool {
        self.questions.values().any(OpenQuestion::is_gone) || self.waits.values().any(LinkWait::is_over)
    }

    async fn close(mut self) {
        // A server that is busy ends differently.
        let is_at_rest = self.revision.is_some() && self.pending.is_empty() && self.abandoned.is_empty();
        for (_, pending) in self.pending.drain() {
            let reason = "the connection was closed by toolnexus".to_owned();
            drop(pending.reply.send(Err(TransportError::Closed(Closed { reason, stderr: Vec::new() }))));
        }
        self.end_all_questions();
        let prompts = async {
            while let Some(event) = self.running.next().await {
                self.ended(event);
            }
        };
        drop(timeout(PROMPTS_END, prompts).await);
        let memory = &self.setup.memory;
        let waits = self.setup.grace.is_none() && memory.waits_to_be_told();
        let grace = match self.setup.grace {
            Some(time) => Grace::Exactly(time),
            None if waits => Grace::Brief,
            None => Grace::AsNeeded,
        };
        match self.transport.close(grace).await {
            Ended::WhenTold if is_at_rest && !waits => memory.mark_waits_to_be_told(true),
            Ended::ByItself if waits => memory.mark_waits_to_be_told(false),
            _ => {}
        }
    }
}
