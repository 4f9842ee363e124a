use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures_util::{FutureExt as _, future::BoxFuture};
use serde_json::{Map, Value, value::RawValue};
use tokio::{
    net::{UnixStream, unix::OwnedReadHalf},
    sync::{mpsc, oneshot},
    time::{Instant, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    frame::{self, Frame},
    message::{End, Operation, OperationTimes, PROGRAM, ToCommand, ToKeeper},
    outbox::{Body, Mail, Outbox},
};
use crate::{
    client::{
        Attached, BeforeSending, CallEnd, CallReport, ClientError, ClientOptions, PendingCall, ServerInfo, TaskSink,
        ToolCall,
    },
    elicitation::{Answer, Outcome, Question},
    protocol::Tool,
    transport::{Closed, TransportError},
};

/// How long a keeper may be silent before it is asked whether it is there, and how long it then has to say so.
const QUIET: Duration = Duration::from_secs(5);
const PONG: Duration = Duration::from_secs(15);
/// How long a keeper has to say who it is.
pub(super) const HELLO: Duration = Duration::from_secs(5);
/// How long an operation that was stopped may take to end.
const STOPPED: Duration = Duration::from_secs(5);

/// A kept server, as a command uses it.
pub(super) struct Attachment {
    shared: Arc<Shared>,
    info: Arc<ServerInfo>,
}

struct Shared {
    outbox: Outbox,
    options: ClientOptions,
    next: AtomicU64,
    /// Who waits for what; `None` when the keeper is gone.
    operations: Mutex<Option<HashMap<u64, mpsc::UnboundedSender<Event>>>>,
    questions: Mutex<HashMap<u64, CancellationToken>>,
    /// Fires when the command is done with it.
    over: CancellationToken,
}

/// What the keeper says of an operation.
enum Event {
    MaySend(PendingCall),
    Became(PendingCall),
    End(End, Vec<u8>),
}

/// Why a command could not attach.
pub(super) enum NotAttached {
    /// Nobody is there any more.
    Nobody,
    /// Somebody else is there; why it is not ours, as a clause.
    Foreign(String),
    /// A keeper of another version is there.
    OtherVersion,
    /// The keeper is fine, but the server cannot be used.
    Server(ClientError),
}

impl Attachment {
    /// Attaches through `stream`, and waits until the server is there.
    ///
    /// # Errors
    /// See [`NotAttached`].
    pub(super) async fn open(
        stream: UnixStream,
        options: ClientOptions,
        stop: &CancellationToken,
    ) -> Result<Self, NotAttached> {
        let (mut reader, writer) = stream.into_split();
        let (outbox, mail): (Outbox, Mail) = Outbox::new();
        tokio::spawn(mail.deliver(writer));
        outbox.send(&ToKeeper::Hello { program: PROGRAM.to_owned(), trace: options.trace.is_some() }, Body::Empty);
        outbox.send(&ToKeeper::Attach, Body::Empty);
        match timeout(HELLO, frame::read::<ToCommand>(&mut reader)).await {
            Err(_) => return Err(NotAttached::Foreign(format!("it says nothing for {} s", HELLO.as_secs()))),
            Ok(Err(error)) if error.kind() == std::io::ErrorKind::InvalidData => {
                return Err(NotAttached::Foreign(error.to_string()));
            }
            Ok(Err(_) | Ok(None)) => return Err(NotAttached::Nobody),
            Ok(Ok(Some(Frame { head: ToCommand::Hello { program }, .. }))) if program == PROGRAM => {}
            Ok(Ok(Some(Frame { head: ToCommand::Hello { .. }, .. }))) => return Err(NotAttached::OtherVersion),
            Ok(Ok(Some(_))) => return Err(NotAttached::Foreign("it does not say who it is".to_owned())),
        }
        let shared = Arc::new(Shared {
            outbox,
            options,
            next: AtomicU64::new(1),
            operations: Mutex::new(Some(HashMap::new())),
            questions: Mutex::default(),
            over: CancellationToken::new(),
        });
        let (ready, info) = oneshot::channel();
        tokio::spawn(Arc::clone(&shared).listen(reader, ready));
        tokio::select! {
            biased;
            info = info => match info {
                Ok(Ok(info)) => Ok(Self { shared, info: Arc::new(info) }),
                Ok(Err(error)) => Err(NotAttached::Server(error)),
                Err(_) => Err(NotAttached::Nobody),
            },
            () = stop.cancelled() => {
                shared.over.cancel();
                Err(NotAttached::Server(ClientError::Interrupted { method: "initialize".to_owned() }))
            }
        }
    }

    /// Does something, to its end.
    async fn operate(
        &self,
        operation: Operation,
        method: &str,
        on_task: Option<TaskSink>,
        before_sending: Option<BeforeSending<'_>>,
        stop: &CancellationToken,
    ) -> Result<(End, Vec<u8>), ClientError> {
        let shared = &self.shared;
        let lost = || ClientError::Lost { method: method.to_owned(), source: keeper_gone() };
        if stop.is_cancelled() {
            return Err(ClientError::Interrupted { method: method.to_owned() });
        }
        let id = shared.next.fetch_add(1, Ordering::Relaxed);
        let (sender, mut events) = mpsc::unbounded_channel();
        shared.operations().as_mut().ok_or_else(lost)?.insert(id, sender);
        let operation = Underway { shared, id }.begin(operation);
        let mut given_up: Option<Instant> = None;
        loop {
            tokio::select! {
                biased;
                event = events.recv() => match event {
                    None => return Err(lost()),
                    Some(Event::End(End::Failed(error), _)) => return Err(error),
                    Some(Event::End(end, body)) => return Ok((end, body)),
                    Some(Event::Became(call)) => on_task.iter().for_each(|sink| sink.tell(&call)),
                    Some(Event::MaySend(call)) => {
                        let yes = match before_sending {
                            Some(before_sending) => before_sending(call).await,
                            None => true,
                        };
                        shared.outbox.send(&ToKeeper::MaySend { id, yes }, Body::Empty);
                    }
                },
                () = stop.cancelled(), if given_up.is_none() => {
                    operation.stop();
                    given_up = Some(Instant::now() + STOPPED);
                }
                () = sleep_until(given_up.unwrap_or_else(Instant::now)), if given_up.is_some() => {
                    return Err(ClientError::Interrupted { method: method.to_owned() });
                }
            }
        }
    }

    async fn call_end(
        &self,
        operation: Operation,
        method: &str,
        on_task: Option<TaskSink>,
        before_sending: Option<BeforeSending<'_>>,
        stop: &CancellationToken,
    ) -> Result<CallEnd, ClientError> {
        match self.operate(operation, method, on_task, before_sending, stop).await? {
            (End::Done { unanswered }, body) => {
                Ok(CallEnd::Done(CallReport { result: raw(method, body)?, unanswered }))
            }
            (End::Deferred(pending), _) => Ok(CallEnd::Deferred(pending)),
            (End::Plain | End::Failed(_), _) => Err(odd(method)),
        }
    }
}

impl Attached for Attachment {
    fn info(&self) -> Arc<ServerInfo> {
        Arc::clone(&self.info)
    }

    fn list_tools<'a>(
        &'a self,
        fresh: bool,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Vec<Tool>, ClientError>> {
        async move {
            let (_, body) = self.operate(Operation::Tools { fresh }, "tools/list", None, None, stop).await?;
            Ok(list("tools/list", &body)?.into_iter().filter_map(Tool::from_value).collect())
        }
        .boxed()
    }

    fn list<'a>(
        &'a self,
        method: &'a str,
        key: &'a str,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Vec<Value>, ClientError>> {
        async move {
            let operation = Operation::List { method: method.to_owned(), key: key.to_owned() };
            let (_, body) = self.operate(operation, method, None, None, stop).await?;
            list(method, &body)
        }
        .boxed()
    }

    fn call_tool<'a>(
        &'a self,
        call: ToolCall,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<CallEnd, ClientError>> {
        async move {
            let ToolCall { name, arguments, tool, timeout, on_task, .. } = call;
            let operation = Operation::CallTool { name, arguments, is_known: tool.is_some(), timeout };
            self.call_end(operation, "tools/call", on_task, None, stop).await
        }
        .boxed()
    }

    fn call<'a>(
        &'a self,
        method: &'a str,
        params: Map<String, Value>,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<CallEnd, ClientError>> {
        async move {
            let operation = Operation::Call { method: method.to_owned(), params };
            self.call_end(operation, method, None, None, stop).await
        }
        .boxed()
    }

    fn resume<'a>(
        &'a self,
        pending: PendingCall,
        before_sending: BeforeSending<'a>,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<CallEnd, ClientError>> {
        async move {
            let method = pending.method.clone();
            self.call_end(Operation::Resume { pending }, &method, None, Some(before_sending), stop).await
        }
        .boxed()
    }

    fn request<'a>(
        &'a self,
        method: &'a str,
        params: Option<Map<String, Value>>,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Box<RawValue>, ClientError>> {
        async move {
            let operation = Operation::Request { method: method.to_owned(), params };
            let (_, body) = self.operate(operation, method, None, None, stop).await?;
            raw(method, body)
        }
        .boxed()
    }

    fn listen<'a>(
        &'a self,
        filter: Map<String, Value>,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<(), ClientError>> {
        async move {
            match self.operate(Operation::Listen { filter }, "subscriptions/listen", None, None, stop).await {
                Err(_) if stop.is_cancelled() => Ok(()),
                ended => ended.map(drop),
            }
        }
        .boxed()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.shared.over.cancel();
        std::future::ready(()).boxed()
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        self.shared.over.cancel();
    }
}

