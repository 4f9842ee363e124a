use std::{
    env,
    fs::OpenOptions,
    io::{self, IsTerminal},
    os::fd::{AsFd, OwnedFd},
    sync::Arc,
};

use tokio_util::sync::CancellationToken;

use super::Filled;
use crate::form::Form;

/// The terminal at which a person can be asked. Questions are drawn on standard error and keys are read from standard
/// input, or from `/dev/tty` where standard input carries data.
#[derive(Clone, Debug)]
pub struct Terminal {
    pub(super) input: Arc<OwnedFd>,
    pub(super) plain: bool,
    pub(super) colour: bool,
}

impl Terminal {
    /// The terminal, if there is one: standard error is one, and standard input is one or, with `stdin_is_taken` (it
    /// was named as `-`), `/dev/tty` opens.
    pub fn open(stdin_is_taken: bool) -> Option<Self> {
        if !io::stderr().is_terminal() {
            return None;
        }
        let stdin = io::stdin();
        let input = if stdin.is_terminal() {
            stdin.as_fd().try_clone_to_owned().ok()?
        } else if stdin_is_taken {
            OpenOptions::new().read(true).write(true).open("/dev/tty").ok()?.into()
        } else {
            return None;
        };
        let plain = env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        let colour = !plain && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Some(Self { input: Arc::new(input), plain, colour })
    }

    /// Asks for the values of `form`, under our own `title` ("greet needs", say) and a `message` that is shown as a
    /// server's. Ends with [`Filled::Withdrawn`] soon after `stop` fires.
    #[allow(clippy::unused_async)]
    pub async fn fill(&self, _form: &Form, _title: &str, _message: &str, _stop: CancellationToken) -> Filled {
        Filled::Impossible("this terminal cannot ask yet".to_owned())
    }
}
