use std::sync::{Arc, atomic::AtomicUsize};

use serde_json::{Map, Value};

use super::{
    layout::Look,
    line::{Ink, ScreenLine},
    scene::{Note, Scene},
    stage::{DialogEnd, Stage},
};
use crate::form::{Field, Form};
use crate::text::{cut, safe_line, safe_text};

/// The longest label and the longest text from a server that are shown, in characters.
pub(super) const LABEL: usize = 60;
const TEXT: usize = 60_000;
/// How many characters of a message stay on the screen afterwards.
const RECORD: usize = 4000;

/// Who asks, and what is shown above everything.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asking {
    /// The first line, in our words, with safe names.
    pub(crate) header: String,
    /// The server's message, unchanged.
    pub(crate) message: String,
    /// The server's safe name, which is told if the person declines; without one, nobody can be told.
    pub(crate) server: Option<String>,
    /// How many other questions are waiting.
    pub(crate) waiting: Arc<AtomicUsize>,
    /// Whether the values are for this program, not for a server.
    pub(crate) is_for_us: bool,
}

/// A person's reaction to a question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PersonReply {
    /// Yes, with this content.
    Send(Map<String, Value>),
    /// No.
    Decline,
    /// Closed.
    Cancel,
    /// Closed, with everything that is waiting.
    CancelAll,
}

/// The state of a field.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum FieldSlot {
    /// Not asked yet.
    #[default]
    Open,
    /// Left out.
    Out,
    /// A value that the field accepts.
    Given(Value),
}

/// Where to go after a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldStep {
    Next,
    Back,
}

/// A form that is being filled in.
pub(super) struct Fill<'a> {
    pub(super) stage: &'a mut Stage,
    pub(super) asking: &'a Asking,
    pub(super) form: &'a Form,
    pub(super) scene: Scene,
    pub(super) slots: Vec<FieldSlot>,
    /// Text that was typed but not entered.
    pub(super) drafts: Vec<Option<String>>,
    /// Whether the review has been reached: then fields are changed one by one.
    pub(super) reviewing: bool,
    /// The field whose value this form is.
    pub(super) within: Option<String>,
    /// Why the content as a whole is refused.
    pub(super) trouble: Option<String>,
}

impl Asking {
    pub(super) fn scene(&self) -> Scene {
        Scene {
            header: self.header.clone(),
            message: safe(&self.message),
            waiting: Arc::clone(&self.waiting),
            answers: Vec::new(),
        }
    }

    /// What stays on the screen afterwards.
    pub(super) fn record(&self, look: Look, columns: usize) -> Vec<ScreenLine> {
        let header = ScreenLine::new(Ink::Strong, &*self.header);
        [header].into_iter().chain(look.behind_bar(&cut(&safe(&self.message), RECORD), columns)).collect()
    }
}

/// Server text, safe and shortened.
pub(super) fn safe(text: &str) -> String {
    cut(&safe_text(text), TEXT).trim().to_owned()
}

/// A name or a short text from a server, safe and shortened.
pub(super) fn safe_label(text: &str) -> String {
    cut(&safe_line(text), LABEL).into_owned()
}

impl Stage {
    /// Lets a person fill in `form`.
    pub(super) fn fill(&mut self, form: &Form, asking: &Asking) -> Result<PersonReply, DialogEnd> {
        let slots = vec![FieldSlot::Open; form.fields.len()];
        let drafts = vec![None; form.fields.len()];
        let scene = asking.scene();
        let mut fill =
            Fill { stage: self, asking, form, scene, slots, drafts, reviewing: false, within: None, trouble: None };
        let reply = fill.run();
        let answers = fill.answers(true);
        let interrupted = matches!(reply, Err(DialogEnd::Interrupted));
        match &reply {
            Ok(reply) => self.record(asking, &answers, reply),
            Err(_) if interrupted => self.record(asking, &[], &PersonReply::Cancel),
            Err(_) => {}
        }
        if interrupted { Ok(PersonReply::Cancel) } else { reply }
    }