/// An operation under way, which is stopped when nobody waits for it any more.
struct Underway<'a> {
    shared: &'a Shared,
    id: u64,
}

impl Underway<'_> {
    fn begin(self, operation: Operation) -> Self {
        let times = self.shared.options.times;
        let times = OperationTimes { url_wait: times.url_wait, silence: times.call_silence, total: times.call_total };
        self.shared.outbox.send(&ToKeeper::Do { id: self.id, operation, times }, Body::Empty);
        self
    }

    fn stop(&self) {
        self.shared.outbox.send(&ToKeeper::Stop { id: self.id }, Body::Empty);
    }
}

impl Drop for Underway<'_> {
    fn drop(&mut self) {
        let is_open = self.shared.operations().as_mut().is_some_and(|open| open.remove(&self.id).is_some());
        if is_open {
            self.stop();
        }
    }
}

impl Shared {
    /// Takes what the keeper says, until it is gone or the command is done with it.
    async fn listen(
        self: Arc<Self>,
        mut reader: OwnedReadHalf,
        ready: oneshot::Sender<Result<ServerInfo, ClientError>>,
    ) {
        let mut ready = Some(ready);
        let (frames, mut arrived) = mpsc::channel(16);
        // Reading is not cancel-safe, and has a task of its own.
        let reading = tokio::spawn(async move {
            while let Ok(Some(frame)) = frame::read::<ToCommand>(&mut reader).await {
                if frames.send(frame).await.is_err() {
                    return;
                }
            }
        });
        let mut patience = QUIET;
        loop {
            tokio::select! {
                biased;
                () = self.over.cancelled() => break,
                frame = arrived.recv() => match frame {
                    Some(frame) => self.take(frame, &mut ready),
                    None => break,
                },
                () = tokio::time::sleep(patience) => {
                    if patience == PONG {
                        break;
                    }
                    self.outbox.send(&ToKeeper::Ping, Body::Empty);
                    patience = PONG;
                    continue;
                }
            }
            patience = QUIET;
        }
        reading.abort();
        self.operations().take();
        for (_, stop) in self.questions().drain() {
            stop.cancel();
        }
    }

