use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::{
    client::{CallEnd, ClientError, PendingCall, TaskSink},
    config::Config,
    error::Error,
    output::Printer,
    resolver::Pending,
};

/// A task that is stored in the file of `--defer` from its beginning, so that `resume` can continue it after a crash.
pub(crate) struct KeptTask {
    path: PathBuf,
    printer: Arc<Printer>,
    is_written: Arc<AtomicBool>,
}

impl KeptTask {
    /// Keeps a task at `path`.
    pub(crate) fn at(path: &Path, printer: &Arc<Printer>) -> Self {
        Self { path: path.to_owned(), printer: Arc::clone(printer), is_written: Arc::default() }
    }

    /// Writes the file as soon as a call of this server has become a task.
    ///
    /// # Errors
    /// If the server is not in the configuration.
    pub(crate) fn sink(&self, server: &str, config: &Config) -> Result<TaskSink, Error> {
        let (server, config) = (server.to_owned(), config.clone());
        let server_config = config.server(&server)?.clone();
        let (path, printer, is_written) = (self.path.clone(), Arc::clone(&self.printer), Arc::clone(&self.is_written));
        Ok(TaskSink::new(move |call: &PendingCall| {
            match Pending::new(&server, &config, &server_config, call.clone()).save(&path) {
                Ok(()) => is_written.store(true, Ordering::Relaxed),
                // The task continues; it just cannot be resumed.
                Err(error) => {
                    drop(printer.warning(&format!("the task could not be saved in {}: {error}", path.display())));
                }
            }
        }))
    }

    /// The call has ended: the file is removed, unless the task is put aside or the connection to it was lost.
    ///
    /// # Errors
    /// If stdout cannot be written.
    pub(crate) fn end(&self, end: &Result<CallEnd, ClientError>) -> anyhow::Result<()> {
        if !self.is_written.load(Ordering::Relaxed) {
            return Ok(());
        }
        match end {
            Ok(CallEnd::Deferred(_)) => {}
            Err(ClientError::Lost { .. } | ClientError::Connect(_)) => {
                let file = self.path.display().to_string();
                self.printer.note(&format!("`toolnexus resume {}` continues the task", shell_words::quote(&file)))?;
            }
            Ok(CallEnd::Done(_)) | Err(_) => match fs::remove_file(&self.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    self.printer.warning(&format!(
                        "{} is no longer needed, but could not be removed: {error}",
                        self.path.display()
                    ))?;
                }
                _ => {}
            },
        }
        Ok(())
    }
}
