use super::{
    browser,
    fill::{Asking, PersonReply},
    line::ScreenLine,
    list::{Item, Purpose},
    scene::{Note, Prompt, Scene, Title},
    stage::{DialogEnd, Stage},
};
use crate::{elicitation::Link, text::safe_line};

/// A person's decision about a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Consent {
    /// Start the browser.
    Open,
    /// The person opens it.
    Own,
    /// Anything but a yes.
    No(LinkRefusal),
}

/// The ways to say no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkRefusal {
    Decline,
    Cancel,
    CancelAll,
}

impl Stage {
    /// Asks whether `link` may be opened. The whole address is shown before anything can be chosen.
    pub(super) fn consent(&mut self, asking: &Asking, link: &Link, browser: bool) -> Result<Consent, DialogEnd> {
        let notes = notes(link);
        let mut scene = asking.scene();
        let mut prompt = Prompt {
            notes: notes.clone(),
            hints: ["↑↓ move", "Enter choose", "Esc menu", "Ctrl-C cancel the question"].map(str::to_owned).to_vec(),
            ..Prompt::default()
        };
        let mut choices =
            vec![(Consent::Own, Item::agreeing("I'll open it myself", "the address stays on the screen"))];
        if let Some(server) = &asking.server {
            let told = format!("{server} is told that you said no");
            choices.push((Consent::No(LinkRefusal::Decline), Item::new("Decline", told)));
        }
        choices.push((Consent::No(LinkRefusal::Cancel), Item::new("Cancel", closed(asking))));
        if browser {
            choices.insert(0, (Consent::Open, Item::agreeing("Open it in the browser", "")));
        }
        if scene.waiting() > 0 {
            let detail = format!("this one and {} more", scene.waiting());
            choices.push((Consent::No(LinkRefusal::CancelAll), Item::new("Cancel all", detail)));
        }
        self.make_room(asking, &mut scene, &mut prompt, choices.len())?;
        self.flush();
        let items: Vec<Item> = choices.iter().map(|(_, item)| item.clone()).collect();
        let consent = loop {
            match self.choose(&scene, &prompt, &items, Purpose::Consent) {
                Ok(Some(index)) => break choices[index].0,
                Ok(None) => match self.leave_question(&scene, asking) {
                    Ok(Some(refusal)) => break Consent::No(refusal),
                    Ok(None) => {}
                    Err(DialogEnd::Interrupted) => break Consent::No(LinkRefusal::Cancel),
                    Err(end) => return Err(end),
                },
                Err(DialogEnd::Interrupted) => break Consent::No(LinkRefusal::Cancel),
                Err(end) => return Err(end),
            }
        };
        self.leave_link(asking, &scene, link, consent);
        Ok(consent)
    }

    /// The menu that Escape opens; `None` continues.
    fn leave_question(&mut self, scene: &Scene, asking: &Asking) -> Result<Option<LinkRefusal>, DialogEnd> {
        let mut choices = vec![
            (None, Item::new("Go on", "back to the link")),
            (Some(LinkRefusal::Cancel), Item::new("Cancel", closed(asking))),
        ];
        if let Some(server) = &asking.server {
            let decline = Item::new("Decline", format!("{server} is told that you said no"));
            choices.insert(1, (Some(LinkRefusal::Decline), decline));
        }
        let items: Vec<Item> = choices.iter().map(|(_, item)| item.clone()).collect();
        let title = Title { label: "Leave this question?".to_owned(), ..Title::default() };
        let hints = ["↑↓ move", "Enter choose", "Esc go on"].map(str::to_owned).to_vec();
        let prompt = Prompt { title: Some(title), hints, ..Prompt::default() };
        let chosen = self.choose(scene, &prompt, &items, Purpose::Step(0))?;
        Ok(chosen.and_then(|index| choices[index].0))
    }

    /// If the terminal is too short for everything, the address and its warnings are written first, permanently, and
    /// only the choices are redrawn.
    fn make_room(
        &mut self,
        asking: &Asking,
        scene: &mut Scene,
        prompt: &mut Prompt,
        choices: usize,
    ) -> Result<(), DialogEnd> {
        let size = self.size()?;
        let columns = size.columns.saturating_sub(1).max(1);
        let notes = prompt.note_lines(columns).len();
        if self.look.plain || notes + choices + 4 <= size.rows {
            return Ok(());
        }
        let lines = self.story(asking, &prompt.notes);
        self.leave(&lines);
        *scene = Scene { waiting: scene.waiting.clone(), ..Scene::default() };
        prompt.notes.clear();
        Ok(())
    }

    /// Leaves the address on the screen, unbroken so that it can be copied, and what is done with it.
    fn leave_link(&mut self, asking: &Asking, scene: &Scene, link: &Link, consent: Consent) {
        let was_left = scene.header.is_empty() || self.look.plain;
        let mut lines = if was_left { Vec::new() } else { self.story(asking, &notes(link)) };
        let server = asking.server.as_deref().unwrap_or_default();
        lines.push(match consent {
            Consent::Open => match browser::open(&link.url) {
                None => ScreenLine::good(self.look.tick(), "opening it in the browser"),
                Some(error) => ScreenLine::faint(format!(
                    "the browser did not start ({}); open the address above yourself",
                    safe_line(&error.to_string())
                )),
            },
            Consent::Own => ScreenLine::good(self.look.tick(), "open the address above yourself"),
            Consent::No(LinkRefusal::Decline) => {
                ScreenLine::faint(format!("declined: {server} is told that you said no"))
            }
            Consent::No(_) => ScreenLine::faint(format!("cancelled: {}", closed(asking))),
        });
        lines.push(ScreenLine::default());
        self.leave(&lines);
    }

    fn story(&self, asking: &Asking, notes: &[Note]) -> Vec<ScreenLine> {
        let columns = self.columns();
        let mut lines = asking.record(self.look, columns);
        for note in notes {
            match note {
                Note::Address(url) => lines.push(ScreenLine::accent(url)),
                note => lines.extend(note.lines(columns)),
            }
        }
        lines
    }
}

impl Consent {
    pub(super) fn reply(self) -> PersonReply {
        match self {
            Self::Open | Self::Own => PersonReply::Send(serde_json::Map::new()),
            Self::No(LinkRefusal::Decline) => PersonReply::Decline,
            Self::No(LinkRefusal::Cancel) => PersonReply::Cancel,
            Self::No(LinkRefusal::CancelAll) => PersonReply::CancelAll,
        }
    }
}

/// The effect of closing the question.
fn closed(asking: &Asking) -> &'static str {
    if asking.server.is_some() { "closed without an answer" } else { "nothing is opened" }
}

fn notes(link: &Link) -> Vec<Note> {
    let mut notes = vec![Note::Address(link.url.clone()), Note::Info(format!("host    {}", link.host))];
    notes.extend(link.warnings.iter().map(|warning| Note::Warning(warning.clone())));
    notes
}
