use serde_json::Map;

use super::{
    fill::{FieldStep, Fill, PersonReply, safe_label, shown},
    list::{Item, Purpose},
    scene::{Prompt, Title},
    stage::DialogEnd,
};

/// The choices besides filling in fields.
#[derive(Clone, Copy)]
enum Act {
    Send,
    Change(usize),
    GoOn,
    Decline,
    Cancel,
    CancelAll,
}

impl Fill<'_> {
    /// Everything before it is sent: send, change a field, decline, cancel. `None` is Escape.
    pub(super) fn review(&mut self) -> Result<Option<PersonReply>, DialogEnd> {
        self.reviewing = true;
        let mut purpose = Purpose::Consent;
        let mut error = None;
        loop {
            let mut acts = vec![(Act::Send, Item::agreeing("Send", ""))];
            for (at, field) in self.form.fields.iter().enumerate() {
                let value = shown(field, &self.slots[at]).unwrap_or_default();
                acts.push((Act::Change(at), Item::new(format!("Change {}", self.label(field)), value)));
            }
            self.add_ends(&mut acts);
            let title = match &self.asking.server {
                Some(server) => format!("What {server} will receive"),
                None => "What will be sent".to_owned(),
            };
            let prompt = Prompt { error: error.take(), ..prompt(title, "Esc back") };
            let act = self.pick(&prompt, &acts, purpose)?;
            purpose = Purpose::Consent;
            match act {
                Some(Act::Send) => {
                    let content = self.content();
                    let Some(wrong) = self.form.check(&content).into_iter().next() else {
                        return Ok(Some(PersonReply::Send(content)));
                    };
                    let at = self.form.fields.iter().position(|field| field.key == wrong.key);
                    purpose = at.map_or(Purpose::Consent, |at| Purpose::Step(at + 1));
                    error = Some(safe_label(&wrong.to_string()));
                }
                Some(Act::Change(at)) => {
                    if self.ask(at)? == FieldStep::Back {
                        purpose = Purpose::Step(at + 1);
                    }
                }
                act => return Ok(act.and_then(Act::reply)),
            }
        }
    }

    /// The menu that Escape on the first field opens; `None` continues.
    pub(super) fn menu(&mut self) -> Result<Option<PersonReply>, DialogEnd> {
        let mut acts = vec![(Act::GoOn, Item::new("Go on", "back to the question"))];
        self.add_ends(&mut acts);
        let act = self.pick(&prompt("Leave this question?".to_owned(), "Esc go on"), &acts, Purpose::Step(0))?;
        Ok(act.and_then(Act::reply))
    }

    /// A form without fields: yes, no, or neither.
    pub(super) fn confirm(&mut self) -> Result<PersonReply, DialogEnd> {
        let (acts, prompt) = if let Some(server) = &self.asking.server {
            let mut acts = vec![(Act::Send, Item::agreeing("Accept", format!("{server} is told that you agree")))];
            self.add_ends(&mut acts);
            (acts, prompt("Do you accept?".to_owned(), ""))
        } else {
            // The question is ours, and is shown above.
            let acts = vec![(Act::Send, Item::agreeing("Yes", "")), (Act::Cancel, Item::new("No", ""))];
            (acts, Prompt { title: None, ..prompt(String::new(), "") })
        };
        loop {
            match self.pick(&prompt, &acts, Purpose::YesOrNo)? {
                Some(Act::Send) => return Ok(PersonReply::Send(Map::new())),
                Some(act) => {
                    if let Some(reply) = act.reply() {
                        return Ok(reply);
                    }
                }
                None => {
                    if let Some(reply) = self.menu()? {
                        return Ok(reply);
                    }
                }
            }
        }
    }

    /// In a terminal with very few rows, a message that was never shown is written above, permanently.
    fn leave_message_where_there_is_no_room(&mut self) {
        const FEW_ROWS: usize = 8;
        let stage = &mut *self.stage;
        if !stage.look.plain && !stage.has_read && stage.rows() < FEW_ROWS {
            let lines = self.asking.record(stage.look, stage.columns());
            stage.leave(&lines);
            stage.has_read = true;
        }
    }

    /// The ways out without an answer.
    fn add_ends(&self, acts: &mut Vec<(Act, Item)>) {
        if let Some(server) = &self.asking.server {
            acts.push((Act::Decline, Item::new("Decline", format!("{server} is told that you said no"))));
        }
        let closed = if self.asking.server.is_some() { "closed without an answer" } else { "nothing is sent" };
        acts.push((Act::Cancel, Item::new("Cancel", closed)));
        match self.scene.waiting() {
            0 => {}
            count => acts.push((Act::CancelAll, Item::new("Cancel all", format!("this one and {count} more")))),
        }
    }

    fn pick(&mut self, prompt: &Prompt, acts: &[(Act, Item)], purpose: Purpose) -> Result<Option<Act>, DialogEnd> {
        self.scene.answers.clear();
        // An Enter that was typed ahead is not consent.
        self.stage.flush();
        self.leave_message_where_there_is_no_room();
        let items: Vec<Item> = acts.iter().map(|(_, item)| item.clone()).collect();
        let chosen = self.stage.choose(&self.scene, prompt, &items, purpose)?;
        Ok(chosen.map(|index| acts[index].0))
    }
}

impl Act {
    fn reply(self) -> Option<PersonReply> {
        match self {
            Self::Decline => Some(PersonReply::Decline),
            Self::Cancel => Some(PersonReply::Cancel),
            Self::CancelAll => Some(PersonReply::CancelAll),
            Self::Send | Self::Change(_) | Self::GoOn => None,
        }
    }
}

fn prompt(title: String, escape: &str) -> Prompt {
    let hints = ["↑↓ move", "Enter choose", escape, "Ctrl-C cancel the question"];
    Prompt {
        title: Some(Title { label: title, ..Title::default() }),
        hints: hints.into_iter().filter(|hint| !hint.is_empty()).map(str::to_owned).collect(),
        ..Prompt::default()
    }
}
