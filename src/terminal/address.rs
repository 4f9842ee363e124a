use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::{
    AlarmCause, Terminal,
    ask::Redraw,
    editor::Editor,
    entry::Entered,
    fill::{Asking, PersonReply},
    line::ScreenLine,
    scene::{Prompt, Title},
    stage::{DialogEnd, Stage},
};

/// The longest address that is accepted, in bytes.
const LONGEST: usize = 16 << 10;

impl Terminal {
    /// Asks for the address at which a browser on another machine ended: [`PersonReply::Send`] with `address`. It
    /// contains a code, so it is shown as dots, and does not stay on the screen.
    pub(crate) async fn ask_for_address(
        &self,
        asking: Asking,
        stop: &CancellationToken,
        redraw: impl FnOnce(Redraw),
    ) -> Result<PersonReply, DialogEnd> {
        let ready = |bell: super::Bell| redraw(Box::new(move || bell.ring(AlarmCause::Changed)));
        self.run(stop, ready, move |stage| stage.paste_address(&asking)).await
    }
}

impl Stage {
    fn paste_address(&mut self, asking: &Asking) -> Result<PersonReply, DialogEnd> {
        let title = Title { label: "Address".to_owned(), ..Title::default() };
        let mut prompt = Prompt {
            title: Some(title),
            about: "Only if your browser is on another machine: paste the address of the page that it could not open."
                .to_owned(),
            hints: ["Enter continue", "Esc cancel"].map(str::to_owned).to_vec(),
            ..Prompt::default()
        };
        let mut editor = Editor::default();
        let reply = loop {
            match self.enter(&asking.scene(), &prompt, &mut editor, true) {
                Ok(Entered::Done) if editor.text().trim().is_empty() || editor.text().len() > LONGEST => {
                    editor = Editor::default();
                    prompt.error =
                        Some("not an address; there is nothing to do here if you continue in the browser".to_owned());
                }
                Ok(Entered::Done) => {
                    let address = Value::from(editor.text().trim());
                    break PersonReply::Send(Map::from_iter([("address".to_owned(), address)]));
                }
                Ok(Entered::Back) | Err(DialogEnd::Interrupted) => break PersonReply::Cancel,
                Ok(Entered::External | Entered::Restore) => {}
                Err(end) => return Err(end),
            }
        };
        if reply == PersonReply::Cancel {
            self.leave(&[ScreenLine::faint("cancelled: nobody signed in"), ScreenLine::default()]);
        }
        Ok(reply)
    }
}
