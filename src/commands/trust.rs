use std::{fs, io, path::PathBuf};

use crate::{
    config::{Config, Environment, FoundBy},
    error::Error,
    output::safe_line,
};

/// Makes sure that the user wants the servers of `config` to be started though none was named: a file that merely lay in
/// the working folder, or above, is confirmed once for its content, or with `--trust`.
///
/// # Errors
/// [`Error::Usage`] when it is not confirmed.
pub(super) fn confirm(config: &Config, trust: bool, environment: &Environment) -> Result<(), Error> {
    if config.found_by != FoundBy::Project || config.servers.iter().all(|entry| !entry.enabled) {
        return Ok(());
    }
    let mark = mark(config, environment);
    if trust {
        // Not being able to remember it means to be asked again.
        drop(mark.map(|mark| remember(&mark)));
        return Ok(());
    }
    if mark.is_some_and(|mark| mark.is_file()) {
        return Ok(());
    }
    let path = config.path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    Err(Error::Usage {
        message: format!("{} would start servers, and was found here, not named", safe_line(&path)),
        hint: Some("look into it; then --trust starts them, and is remembered until the file changes".to_owned()),
    })
}

fn mark(config: &Config, environment: &Environment) -> Option<PathBuf> {
    let folder = environment.data_folder.as_ref()?.join(env!("CARGO_PKG_NAME")).join("trusted");
    (!config.hash.is_empty()).then(|| folder.join(&config.hash))
}

fn remember(mark: &PathBuf) -> io::Result<()> {
    if let Some(folder) = mark.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(mark, "")
}
