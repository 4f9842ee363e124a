use std::{
    collections::HashMap,
    fs, io,
    path::Path,
    process::{Command, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use tokio::{sync::Notify, time::timeout};
use tokio_util::sync::CancellationToken;

use super::{
    KeeperSignals, Listener,
    calls::Parked,
    command_link::CommandLink,
    file_of,
    folder::{Folder, FolderRefused},
    idle::{Idle, Use},
    leave_terminal,
    listed::ListedTools,
    listen,
    log::KeeperLog,
    message::Standing,
    setup::KeeperSetup,
};
use crate::{
    client::{Client, Notice},
    files::identity,
    transport::{Endpoint, groups, watch_groups},
};

/// How often to check whether the keeper is still needed.
const LOOK: Duration = Duration::from_secs(2);
/// How long commands may take to receive the last messages.
const LAST_WORD: Duration = Duration::from_secs(1);

/// Why there is no keeper.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unready {
    /// The folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderRefused),
    /// The system refused something.
    #[error("the keeper cannot be started")]
    System(#[from] io::Error),
}

/// One kept server, with the commands that use it.
pub(super) struct Keeper {
    pub(super) setup: KeeperSetup,
    pub(super) client: tokio::sync::Mutex<Option<Arc<Client>>>,
    links: Mutex<Vec<Arc<CommandLink>>>,
    parked: Mutex<HashMap<String, Parked>>,
    log: Mutex<KeeperLog>,
    pub(super) listed: Mutex<Option<ListedTools>>,
    /// How often the server said that its tools have changed.
    pub(super) changes: AtomicU64,
    pub(super) calls: AtomicU64,
    since: SystemTime,
    idle: Idle,
    draining: AtomicBool,
    pub(super) down: CancellationToken,
    look: Notify,
}

/// Keeps the server of `setup` until it has been idle for long enough, or it is told to end. Must be called in a
/// runtime, in its own process, which leaves the terminal here.
///
/// # Errors
/// If it cannot start.
pub async fn keep(setup: KeeperSetup) -> Result<(), Unready> {
    leave_terminal();
    let folder = Folder::at(&setup.folder)?;
    let socket = folder.socket(&setup.key);
    if matches!(setup.config.endpoint, Endpoint::Stdio(_)) {
        start_guard()?;
    }
    let listener = listen(&socket)?;
    let own = identity(&fs::symlink_metadata(&socket)?);
    let log = KeeperLog::open(&folder.log(&setup.key));
    let idle = Idle::new(setup.keep_for, Instant::now());
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
        idle,
        draining: AtomicBool::new(false),
        down: CancellationToken::new(),
        look: Notify::new(),
    });
    keeper.log(&format!("kept: {}", keeper.setup.server));
    let swept = folder.clone();
    tokio::task::spawn_blocking(move || swept.sweep(SystemTime::now()));
    keeper.serve(&listener, &socket, own).await?;
    if is_there(&socket, own) {
        drop(fs::remove_file(&socket));
    }
    drop(listener);
    keeper.end().await;
    // Unless another process is starting the next one right now. The log stays for a while: it may say why.
    if let Ok(Some(_lock)) = folder.try_lock(&keeper.setup.key) {
        drop(fs::remove_file(folder.lock(&keeper.setup.key)));
    }
    Ok(())
}

/// Starts the process that ends the server if this one dies.
fn start_guard() -> io::Result<()> {
    let mut guard = Command::new(std::env::current_exe()?);
    guard.args(["keep-server", "--guard"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(stdin) = guard.spawn()?.stdin.take() {
        watch_groups(file_of(stdin));
    }
    Ok(())
}

fn is_there(socket: &Path, own: (u64, u64)) -> bool {
    fs::symlink_metadata(socket).is_ok_and(|metadata| identity(&metadata) == own)
}

impl Keeper {
    async fn serve(self: &Arc<Self>, listener: &Listener, socket: &Path, own: (u64, u64)) -> io::Result<()> {
        let mut signals = KeeperSignals::new()?;
        loop {
            let look = LOOK.min(self.setup.keep_for / 4).max(Duration::from_millis(50));
            tokio::select! {
                accepted = listener.accept() => if let Ok((stream, _)) = accepted {
                    let keeper = Arc::clone(self);
                    tokio::spawn(async move { keeper.attend(stream).await });
                } else {
                    // Too many open files: the next attempt may succeed.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                },
                () = self.look.notified() => {}
                () = tokio::time::sleep(look) => {}
                () = self.down.cancelled() => return Ok(()),
                () = signals.end() => return Ok(()),
            }
            if !is_there(socket, own) {
                // Nobody can find it any more.
                self.draining.store(true, Ordering::Relaxed);
            }
            if self.is_over() {
                return Ok(());
            }
        }
    }

    fn is_over(&self) -> bool {
        let is_open = |parked: &Parked| matches!(parked, Parked::Open(_));
        let used = Use {
            is_attached: !self.links().is_empty(),
            is_waited_for: self.parked().values().any(is_open),
            is_draining: self.draining.load(Ordering::Relaxed),
        };
        self.idle.is_over(used, Instant::now())
    }

    /// Ends the server, and tells those who still use it.
    async fn end(&self) {
        if let Some(client) = self.client.lock().await.take() {
            client.close().await;
        }
        self.log("ended");
        let heard = async {
            while self.links().iter().any(|link| link.is_served()) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            // Messages are written by separate tasks.
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        drop(timeout(LAST_WORD, heard).await);
    }

    /// Ends as soon as it is no longer used.
    pub(super) fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
        self.look.notify_one();
    }

    /// The client, once there is one.
    pub(super) async fn client(&self) -> Option<Arc<Client>> {
        self.client.lock().await.clone()
    }

    /// It was used just now.
    pub(super) fn used(&self) {
        self.idle.used(Instant::now());
        self.look.notify_one();
    }

    /// Writes a line of our own to the log.
    pub(super) fn log(&self, text: &str) {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).line(text);
    }

    /// Writes what is worth keeping of a notice to the log.
    pub(super) fn log_notice(&self, notice: &Notice) {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).notice(notice);
    }

    pub(super) fn parked(&self) -> MutexGuard<'_, HashMap<String, Parked>> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn links(&self) -> MutexGuard<'_, Vec<Arc<CommandLink>>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn standing(&self) -> Standing {
        // The command that asks is attached itself, without using the server.
        let attached = self.links().iter().filter(|link| link.is_served()).count();
        let client = self.client.try_lock().ok().and_then(|client| client.clone());
        Standing {
            server: self.setup.server.clone(),
            place: self.setup.place.clone(),
            key: self.setup.key.clone(),
            pid: std::process::id(),
            since: self.since.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
            idle: self.idle.since(Instant::now()).as_secs(),
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
