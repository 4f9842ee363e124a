use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    Stream,
    frame::{self, KeeperFrame},
    message::{End, Operation, OperationTimes, PROGRAM, ToCommand, ToKeeper},
    outbox::{FrameBody, Mail, Outbox},
};
use crate::{
    client::{
        BeforeSending, ClientError, ClientOptions, PendingCall, ProgressSink, ServerInfo, TaskSink, ToolProgress,
    },
    transport::{Closed, TransportError},
};

/// How long a keeper may take to identify itself.
pub(super) const HELLO: Duration = Duration::from_secs(5);
/// How long an operation that was stopped may take to end.
const STOPPED: Duration = Duration::from_secs(5);

/// A kept server, as a command uses it.
pub(super) struct Attachment {
    pub(super) shared: Arc<AttachmentState>,
    pub(super) info: Arc<ServerInfo>,
}

/// A command's request to the keeper.
pub(super) struct Wanted<'a> {
    pub(super) operation: Operation,
    pub(super) method: &'a str,
    pub(super) on_task: Option<TaskSink>,
    pub(super) on_progress: Option<ProgressSink>,
    pub(super) before_sending: Option<BeforeSending<'a>>,
    pub(super) stop: &'a CancellationToken,
}

/// Shared by those who wait for the keeper and the task that listens to it.
pub(super) struct AttachmentState {
    pub(super) outbox: Outbox,
    pub(super) options: ClientOptions,
    next: AtomicU64,
    /// Who waits for what; `None` if the keeper is gone.
    operations: Mutex<Option<Operations>>,
    questions: Mutex<HashMap<u64, CancellationToken>>,
    /// Fires when the command no longer needs it.
    pub(super) over: CancellationToken,
}

/// Who waits for what.
pub(super) type Operations = HashMap<u64, mpsc::UnboundedSender<OperationEvent>>;

/// What the keeper reports about an operation.
pub(super) enum OperationEvent {
    MaySend(PendingCall),
    Became(PendingCall),
    Progress(ToolProgress),
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
    /// Attaches through `stream`, and waits until the server is ready.
    ///
    /// # Errors
    /// See [`NotAttached`].
    pub(super) async fn open(
        stream: Stream,
        options: ClientOptions,
        stop: &CancellationToken,
    ) -> Result<Self, NotAttached> {
        let (mut reader, writer) = stream.into_split();
        let (outbox, mail): (Outbox, Mail) = Outbox::new();
        tokio::spawn(mail.deliver(writer));
        let (trace, person) = (options.trace.is_some(), options.person.is_some());
        outbox.send(&ToKeeper::Hello { program: PROGRAM.to_owned(), trace, person }, FrameBody::Empty);
        outbox.send(&ToKeeper::Attach, FrameBody::Empty);
        match timeout(HELLO, frame::read::<ToCommand>(&mut reader)).await {
            Err(_) => {
                return Err(NotAttached::Foreign(format!("its keeper did not answer within {} s", HELLO.as_secs())));
            }
            Ok(Err(error)) if error.kind() == std::io::ErrorKind::InvalidData => {
                return Err(NotAttached::Foreign(error.to_string()));
            }
            Ok(Err(_) | Ok(None)) => return Err(NotAttached::Nobody),
            Ok(Ok(Some(KeeperFrame { head: ToCommand::Hello { program }, .. }))) if program == PROGRAM => {}
            Ok(Ok(Some(KeeperFrame { head: ToCommand::Hello { .. }, .. }))) => return Err(NotAttached::OtherVersion),
            Ok(Ok(Some(_))) => return Err(NotAttached::Foreign("its keeper does not identify itself".to_owned())),
        }
        let shared = Arc::new(AttachmentState {
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

    /// Runs an operation to its end: how it ended, and the body that came with it.
    pub(super) async fn operate(&self, wanted: Wanted<'_>) -> Result<(End, Vec<u8>), ClientError> {
        let Wanted { operation, method, on_task, on_progress, before_sending, stop } = wanted;
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
                    Some(OperationEvent::End(End::Failed(error), _)) => return Err(error),
                    Some(OperationEvent::End(end, body)) => return Ok((end, body)),
                    Some(OperationEvent::Became(call)) => on_task.iter().for_each(|sink| sink.tell(&call)),
                    Some(OperationEvent::Progress(at)) => on_progress.iter().for_each(|sink| sink.tell(at.clone())),
                    Some(OperationEvent::MaySend(call)) => {
                        let yes = match before_sending {
                            Some(before_sending) => before_sending(call).await,
                            None => true,
                        };
                        shared.outbox.send(&ToKeeper::MaySend { id, yes }, FrameBody::Empty);
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
}

impl Drop for Attachment {
    fn drop(&mut self) {
        self.shared.over.cancel();
    }
}

/// An operation in progress, which is stopped when nobody waits for it any more.
struct Underway<'a> {
    shared: &'a AttachmentState,
    id: u64,
}

impl Underway<'_> {
    fn begin(self, operation: Operation) -> Self {
        let times = self.shared.options.times;
        let times = OperationTimes { url_wait: times.url_wait, silence: times.call_silence, total: times.call_total };
        self.shared.outbox.send(&ToKeeper::Do { id: self.id, operation, times }, FrameBody::Empty);
        self
    }

    fn stop(&self) {
        self.shared.outbox.send(&ToKeeper::Stop { id: self.id }, FrameBody::Empty);
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

impl AttachmentState {
    pub(super) fn operations(&self) -> MutexGuard<'_, Option<Operations>> {
        self.operations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn questions(&self) -> MutexGuard<'_, HashMap<u64, CancellationToken>> {
        self.questions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn keeper_gone() -> TransportError {
    let reason = "the process that kept the server has ended, and the server with it".to_owned();
    TransportError::Closed(Closed { reason, stderr: Vec::new() })
}
