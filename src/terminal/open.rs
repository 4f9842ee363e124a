use std::{
    env,
    io::{self, IsTerminal},
    sync::Arc,
};

use tokio_util::sync::CancellationToken;

use super::{
    Filled, Input,
    colour::is_coloured,
    fill::{Asking, PersonReply},
    layout::Look,
    open_input,
    stage::DialogEnd,
};
use crate::{form::Form, text::safe_line};

/// The terminal at which a person can be asked. Questions are drawn on standard error and keys are read from standard
/// input, or from `/dev/tty` if standard input carries data.
#[derive(Clone, Debug)]
pub struct Terminal {
    pub(super) input: Arc<Input>,
    pub(super) look: Look,
}

impl Terminal {
    /// The terminal, if there is one: standard error is a terminal, and so is standard input, or `/dev/tty` can be
    /// opened if `stdin_is_taken` (it was named as `-`).
    pub fn open(stdin_is_taken: bool) -> Option<Self> {
        if !io::stderr().is_terminal() {
            return None;
        }
        let input = open_input(stdin_is_taken)?;
        let plain = env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        let colour = !plain && is_coloured(true);
        Some(Self { input: Arc::new(input), look: Look { plain, colour } })
    }

    /// Asks for the values of `form`, under our own `title` (such as "greet needs") and a `message`, which is shown
    /// like a server's. Ends immediately with [`Filled::Withdrawn`] when `stop` fires.
    pub async fn fill(&self, form: &Form, title: &str, message: &str, stop: CancellationToken) -> Filled {
        let asking = Asking { header: safe_line(title).into_owned(), message: message.to_owned(), ..Asking::default() };
        self.fill_as(form, asking, stop).await
    }

    /// Like [`Terminal::fill`], for values that toolnexus itself asks for. Secrets are allowed here.
    pub async fn fill_for_us(&self, form: &Form, title: &str, stop: CancellationToken) -> Filled {
        let asking = Asking { header: safe_line(title).into_owned(), is_for_us: true, ..Asking::default() };
        self.fill_as(form, asking, stop).await
    }

    async fn fill_as(&self, form: &Form, asking: Asking, stop: CancellationToken) -> Filled {
        let form = form.clone();
        match self.run(&stop, |_| (), move |stage| stage.fill(&form, &asking)).await {
            Ok(PersonReply::Send(content)) => Filled::Accept(content),
            Ok(PersonReply::Decline) => Filled::Decline,
            Ok(PersonReply::Cancel | PersonReply::CancelAll) | Err(DialogEnd::Interrupted) => Filled::Cancel,
            Err(DialogEnd::Withdrawn) => Filled::Withdrawn,
            Err(end) => Filled::Impossible(end.to_string()),
        }
    }

    /// Lets the person edit `text` with their own program. The inner error says why that was not possible.
    ///
    /// # Errors
    /// If it was interrupted, or `stop` fired.
    pub(crate) async fn edit(
        &self,
        text: &str,
        suffix: &'static str,
        stop: &CancellationToken,
    ) -> Result<Result<String, String>, DialogEnd> {
        let text = text.to_owned();
        self.run(stop, |_| (), move |stage| stage.edit_externally(&text, suffix)).await
    }
}
