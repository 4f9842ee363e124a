use std::{
    collections::HashMap,
    fs::{self, File},
    io,
    os::unix::fs::MetadataExt as _,
    path::Path,
    process::{Command, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use nix::{
    sys::stat::{Mode, umask},
    unistd::{geteuid, setsid},
};
use serde_json::Value;
use tokio::{
    net::{UnixListener, UnixStream},
    signal::unix::{SignalKind, signal},
    sync::Notify,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::{
    calls::Parked,
    folder::{Folder, Refused},
    frame,
    link::Link,
    log::Log,
    message::{PROGRAM, Standing, ToCommand, ToKeeper},
    outbox::Outbox,
    party::Party,
    setup::KeeperSetup,
};
use crate::{
    auth::SignInOptions,
    client::{Client, ClientError, ClientOptions, Notice, NoticeKind, NoticeSink},
    elicitation::Resolver,
    host::HostOptions,
    protocol::Tool,
    transport::{Endpoint, Trace, groups, watch_groups},
};

/// How often it is looked whether the keeper is still of use.
const LOOK: Duration = Duration::from_secs(2);
/// How long a list of tools is taken as it was, where the server does not say when it changes.
const FRESH: Duration = Duration::from_secs(60);
/// How long commands may take to hear the last word.
const LAST_WORD: Duration = Duration::from_secs(1);

/// Why there is no keeper.
#[derive(Debug, thiserror::Error)]
pub enum Unready {
    /// The folder cannot be used.
    #[error(transparent)]
    Folder(#[from] Refused),
    /// The system refused something.
    #[error("the keeper cannot be started: {0}")]
    System(#[from] io::Error),
}

/// One kept server, with the commands that use it.
pub(super) struct Keeper {
    setup: KeeperSetup,
    client: tokio::sync::Mutex<Option<Arc<Client>>>,
    links: Mutex<Vec<Arc<Link>>>,
    parked: Mutex<HashMap<String, Parked>>,
    log: Mutex<Log>,
    listed: Mutex<Option<Listed>>,
    /// How often the server said that its tools are others now.
    pub(super) changes: AtomicU64,
    pub(super) calls: AtomicU64,
    since: SystemTime,
    last: Mutex<Instant>,
    draining: AtomicBool,
    down: CancellationToken,
    look: Notify,
}

/// The list of tools, as it was last given.
struct Listed {
    tools: Vec<Tool>,
    text: Arc<str>,
    at: Instant,
}

/// Keeps the server of `setup` until nobody has used it for long enough, or it is told to end. Must be called in a
/// runtime, in a process of its own, which leaves the terminal here.
///
/// # Errors
/// When it cannot begin.
pub async fn keep(setup: KeeperSetup) -> Result<(), Unready> {
    // Whoever leads a session already is away from the terminal, too.
    let _ = setsid();
    let folder = Folder::at(&setup.folder)?;
    let socket = folder.socket(&setup.key);
    if matches!(setup.config.endpoint, Endpoint::Stdio(_)) {
        start_guard()?;
    }
    // Whoever starts a keeper holds the lock and has seen that nobody answers there.
    drop(fs::remove_file(&socket));
    // For the socket alone: the server makes its files as it would without a keeper.
    let usual = umask(Mode::from_bits_truncate(0o077));
    let bound = UnixListener::bind(&socket);
    umask(usual);
    let listener = bound?;
    let own = fs::symlink_metadata(&socket)?.ino();
    let log = Log::open(&folder.log(&setup.key));
    let keeper = Arc::new(Keeper {
        setup,
        client: tokio::sync::Mutex::default(),
        links: Mutex::default(),
        parked: Mutex::default(),
        log: Mutex::new(log),
        listed: Mutex::default(),
        changes: AtomicU64::new(0),
        calls: AtomicU64::new(0),
        since: SystemTime::now(),
        last: Mutex::new(Instant::now()),
        draining: AtomicBool::new(false),
        down: CancellationToken::new(),
        look: Notify::new(),
    });
    keeper.log(&format!("kept: {}", keeper.setup.server));
    keeper.serve(&listener, &socket, own).await?;
    if is_there(&socket, own) {
        drop(fs::remove_file(&socket));
    }
    drop(listener);
    keeper.end().await;
    Ok(())
}

/// Starts the process that ends the server when this one is gone without a word.
fn start_guard() -> io::Result<()> {
    let mut guard = Command::new(std::env::current_exe()?);
    guard.args(["keep-server", "--guard"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(stdin) = guard.spawn()?.stdin.take() {
        watch_groups(File::from(std::os::fd::OwnedFd::from(stdin)));
    }
    Ok(())
}

fn is_there(socket: &Path, own: u64) -> bool {
    fs::symlink_metadata(socket).is_ok_and(|metadata| metadata.ino() == own)
}

impl Keeper {
    async fn serve(self: &Arc<Self>, listener: &UnixListener, socket: &Path, own: u64) -> io::Result<()> {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut hangup = signal(SignalKind::hangup())?;
        loop {
            let look = LOOK.min(self.setup.keep_for / 4).max(Duration::from_millis(50));
            tokio::select! {
                accepted = listener.accept() => if let Ok((stream, _)) = accepted {
                    let keeper = Arc::clone(self);
                    tokio::spawn(async move { keeper.attend(stream).await });
                } else {
                    // Too many open files: the next one may find room.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                },
                () = self.look.notified() => {}
                () = tokio::time::sleep(look) => {}
                () = self.down.cancelled() => return Ok(()),
                _ = terminate.recv() => return Ok(()),
                _ = interrupt.recv() => {}
                _ = hangup.recv() => {}
            }
            if !is_there(socket, own) {
                // Nobody finds it any more.
                self.draining.store(true, Ordering::Relaxed);
            }
            if self.is_over() {
                return Ok(());
            }
        }
    }

    fn is_over(&self) -> bool {
        let is_open = |parked: &Parked| matches!(parked, Parked::Open(_));
        if !self.links().is_empty() || self.parked().values().any(is_open) {
            return false;
        }
        self.draining.load(Ordering::Relaxed) || self.idle() >= self.setup.keep_for
    }

    /// Ends the server, and tells those who still use it.
    async fn end(&self) {
        if let Some(client) = self.client.lock().await.take() {
            client.close().await;
        }
        self.log("ended");
        let heard = async {
            while !self.links().iter().all(|link| link.busy.load(Ordering::Relaxed) == 0) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            // What was sent is written by tasks of its own.
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        drop(timeout(LAST_WORD, heard).await);
    }

    /// Serves one command, until it is gone.
    async fn attend(self: Arc<Self>, stream: UnixStream) {
        if !stream.peer_cred().is_ok_and(|peer| peer.uid() == geteuid().as_raw()) {
            return;
        }
        let (mut reader, writer) = stream.into_split();
        let (outbox, mail) = Outbox::new();
        let Ok(Ok(Some(first))) = timeout(super::attachment::HELLO, frame::read::<ToKeeper>(&mut reader)).await else {
            return;
        };
        let ToKeeper::Hello { program, trace } = first.head else { return };
        tokio::spawn(mail.deliver(writer));
        let link = Link::new(outbox, trace);
        link.send(&ToCommand::Hello { program: PROGRAM.to_owned() });
        if program != PROGRAM {
            // A newer program wants a keeper of its own; this one ends with its last command.
            self.drain();
            return;
        }
        self.links().push(Arc::clone(&link));
        while let Ok(Some(frame)) = frame::read::<ToKeeper>(&mut reader).await {
            let keeper = Arc::clone(&self);
            match frame.head {
                ToKeeper::Attach => drop(tokio::spawn(keeper.attach(Arc::clone(&link)))),
                ToKeeper::Do { id, operation, times } => {
                    drop(tokio::spawn(keeper.operate(Arc::clone(&link), id, operation, times)));
                }
                ToKeeper::Ping => link.send(&ToCommand::Pong),
                ToKeeper::Standing => link.send(&ToCommand::Standing(self.standing())),
                ToKeeper::Drain => self.drain(),
                ToKeeper::Down => self.down.cancel(),
                message => link.take(message),
            }
        }
        link.gone.cancel();
        self.links().retain(|other| !Arc::ptr_eq(other, &link));
        self.used();
    }

    fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
        self.look.notify_one();
    }

    async fn attach(self: Arc<Self>, link: Arc<Link>) {
        link.busy.fetch_add(1, Ordering::Relaxed);
        match self.connect(&link).await {
            Ok(client) => link.send(&ToCommand::Ready(Box::new((*client.info()).clone()))),
            Err(error) => {
                link.send(&ToCommand::Failed(error));
                // There is nothing to keep.
                self.drain();
            }
        }
        link.busy.fetch_sub(1, Ordering::Relaxed);
    }

    async fn connect(self: &Arc<Self>, link: &Link) -> Result<Arc<Client>, ClientError> {
        let mut slot = self.client.lock().await;
        if let Some(client) = &*slot {
            return Ok(Arc::clone(client));
        }
        let client = Client::connect(self.setup.config.clone(), self.options()?, &link.gone).await?;
        Ok(Arc::clone(slot.insert(Arc::new(client))))
    }

    fn options(self: &Arc<Self>) -> Result<ClientOptions, ClientError> {
        let keeper = Arc::downgrade(self);
        let notices: NoticeSink = Arc::new(move |notice| {
            if let Some(keeper) = keeper.upgrade() {
                keeper.spread(&notice);
            }
        });
        let keeper = Arc::downgrade(self);
        let trace = Trace::passing_on(move |line| {
            let Some(keeper) = Weak::upgrade(&keeper) else { return };
            keeper.links().iter().filter(|link| link.traces).for_each(|link| link.traced(line));
        });
        let resolver: Arc<dyn Resolver> = Arc::new(super::latest::Latest(Arc::downgrade(self)));
        let options = HostOptions {
            sign_in: SignInOptions { person: Some(Arc::clone(&resolver)), ..SignInOptions::default() },
            sign_ins: self.setup.sign_ins.clone(),
            resolver: Some(resolver).filter(|_| self.setup.asks),
            notices,
            roots: self.setup.roots.clone(),
            protocol: self.setup.protocol,
            cache: self.setup.cache.clone(),
            trace: Some(trace),
            ..HostOptions::default()
        };
        options.for_server(&self.setup.server.as_str().into(), &self.setup.config).map_err(ClientError::Connect)
    }

    /// A notice that belongs to no call: it goes to the commands that are being served, and what they do not show to the
    /// log.
    fn spread(&self, notice: &Notice) {
        if matches!(&notice.kind, NoticeKind::Changed { method, .. } if method == "notifications/tools/list_changed") {
            self.changes.fetch_add(1, Ordering::Relaxed);
            self.listed().take();
        }
        let links = self.links();
        let mut heard = links.iter().filter(|link| link.busy.load(Ordering::Relaxed) > 0).peekable();
        if heard.peek().is_none() || matches!(notice.kind, NoticeKind::Stderr(_)) {
            self.log.lock().unwrap_or_else(PoisonError::into_inner).notice(notice);
        }
        heard.for_each(|link| link.notice(notice.clone()));
    }

    /// Where the notices of a call go: to the command that it belongs to.
    pub(super) fn notices_of(self: &Arc<Self>, party: Party) -> NoticeSink {
        let keeper = Arc::downgrade(self);
        Arc::new(move |notice| match (party.owner(), Weak::upgrade(&keeper)) {
            (Some(owner), _) => owner.link.notice(notice),
            (None, Some(keeper)) => keeper.log.lock().unwrap_or_else(PoisonError::into_inner).notice(&notice),
            (None, None) => {}
        })
    }

    /// The command that was served last, among those that are being served.
    pub(super) fn latest(&self) -> Option<Arc<Link>> {
        self.links().iter().rev().find(|link| link.busy.load(Ordering::Relaxed) > 0).cloned()
    }

    /// The client, once there is one.
    pub(super) async fn client(&self) -> Option<Arc<Client>> {
        self.client.lock().await.clone()
    }

    /// The list of tools as JSON, where it is known that it still holds.
    pub(super) fn known_tools(&self, client: &Client, fresh: bool) -> Option<Arc<str>> {
        let tells = client.info().declares("tools.listChanged") && client.info().era() == crate::protocol::Era::Legacy;
        let listed = self.listed();
        let listed = listed.as_ref()?;
        (tells || (!fresh && listed.at.elapsed() < FRESH)).then(|| Arc::clone(&listed.text))
    }

    /// Remembers the list of tools, unless the server has said since that it is another one.
    pub(super) fn learn_tools(&self, tools: Vec<Tool>, changes: u64) -> Arc<str> {
        let raw = tools.iter().map(|tool| tool.raw.clone()).collect();
        let text: Arc<str> = Value::Array(raw).to_string().into();
        if self.changes.load(Ordering::Relaxed) == changes {
            *self.listed() = Some(Listed { tools, text: Arc::clone(&text), at: Instant::now() });
        }
        text
    }

    /// The tool of this name, as it was last listed.
    pub(super) fn tool(&self, name: &str) -> Option<Tool> {
        self.listed().as_ref()?.tools.iter().find(|tool| tool.name == name).cloned()
    }

    /// It was used just now.
    pub(super) fn used(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.look.notify_one();
    }

    fn idle(&self) -> Duration {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    fn log(&self, text: &str) {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).line(text);
    }

    pub(super) fn parked(&self) -> MutexGuard<'_, HashMap<String, Parked>> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn links(&self) -> MutexGuard<'_, Vec<Arc<Link>>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listed(&self) -> MutexGuard<'_, Option<Listed>> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn standing(&self) -> Standing {
        // Whoever asks is attached itself, without using the server.
        let attached = self.links().iter().filter(|link| link.busy.load(Ordering::Relaxed) > 0).count();
        let client = self.client.try_lock().ok().and_then(|client| client.clone());
        Standing {
            server: self.setup.server.clone(),
            place: self.setup.place.clone(),
            key: self.setup.key.clone(),
            pid: std::process::id(),
            since: self.since.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
            idle: self.idle().as_secs(),
            keep: self.setup.keep_for.as_secs(),
            calls: self.calls.load(Ordering::Relaxed),
            attached,
            waiting: self.parked().len(),
            memory: super::memory::held(&groups()),
            revision: client.map(|client| client.info().revision.to_string()),
            draining: self.draining.load(Ordering::Relaxed),
        }
    }
}