    /// Leaves a few lines about what happened.
    pub(super) fn record(&mut self, asking: &Asking, answers: &[(String, String)], reply: &PersonReply) {
        let columns = self.columns();
        let mut lines = if self.look.plain { Vec::new() } else { asking.record(self.look, columns) };
        let server = asking.server.as_deref();
        match (reply, server) {
            (PersonReply::Send(_), server) => {
                let scene = Scene { answers: answers.to_vec(), ..Scene::default() };
                if !self.look.plain {
                    lines.extend(scene.answer_lines(columns).iter().map(|line| line.cut(columns)));
                }
                lines.extend(server.map(|server| ScreenLine::good(self.look.tick(), &format!("sent to {server}"))));
            }
            (PersonReply::Decline, Some(server)) => {
                lines.push(ScreenLine::faint(format!("declined: {server} is told that you said no")));
            }
            (_, Some(_)) => lines.push(ScreenLine::faint("cancelled: closed without an answer")),
            (_, None) => lines.push(ScreenLine::faint("cancelled")),
        }
        lines.push(ScreenLine::default());
        self.leave(&lines);
    }
}

impl Fill<'_> {
    fn run(&mut self) -> Result<PersonReply, DialogEnd> {
        if self.form.is_empty() {
            return self.confirm();
        }
        let mut at = 0;
        loop {
            if at == self.form.fields.len() {
                if self.is_sent_by_enter() {
                    let content = self.content();
                    match self.form.check(&content).first() {
                        None => return Ok(PersonReply::Send(content)),
                        Some(_) => self.reviewing = true,
                    }
                }
                if let Some(reply) = self.review()? {
                    return Ok(reply);
                }
                self.reviewing = false;
                at -= 1;
                continue;
            }
            match self.ask(at)? {
                FieldStep::Next => at += 1,
                FieldStep::Back if at > 0 => at -= 1,
                FieldStep::Back => {
                    if let Some(reply) = self.menu()? {
                        return Ok(reply);
                    }
                }
            }
        }
    }

    /// The content that is sent: what was entered, and nothing else.
    pub(super) fn content(&self) -> Map<String, Value> {
        let given = |(field, slot): (&Field, &FieldSlot)| match slot {
            FieldSlot::Given(value) => Some((field.key.clone(), value.clone())),
            FieldSlot::Open | FieldSlot::Out => None,
        };
        self.form.fields.iter().zip(&self.slots).filter_map(given).collect()
    }

    /// The answers so far, for a person; with fields that were `left_out`, or without.
    pub(super) fn answers(&self, left_out: bool) -> Vec<(String, String)> {
        let answer = |(field, slot): (&Field, &FieldSlot)| {
            let value = shown(field, slot)?;
            (left_out || *slot != FieldSlot::Out).then(|| (self.label(field), value))
        };
        self.form.fields.iter().zip(&self.slots).filter_map(answer).collect()
    }

    /// A field's label, with its key if another field has the same label.
    pub(super) fn label(&self, field: &Field) -> String {
        let label = safe_label(field.label());
        let same = self.form.fields.iter().filter(|other| other.label() == field.label()).count();
        if same > 1 { format!("{label} ({})", safe_label(&field.key)) } else { label }
    }

    /// Our notes about the form or a field.
    pub(super) fn notes(&self, at: usize) -> Vec<Note> {
        let field = &self.form.fields[at];
        let of_form = self.form.notes.iter().filter(|_| at == 0);
        of_form.chain(&field.notes).map(|note| Note::Info(cut(&safe_line(note), 200).into_owned())).collect()
    }
}

/// A slot in words; `None` if it is open.
pub(super) fn shown(field: &Field, slot: &FieldSlot) -> Option<String> {
    match slot {
        FieldSlot::Open => None,
        FieldSlot::Out => Some("left out".to_owned()),
        FieldSlot::Given(value) => {
            let text = field.show(value).replace('\n', " ⏎ ");
            Some(if text.is_empty() { "(empty text)".to_owned() } else { cut(&safe_line(&text), 200).into_owned() })
        }
    }
}
