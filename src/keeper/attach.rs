use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use futures_util::{FutureExt as _, future::BoxFuture};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::{
    Stream,
    attachment::{Attachment, NotAttached},
    folder::{Folder, FolderRefused},
    is_own_peer,
    setup::{KeeperSetup, identity, place},
    start::start,
};
use crate::{
    client::{Attach, Client, ClientError, ClientOptions, Notice, NoticeKind},
    config::ServerConfig,
    transport::Mask,
};

/// How long another command may take to start the same keeper.
const OTHERS: Duration = Duration::from_secs(15);
/// How often to check whether it has.
const LOOK: Duration = Duration::from_millis(10);

/// The keeping policy for servers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// No kept server is used, and none is kept.
    Never,
    /// As its entry says; a kept server is used.
    #[default]
    AsConfigured,
    /// It is kept until it has been idle for this long.
    For(Duration),
}

/// Attaches commands to kept servers.
#[derive(Clone, Debug, Default)]
pub struct Attaching {
    /// The keeping policy.
    pub keep: Keep,
    /// Hides secrets of the configuration.
    pub mask: Mask,
    /// The folder with the sign-ins.
    pub sign_ins: Option<PathBuf>,
}

impl Attach for Attaching {
    fn attach<'a>(
        &'a self,
        config: &'a ServerConfig,
        options: &'a ClientOptions,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Option<Result<Client, ClientError>>> {
        async move {
            let keep_for = match self.keep {
                Keep::Never => return None,
                Keep::AsConfigured => config.keep,
                Keep::For(time) => Some(time),
            };
            match attach(config, options, keep_for, self, stop).await {
                Ok(attachment) => Some(Ok(Client::attached(attachment?))),
                Err(NotAttached::Server(error)) => Some(Err(error)),
                Err(NotAttached::Foreign(reason)) => {
                    let text = format!("it is started only for this command, because {reason}");
                    (options.notices)(Notice { server: options.server.clone(), kind: NoticeKind::Warning(text) });
                    None
                }
                Err(NotAttached::Nobody | NotAttached::OtherVersion) => None,
            }
        }
        .boxed()
    }
}

impl From<FolderRefused> for NotAttached {
    fn from(refused: FolderRefused) -> Self {
        Self::Foreign(refused.to_string())
    }
}

async fn attach(
    config: &ServerConfig,
    options: &ClientOptions,
    mut keep_for: Option<Duration>,
    attaching: &Attaching,
    stop: &CancellationToken,
) -> Result<Option<Attachment>, NotAttached> {
    let folder = match keep_for {
        Some(_) => Folder::make()?,
        None => match Folder::find()? {
            Some(folder) => folder,
            None => return Ok(None),
        },
    };
    let identity = identity(config, &options.roots, options.protocol, options.resolver.is_some());
    let Some(key) = folder.name(&identity, keep_for.is_some())? else { return Ok(None) };
    let socket = folder.socket(&key);
    let was_kept = socket.symlink_metadata().is_ok();
    if was_kept {
        match reach(&socket, options, stop).await {
            Err(NotAttached::Nobody | NotAttached::OtherVersion) => {
                // It was kept, but its keeper is gone or has another version: keep it again.
                keep_for.get_or_insert(ServerConfig::KEEP_FOR);
            }
            reached => return reached.map(Some),
        }
    }
    let Some(keep_for) = keep_for else { return Ok(None) };
    let setup = KeeperSetup {
        server: options.server.to_string(),
        place: attaching.mask.apply(&place(config)).into_owned(),
        config: config.clone(),
        roots: options.roots.clone(),
        protocol: options.protocol,
        asks: options.resolver.is_some(),
        cache: options.cache.clone(),
        sign_ins: attaching.sign_ins.clone(),
        keep_for,
        folder: folder.path().to_owned(),
        key,
    };
    begin(&folder, &setup, options, was_kept, stop).await.map(Some)
}

/// Starts a keeper and attaches to it, or to one that another command starts meanwhile.
async fn begin(
    folder: &Folder,
    setup: &KeeperSetup,
    options: &ClientOptions,
    was_kept: bool,
    stop: &CancellationToken,
) -> Result<Attachment, NotAttached> {
    let socket = folder.socket(&setup.key);
    let until = Instant::now() + OTHERS;
    while !stop.is_cancelled() && Instant::now() < until {
        let Some(_lock) = folder.try_lock(&setup.key)? else {
            sleep(LOOK).await;
            continue;
        };
        let is_other = match reach(&socket, options, stop).await {
            Err(NotAttached::Nobody) => false,
            Err(NotAttached::OtherVersion) => true,
            reached => return reached,
        };
        if was_kept {
            let text = if is_other {
                "another version of toolnexus keeps it, and will stop it when it is no longer used; a new one is \
                 started, without what the old one has in memory"
            } else {
                "its keeper has ended, so it is started again; what it had in memory is lost"
            };
            (options.notices)(Notice { server: options.server.clone(), kind: NoticeKind::Warning(text.to_owned()) });
        }
        start(folder, setup).await?;
        return match reach(&socket, options, stop).await {
            Err(NotAttached::Nobody | NotAttached::OtherVersion) => {
                Err(NotAttached::Foreign("its keeper ended immediately".to_owned()))
            }
            reached => reached,
        };
    }
    if stop.is_cancelled() {
        return Err(NotAttached::Server(ClientError::Interrupted { method: "initialize".to_owned() }));
    }
    Err(NotAttached::Foreign(format!(
        "another command has been starting its keeper for more than {} s",
        OTHERS.as_secs()
    )))
}

/// Attaches to the keeper behind `socket`.
async fn reach(socket: &Path, options: &ClientOptions, stop: &CancellationToken) -> Result<Attachment, NotAttached> {
    Attachment::open(connect(socket).await?, options.clone(), stop).await
}

/// Connects to a socket, and checks that the same user is at the other end.
pub(super) async fn connect(socket: &Path) -> Result<Stream, NotAttached> {
    Folder::check_socket(socket)?;
    let stream = Stream::connect(socket).await.map_err(|_| NotAttached::Nobody)?;
    match is_own_peer(&stream) {
        Ok(true) => Ok(stream),
        Ok(false) => Err(NotAttached::Foreign(format!("another user owns {}", socket.display()))),
        Err(error) => {
            Err(NotAttached::Foreign(format!("the owner of {} cannot be determined: {error}", socket.display())))
        }
    }
}
