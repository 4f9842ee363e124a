use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use futures_util::future::join_all;
use tokio::{
    io::AsyncWriteExt as _,
    time::{Instant, sleep, timeout},
};

use super::{
    Stream,
    attach::connect,
    attachment::HELLO,
    folder::{Folder, FolderRefused},
    frame,
    message::{PROGRAM, Standing, ToCommand, ToKeeper},
    setup::identity,
};
use crate::{
    config::ServerConfig,
    protocol::ProtocolChoice,
    system::{is_process, kill_process},
};

/// How long a keeper may take to end its server.
const ENDS: Duration = Duration::from_secs(10);

/// A kept server that was found.
#[derive(Clone, Debug)]
pub struct KeptServer {
    /// Its status.
    pub standing: Standing,
}

/// How a kept server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptEnding {
    /// It has ended.
    Ended,
    /// It did not end, and was killed.
    Killed,
}

/// The kept servers, according to their keepers. Those that do not answer are left out.
///
/// # Errors
/// If others can use the folder.
pub async fn survey() -> Result<Vec<KeptServer>, FolderRefused> {
    let Some(folder) = Folder::find()? else { return Ok(Vec::new()) };
    let keys = folder.keys();
    let asked = keys.iter().map(|key| async { timeout(HELLO, ask(&folder.socket(key))).await.ok()? });
    let mut found: Vec<KeptServer> = join_all(asked).await.into_iter().flatten().collect();
    found.sort_by(|one, other| one.standing.server.cmp(&other.standing.server));
    Ok(found)
}

impl KeptServer {
    /// Whether it is the server that `config` describes now.
    pub fn is_of(&self, config: &ServerConfig) -> bool {
        self.is_as(config, &[], None)
    }

    /// Whether it is the server that `config` describes now, with these options.
    pub fn is_as(&self, config: &ServerConfig, roots: &[PathBuf], protocol: Option<ProtocolChoice>) -> bool {
        // With `--elicit off` it is a different server with the same configuration.
        let is_it = |asks| name_of(config, roots, protocol, asks).is_some_and(|(_, key)| key == self.standing.key);
        is_it(true) || is_it(false)
    }

    /// Its log.
    pub fn log(&self) -> Option<PathBuf> {
        Some(Folder::find().ok()??.log(&self.standing.key))
    }
}

/// The folder, and the name under which this server would be kept; `None` if no server was ever kept.
pub(super) fn name_of(
    config: &ServerConfig,
    roots: &[PathBuf],
    protocol: Option<ProtocolChoice>,
    asks: bool,
) -> Option<(Folder, String)> {
    let folder = Folder::find().ok()??;
    let key = folder.name(&identity(config, roots, protocol, asks), false).ok()??;
    Some((folder, key))
}

/// The log of this server, if it was ever kept.
pub fn log_of(config: &ServerConfig, roots: &[PathBuf], protocol: Option<ProtocolChoice>) -> Option<PathBuf> {
    let (folder, key) = name_of(config, roots, protocol, true)?;
    Some(folder.log(&key))
}

/// Connects to the keeper behind `socket`.
async fn greet(socket: &Path) -> Option<Stream> {
    let mut stream = connect(socket).await.ok()?;
    let hello = ToKeeper::Hello { program: PROGRAM.to_owned(), trace: false, person: false };
    frame::write(&mut stream, &hello, b"").await.ok()?;
    match frame::read::<ToCommand>(&mut stream).await.ok()??.head {
        ToCommand::Hello { program } if program == PROGRAM => Some(stream),
        _ => None,
    }
}

async fn ask(socket: &Path) -> Option<KeptServer> {
    let mut stream = greet(socket).await?;
    frame::write(&mut stream, &ToKeeper::Standing, b"").await.ok()?;
    match frame::read::<ToCommand>(&mut stream).await.ok()??.head {
        ToCommand::Standing(standing) => Some(KeptServer { standing }),
        _ => None,
    }
}

/// Ends a kept server, and waits until it is gone.
///
/// # Errors
/// If others can use the folder.
pub async fn end(found: &KeptServer) -> Result<KeptEnding, FolderRefused> {
    let Some(folder) = Folder::find()? else { return Ok(KeptEnding::Ended) };
    let socket = folder.socket(&found.standing.key);
    let until = Instant::now() + ENDS;
    let told = async {
        let Some(mut stream) = greet(&socket).await else { return };
        drop(frame::write(&mut stream, &ToKeeper::Down, b"").await);
        // The keeper closes the connection when it ends.
        while let Ok(Some(_)) = frame::read::<ToCommand>(&mut stream).await {}
        drop(stream.shutdown().await);
    };
    drop(timeout(ENDS, told).await);
    let Ok(pid) = i32::try_from(found.standing.pid) else { return Ok(KeptEnding::Ended) };
    while is_alive(pid) && Instant::now() < until {
        sleep(Duration::from_millis(5)).await;
    }
    if !is_alive(pid) {
        return Ok(KeptEnding::Ended);
    }
    // Its guard ends the server.
    kill_process(pid);
    Ok(KeptEnding::Killed)
}

/// Whether a process is still running. A zombie, which nobody has waited for, is not.
fn is_alive(pid: i32) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        // The state comes after the name in brackets, which may contain anything (proc(5)).
        Ok(stat) => !stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with(['Z', 'X'])),
        Err(_) => is_process(pid),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_has_ended_is_not_alive_though_nobody_has_waited_for_it() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("started");
        let pid = i32::try_from(child.id()).expect("a process");
        assert!(is_alive(pid));
        child.kill().expect("killed");
        let start = std::time::Instant::now();
        while cfg!(target_os = "linux") && is_alive(pid) {
            assert!(start.elapsed() < Duration::from_secs(10));
        }
        child.wait().expect("waited for");
        assert!(!is_alive(pid));
    }
}
