use std::{
    process::Stdio,
    time::{Duration, Instant},
};

use tokio::{io::AsyncWriteExt as _, process::Command, time::sleep};

use super::{
    Stream,
    folder::{Folder, FolderRefused},
    setup::KeeperSetup,
};
use crate::transport::MARK;

/// How long a keeper may take to open its socket.
const STARTS: Duration = Duration::from_secs(10);
/// How often to check for it.
const LOOK: Duration = Duration::from_millis(2);

/// Starts a keeper, detached from this process and its terminal, and waits for its socket. The caller holds the lock.
///
/// # Errors
/// If there is none in time; the reason as a clause.
pub(super) async fn start(folder: &Folder, setup: &KeeperSetup) -> Result<(), FolderRefused> {
    let failed = |what: &str| FolderRefused::new(format!("its keeper cannot be started: {what}"));
    let socket = folder.socket(&setup.key);
    // Nobody listens there, or a keeper of another version, which ends when it is no longer used.
    drop(std::fs::remove_file(&socket));
    let program = std::env::current_exe().map_err(|error| failed(&error.to_string()))?;
    let mut command = Command::new(program);
    // If a server started this command, the keeper must not end with that server.
    command.env_remove(MARK);
    command.arg("keep-server").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut keeper = command.spawn().map_err(|error| failed(&error.to_string()))?;
    let text = serde_json::to_vec(setup).map_err(|error| failed(&error.to_string()))?;
    if let Some(mut stdin) = keeper.stdin.take() {
        stdin.write_all(&text).await.map_err(|error| failed(&error.to_string()))?;
    }
    let until = Instant::now() + STARTS;
    loop {
        if Stream::connect(&socket).await.is_ok() {
            return Ok(());
        }
        if let Ok(Some(status)) = keeper.try_wait() {
            return Err(failed(&format!("it ended immediately ({status})")));
        }
        if Instant::now() > until {
            drop(keeper.start_kill());
            return Err(failed(&format!("it did not come up within {} s", STARTS.as_secs())));
        }
        sleep(LOOK).await;
    }
}
