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

/// How long a keeper may take until its socket is there.
const STARTS: Duration = Duration::from_secs(10);
/// How often it is looked for.
const LOOK: Duration = Duration::from_millis(2);

/// Starts a keeper, away from this process and its terminal, and waits until its socket is there. Whoever calls this
/// holds the lock.
///
/// # Errors
/// When there is none in time; what it was, as a clause.
pub(super) async fn start(folder: &Folder, setup: &KeeperSetup) -> Result<(), FolderRefused> {
    let failed = |what: &str| FolderRefused::new(format!("its keeper cannot be started: {what}"));
    let socket = folder.socket(&setup.key);
    // Nobody listens there, or a keeper of another version, which ends when it is no longer used.
    drop(std::fs::remove_file(&socket));
    let program = std::env::current_exe().map_err(|error| failed(&error.to_string()))?;
    let mut command = Command::new(program);
    // Where this command itself was started by a server, the keeper does not end with that one.
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
