use std::{
    env,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

use crate::transport::{StdioEndpoint, TransportError};

/// The command that means the running program itself, if it is not on `PATH`.
const OURSELVES: &str = "toolnexus";

/// The program for `endpoint`.
pub(super) fn resolve(endpoint: &StdioEndpoint) -> OsString {
    let own = || env::current_exe().ok().map(OsString::from);
    if endpoint.command == OURSELVES && find(endpoint).is_none() {
        return own().unwrap_or_else(|| OURSELVES.into());
    }
    endpoint.command.clone().into()
}

/// Refuses a working directory that does not exist: the system would say that the program is missing.
pub(super) fn check_directory(endpoint: &StdioEndpoint) -> Result<(), TransportError> {
    match &endpoint.cwd {
        Some(cwd) if !cwd.is_dir() => {
            Err(TransportError::NoDirectory { command: endpoint.command.clone(), cwd: cwd.clone() })
        }
        _ => Ok(()),
    }
}

/// Why the program could not be started, in clearer words than the system's.
pub(super) fn refusal(endpoint: &StdioEndpoint, error: io::Error) -> TransportError {
    let is_path = Path::new(&endpoint.command).components().count() > 1;
    let advice =
        if endpoint.command.contains(' ') { " (a command is only the program, without its arguments)" } else { "" };
    let what = |what: &str| format!("{what}{advice}");
    let source = match (error.kind(), find(endpoint)) {
        (io::ErrorKind::NotFound, Some(found)) => {
            let reason = format!("{} needs an interpreter that does not exist", found.display());
            io::Error::new(io::ErrorKind::NotFound, reason)
        }
        (io::ErrorKind::NotFound, None) if is_path => io::Error::new(io::ErrorKind::NotFound, what("no such file")),
        (io::ErrorKind::NotFound, None) => io::Error::new(io::ErrorKind::NotFound, what("no such program on PATH")),
        _ => error,
    };
    TransportError::Spawn { command: endpoint.command.clone(), source }
}

fn find(endpoint: &StdioEndpoint) -> Option<PathBuf> {
    let command = Path::new(&endpoint.command);
    if command.components().count() > 1 {
        let file = endpoint.cwd.as_deref().unwrap_or(Path::new("")).join(command);
        return file.is_file().then_some(file);
    }
    let own = endpoint.env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value.into());
    let path: OsString = own.or_else(|| env::var_os("PATH"))?;
    let names = [endpoint.command.clone(), format!("{}{}", endpoint.command, env::consts::EXE_SUFFIX)];
    env::split_paths(&path).flat_map(|folder| names.clone().map(|name| folder.join(name))).find(|file| file.is_file())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::text::with_causes;

    #[test]
    fn our_own_name_is_the_running_program_unless_path_has_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().to_string_lossy().into_owned();
        let endpoint =
            StdioEndpoint { command: OURSELVES.into(), env: vec![("PATH".into(), path)], ..StdioEndpoint::default() };
        assert_eq!(Some(resolve(&endpoint)), env::current_exe().ok().map(OsString::from));
        std::fs::write(folder.path().join(OURSELVES), "").expect("written");
        assert_eq!(resolve(&endpoint), OURSELVES);
        let other = StdioEndpoint { command: "sh".into(), ..StdioEndpoint::default() };
        assert_eq!(resolve(&other), "sh");
    }

    #[test]
    fn a_missing_interpreter_is_not_mistaken_for_a_missing_script() {
        let folder = tempfile::tempdir().expect("a folder");
        let script = folder.path().join("server");
        let refused = |command: &Path| {
            let endpoint = StdioEndpoint { command: command.to_string_lossy().into(), ..StdioEndpoint::default() };
            with_causes(&refusal(&endpoint, io::ErrorKind::NotFound.into()))
        };
        assert!(refused(&script).ends_with("no such file"));
        assert!(refused(Path::new("nowhere-program -y thing")).contains("no such program on PATH (a command is"));
        std::fs::write(&script, "#!/nowhere/interpreter").expect("written");
        assert!(refused(&script).ends_with("needs an interpreter that does not exist"));
    }
}
