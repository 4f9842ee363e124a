use std::{
    sync::{Arc, atomic::AtomicUsize},
    time::{Duration, Instant},
};

use tokio_util::sync::CancellationToken;

use super::{
    AlarmCause, Terminal,
    fill::{Asking, PersonReply, safe_label},
    gate::gate,
    list::{Item, Purpose},
    scene::{Prompt, Title},
    stage::DialogEnd,
    waiting::Wait,
};
use crate::text::{cut, safe_line};
use crate::{
    elicitation::{Link, LinkRefused, Origin, Waited},
    form::Form,
};

/// Redraws what is shown.
pub(crate) type Redraw = Box<dyn Fn() + Send>;

impl Asking {
    /// Who asks, with a message, and how many other questions are waiting.
    pub(crate) fn of(origin: &Origin, verb: &str, message: &str, waiting: Arc<AtomicUsize>) -> Self {
        let server = safe_label(origin.server.as_str());
        let during = origin.call.as_ref().map(|call| format!(", during {}", safe_label(call.as_str())));
        let header = format!("{server} {verb}{}", during.unwrap_or_default());
        Self { header, message: message.to_owned(), server: Some(server), waiting, is_for_us: false }
    }
}

impl Terminal {
    /// Asks for the values of `form`. `redraw` gets a function that redraws the screen.
    pub(crate) async fn ask_form(
        &self,
        asking: Asking,
        form: Arc<Form>,
        stop: &CancellationToken,
        redraw: impl FnOnce(Redraw),
    ) -> Result<PersonReply, DialogEnd> {
        let ready = |bell: super::Bell| redraw(Box::new(move || bell.ring(AlarmCause::Changed)));
        self.run(stop, ready, move |stage| stage.fill(&form, &asking)).await
    }

    /// Prints that a link was refused.
    pub(crate) fn refuse_link(asking: &Asking, url: &str, refused: &LinkRefused) {
        let url = cut(&safe_line(url), 200).into_owned();
        let server = asking.server.as_deref().unwrap_or("the sign-in");
        let reason = &refused.reason;
        gate().print(&format!("warning: {server} asked to open a link, which was refused ({reason}): {url}\n"));
    }

    /// Asks whether a link may be opened, and opens it.
    pub(crate) async fn ask_link(
        &self,
        asking: Asking,
        link: Arc<Link>,
        browser: bool,
        stop: &CancellationToken,
        redraw: impl FnOnce(Redraw),
    ) -> Result<PersonReply, DialogEnd> {
        let ready = |bell: super::Bell| redraw(Box::new(move || bell.ring(AlarmCause::Changed)));
        let consent = self.run(stop, ready, move |stage| stage.consent(&asking, &link, browser)).await?;
        Ok(consent.reply())
    }

    /// Asks whether a server that has asked `many` questions may continue: [`PersonReply::Send`] means yes.
    pub(crate) async fn ask_to_go_on(
        &self,
        asking: Asking,
        many: usize,
        stop: &CancellationToken,
    ) -> Result<PersonReply, DialogEnd> {
        self.run(stop, drop, move |stage| {
            let mut scene = asking.scene();
            let server = asking.server.as_deref().unwrap_or("the server");
            scene.header = asking.header.replacen(" asks", &format!(" has asked {many} questions"), 1);
            scene.message.clear();
            let items = [
                Item::new("Go on", "see its next question"),
                Item::new("Cancel all", format!("nothing more from {server} in this call")),
            ];
            let hints = ["↑↓ move", "Enter choose"].map(str::to_owned).to_vec();
            let title = Title { label: "Is that all right?".to_owned(), ..Title::default() };
            let prompt = Prompt { title: Some(title), hints, ..Prompt::default() };
            stage.flush();
            match stage.choose(&scene, &prompt, &items, Purpose::YesOrNo) {
                Ok(Some(0)) => Ok(PersonReply::Send(serde_json::Map::new())),
                Ok(_) | Err(DialogEnd::Interrupted) => Ok(PersonReply::CancelAll),
                Err(end) => Err(end),
            }
        })
        .await
    }

    /// Shows that an accepted link is being waited for, since `begin` and until `end` at the latest. `None` if the
    /// terminal is needed for a question.
    pub(crate) async fn wait_for_link(
        &self,
        asking: Asking,
        (begin, end): (Instant, Instant),
        done: &CancellationToken,
        redraw: impl FnOnce(Redraw),
    ) -> Option<Waited> {
        let ready = |bell: super::Bell| redraw(Box::new(move || bell.ring(AlarmCause::Changed)));
        let waited = self.run(done, ready, move |stage| stage.wait_for(&asking, begin, end)).await;
        match waited {
            Ok(Wait::Continue) => Some(Waited::Continue),
            Ok(Wait::Cancel) | Err(DialogEnd::Interrupted) => Some(Waited::Cancel),
            Ok(Wait::TimedOut) => Some(Waited::TimedOut),
            Ok(Wait::Yield) => None,
            Err(DialogEnd::Withdrawn) => Some(Waited::Complete),
            // Without a screen, the link is still waited for.
            Err(DialogEnd::TooSmall(_) | DialogEnd::Gone(_)) => {
                let rest: Duration = end.saturating_duration_since(Instant::now());
                let waited = tokio::time::timeout(rest, done.cancelled()).await;
                Some(waited.map_or(Waited::TimedOut, |()| Waited::Complete))
            }
        }
    }
}