    fn take(
        self: &Arc<Self>,
        frame: Frame<ToCommand>,
        ready: &mut Option<oneshot::Sender<Result<ServerInfo, ClientError>>>,
    ) {
        let tell = |id: u64, event: Event, is_end: bool| {
            let mut operations = self.operations();
            let Some(operations) = operations.as_mut() else { return };
            let sender = if is_end { operations.remove(&id) } else { operations.get(&id).cloned() };
            if let Some(sender) = sender {
                drop(sender.send(event))
            }
        };
        match frame.head {
            ToCommand::Ready(info) => drop(ready.take().map(|ready| ready.send(Ok(*info)))),
            ToCommand::Failed(error) => drop(ready.take().map(|ready| ready.send(Err(error)))),
            ToCommand::Ended { id, end } => tell(id, Event::End(end, frame.body), true),
            ToCommand::Became { id, pending } => tell(id, Event::Became(pending), false),
            ToCommand::MaySend { id, pending } => tell(id, Event::MaySend(pending), false),
            ToCommand::Notice(mut notice) => {
                notice.server = self.options.server.clone();
                (self.options.notices)(notice);
            }
            ToCommand::Traced => self.options.trace.iter().for_each(|trace| trace.line(&frame.body)),
            ToCommand::Ask { question, asked } => self.ask(question, asked),
            ToCommand::Wait { question, link, limit } => self.wait(question, link, limit),
            ToCommand::Over { question } => {
                if let Some(stop) = self.questions().get(&question) {
                    stop.cancel();
                }
            }
            ToCommand::Hello { .. } | ToCommand::Pong | ToCommand::Standing(_) => {}
        }
    }

    fn ask(self: &Arc<Self>, question: u64, mut asked: Arc<Question>) {
        // What this command calls the server is what its person and its answers know.
        Arc::make_mut(&mut asked).origin.server = self.options.server.clone();
        let stop = CancellationToken::new();
        self.questions().insert(question, stop.clone());
        let Some(resolver) = &self.options.resolver else {
            let outcome = Outcome::Answered(Answer::cancel(&asked.request.id));
            return self.outbox.send(&ToKeeper::Outcome { question, outcome }, Body::Empty);
        };
        let outcome = resolver.claim(asked, stop);
        let shared = Arc::clone(self);
        tokio::spawn(async move {
            let outcome = outcome.await;
            shared.questions().remove(&question);
            shared.outbox.send(&ToKeeper::Outcome { question, outcome }, Body::Empty);
        });
    }

    fn wait(self: &Arc<Self>, question: u64, mut link: Arc<Question>, limit: Duration) {
        Arc::make_mut(&mut link).origin.server = self.options.server.clone();
        let Some(resolver) = &self.options.resolver else { return };
        let done = CancellationToken::new();
        self.questions().insert(question, done.clone());
        let waited = resolver.wait(link, done, limit);
        let shared = Arc::clone(self);
        tokio::spawn(async move {
            let waited = waited.await;
            shared.questions().remove(&question);
            shared.outbox.send(&ToKeeper::Waited { question, waited }, Body::Empty);
        });
    }

    fn operations(&self) -> MutexGuard<'_, Option<HashMap<u64, mpsc::UnboundedSender<Event>>>> {
        self.operations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn questions(&self) -> MutexGuard<'_, HashMap<u64, CancellationToken>> {
        self.questions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn keeper_gone() -> TransportError {
    let reason = "the process that kept the server is gone, and the server with it".to_owned();
    TransportError::Closed(Closed { reason, stderr: Vec::new() })
}

fn odd(method: &str) -> ClientError {
    ClientError::Invalid { method: method.to_owned(), reason: "the keeper's answer cannot be read".to_owned() }
}

fn raw(method: &str, body: Vec<u8>) -> Result<Box<RawValue>, ClientError> {
    let text = String::from_utf8(body).map_err(|_| odd(method))?;
    RawValue::from_string(text).map_err(|_| odd(method))
}

fn list(method: &str, body: &[u8]) -> Result<Vec<Value>, ClientError> {
    serde_json::from_slice(body).map_err(|_| odd(method))
}
