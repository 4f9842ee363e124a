use serde_json::{Value, json};

use super::{
    Editor,
    dates::complete,
    entry::Entered,
    fill::{FieldSlot, FieldStep, Fill, LABEL, safe, safe_label, shown},
    list::{Item, Purpose},
    object,
    scene::{Note, Prompt, Title},
    stage::DialogEnd,
    switch::Switch,
};
use crate::form::{Choice, Field, FieldKind};
use crate::text::{cut, safe_line};

const OUT: &str = "leave it out";

impl Fill<'_> {
    /// Asks for one field.
    pub(super) fn ask(&mut self, at: usize) -> Result<FieldStep, DialogEnd> {
        let form = self.form;
        let field = &form.fields[at];
        let before = if self.reviewing { Vec::new() } else { self.answers_before(at) };
        self.scene.answers = before;
        match &field.kind {
            FieldKind::Json => match object::keys_of(field) {
                Some(keys) => self.ask_keys(at, field, &keys),
                None => self.ask_text(at, field),
            },
            FieldKind::Text(_) | FieldKind::Number(_) => self.ask_text(at, field),
            FieldKind::Boolean => self.ask_boolean(at, field),
            FieldKind::Choice(choice) => self.ask_choice(at, field, &choice.choices),
            FieldKind::List(list) => self.ask_list(at, field, &list.choices),
            FieldKind::Const(value) => {
                let only = Choice { value: value.clone(), title: None, description: None };
                self.ask_choice(at, field, &[only])
            }
        }
    }

    fn answers_before(&self, at: usize) -> Vec<(String, String)> {
        let fields = self.form.fields.iter().zip(&self.slots).take(at);
        fields.filter_map(|(field, slot)| Some((self.label(field), shown(field, slot)?))).collect()
    }

    /// The prefilled value: what was entered before, or else the default.
    fn ready<'b>(&'b self, at: usize, field: &'b Field) -> Option<&'b Value> {
        match &self.slots[at] {
            FieldSlot::Given(value) => Some(value),
            FieldSlot::Out => None,
            FieldSlot::Open => field.default.as_ref(),
        }
    }

    fn ask_text(&mut self, at: usize, field: &Field) -> Result<FieldStep, DialogEnd> {
        let ready = self.ready(at, field).map(|value| field.edit(value));
        let mut editor = match (self.drafts[at].take(), ready, &field.kind) {
            (None, Some(ready), FieldKind::Number(_)) => Editor::replaced_by_typing(ready),
            (draft, ready, _) => Editor::new(draft.or(ready).unwrap_or_default()),
        };
        let default = field.default.as_ref().filter(|_| !field.secret).map(|value| field.edit(value));
        let mut hints = vec![self.enter_hint("next")];
        match field.parse_empty() {
            Ok(None) if !editor.text().is_empty() => hints.push("Ctrl-U, Enter leaves it out".to_owned()),
            Ok(None) => hints.push("empty leaves it out".to_owned()),
            Ok(Some(Value::Null)) => hints.push("empty sends null".to_owned()),
            Ok(Some(_)) => hints.push("empty sends an empty text".to_owned()),
            Err(_) => {}
        }
        let editable = !field.secret && !matches!(field.kind, FieldKind::Number(_));
        if default.is_some() {
            hints.push("Ctrl-R default".to_owned());
        }
        self.add_back(at, &mut hints);
        if editable && may_be_long(field) {
            hints.push("Ctrl-O editor".to_owned());
        }
        let mut prompt = self.prompt(at, hints);
        loop {
            match self.stage.enter(&self.scene, &prompt, &mut editor, field.secret)? {
                Entered::Back => {
                    self.drafts[at] = Some(editor.text().to_owned()).filter(|text| !text.is_empty() && !field.secret);
                    return Ok(FieldStep::Back);
                }
                Entered::External if editable => {
                    let is_json = field.kind == FieldKind::Json;
                    let suffix = if is_json { ".json" } else { ".txt" };
                    let template = field.template().filter(|_| is_json && editor.text().trim().is_empty());
                    let text = template.as_deref().unwrap_or(editor.text());
                    match self.stage.edit_externally(text, suffix)? {
                        Ok(text) if Some(text.trim()) == template.as_deref() => {}
                        Ok(text) => editor = Editor::new(if is_json { on_one_line(text) } else { text }),
                        Err(error) => prompt.error = Some(safe_line(&error).into_owned()),
                    }
                }
                Entered::Restore => {
                    prompt.error = None;
                    if let Some(default) = &default {
                        editor = Editor::new(default);
                    }
                }
                Entered::External => {}
                Entered::Done if self.is_sent_by_enter() && complete(field, editor.text()).is_some() => {
                    // Shows the value that will be sent.
                    editor = Editor::new(complete(field, editor.text()).unwrap_or_default());
                    prompt.error =
                        Some("the missing parts were filled in, with your time zone; Enter sends".to_owned());
                }
                Entered::Done => match entered(field, editor.text()) {
                    Err(error) => prompt.error = Some(error),
                    Ok(slot) if !field.secret || self.asking.is_for_us || slot == FieldSlot::Out => {
                        return Ok(self.take(at, slot));
                    }
                    Ok(slot) => match self.ask_again(&prompt, editor.text())? {
                        Some(true) => return Ok(self.take(at, slot)),
                        Some(false) => {
                            editor = Editor::default();
                            prompt.error = Some("the two do not match; enter it again".to_owned());
                        }
                        None => prompt.error = None,
                    },
                },
            }
        }
    }

    /// Asks for a secret again: returns whether it is the same, `None` after Escape.
    fn ask_again(&mut self, first: &Prompt, text: &str) -> Result<Option<bool>, DialogEnd> {
        let mut prompt = Prompt { about: String::new(), error: None, ..first.clone() };
        if let Some(title) = &mut prompt.title {
            title.label.push_str(", again");
            title.key = None;
        }
        prompt.hints = vec![self.enter_hint("next"), "Esc back".to_owned(), "Ctrl-C cancel the question".to_owned()];
        let mut editor = Editor::default();
        loop {
            match self.stage.enter(&self.scene, &prompt, &mut editor, true)? {
                Entered::Done => return Ok(Some(editor.text() == text)),
                Entered::Back => return Ok(None),
                Entered::External | Entered::Restore => {}
            }
        }
    }

    fn ask_boolean(&mut self, at: usize, field: &Field) -> Result<FieldStep, DialogEnd> {
        let mut words = vec!["yes", "no"];
        if !field.required {
            words.push(OUT);
        } else if field.nullable {
            words.push("null");
        }
        let active = match (&self.slots[at], self.ready(at, field)) {
            (FieldSlot::Out, _) => Some(2),
            (_, Some(Value::Bool(yes))) => Some(usize::from(!yes)),
            (_, Some(_)) => Some(2),
            (_, None) if !field.required => Some(2),
            (_, None) => None,
        };
        let default = field.default.as_ref().and_then(Value::as_bool).map(|yes| usize::from(!yes));
        let parse = |typed: &str| match field.parse(typed) {
            Ok(Value::Bool(yes)) => Ok(usize::from(!yes)),
            Ok(_) => Ok(2),
            Err(error) => Err(safe_line(&error.reason).into_owned()),
        };
        let mut hints = vec![self.enter_hint("next"), "←→ move, or type y or n".to_owned()];
        self.add_back(at, &mut hints);
        let prompt = self.prompt(at, hints);
        let chosen =
            self.stage.switch(&self.scene, &prompt, &Switch { words: &words, active, default, parse: &parse })?;
        Ok(match chosen {
            None => FieldStep::Back,
            Some(index @ (0 | 1)) => self.take(at, FieldSlot::Given(json!(index == 0))),
            Some(_) if field.required => self.take(at, FieldSlot::Given(Value::Null)),
            Some(_) => self.take(at, FieldSlot::Out),
        })
    }

    fn ask_choice(&mut self, at: usize, field: &Field, choices: &[Choice]) -> Result<FieldStep, DialogEnd> {
        let mut options: Vec<(FieldSlot, Item)> = Vec::new();
        if !field.required {
            options.push((FieldSlot::Out, Item::new(OUT, "")));
        }
        options.extend(choices.iter().map(|choice| {
            (FieldSlot::Given(choice.value.clone()), item(choice, field.default.as_ref() == Some(&choice.value)))
        }));
        let has_null = choices.iter().any(|choice| choice.value.is_null());
        if field.required && field.nullable && !has_null {
            options.push((FieldSlot::Given(Value::Null), Item::new("null", "no value")));
        }
        let ready = self.ready(at, field).cloned().map_or(FieldSlot::Out, FieldSlot::Given);
        let mut active = options.iter().position(|(slot, _)| *slot == ready).unwrap_or(0);
        let items: Vec<Item> = options.iter().map(|(_, item)| item.clone()).collect();
        let mut hints = vec!["↑↓ move".to_owned(), self.enter_hint("choose")];
        self.add_back(at, &mut hints);
        let mut prompt = self.prompt(at, hints);
        loop {
            let Some(index) = self.stage.choose(&self.scene, &prompt, &items, Purpose::Value(active))? else {
                return Ok(FieldStep::Back);
            };
            let slot = options[index].0.clone();
            match checked(field, &slot) {
                None => return Ok(self.take(at, slot)),
                error => prompt.error = error,
            }
            active = index;
        }
    }

    fn ask_list(&mut self, at: usize, field: &Field, choices: &[Choice]) -> Result<FieldStep, DialogEnd> {
        let defaults = field.default.as_ref().and_then(Value::as_array).cloned().unwrap_or_default();
        let items: Vec<Item> = choices.iter().map(|choice| item(choice, defaults.contains(&choice.value))).collect();
        let ready = self.ready(at, field).and_then(Value::as_array).cloned().unwrap_or_default();
        let mut marked: Vec<bool> = choices.iter().map(|choice| ready.contains(&choice.value)).collect();
        let mut hints = vec!["Space mark".to_owned(), self.enter_hint("next")];
        if !field.required {
            hints.push("choose nothing to leave it out".to_owned());
        }
        self.add_back(at, &mut hints);
        let mut prompt = self.prompt(at, hints);
        let mut active = 0;
        loop {
            if !self.stage.mark(&self.scene, &prompt, &items, &mut marked, &mut active)? {
                return Ok(FieldStep::Back);
            }
            let values =
                choices.iter().zip(&marked).filter(|(_, marked)| **marked).map(|(choice, _)| choice.value.clone());
            let values: Vec<Value> = values.collect();
            let slot =
                if values.is_empty() && !field.required { FieldSlot::Out } else { FieldSlot::Given(values.into()) };
            match checked(field, &slot) {
                None => return Ok(self.take(at, slot)),
                error => prompt.error = error,
            }
        }
    }

    pub(super) fn take(&mut self, at: usize, slot: FieldSlot) -> FieldStep {
        self.slots[at] = slot;
        FieldStep::Next
    }

    /// What Enter does: in a form with one field, it sends.
    fn enter_hint(&self, verb: &str) -> String {
        match (self.is_sent_by_enter(), self.reviewing) {
            (_, true) => "Enter keep".to_owned(),
            (true, _) => "Enter sends".to_owned(),
            _ => format!("Enter {verb}"),
        }
    }

    /// Whether nothing is reviewed after the only field. An object that is asked for key by key is reviewed.
    pub(super) fn is_sent_by_enter(&self) -> bool {
        let is_alone = self.form.fields.len() == 1 && !self.reviewing && self.within.is_none();
        is_alone && object::keys_of(&self.form.fields[0]).is_none()
    }

    pub(super) fn add_back(&self, at: usize, hints: &mut Vec<String>) {
        hints
            .push(if at == 0 && !self.reviewing && self.within.is_none() { "Esc menu" } else { "Esc back" }.to_owned());
        hints.push("Ctrl-C cancel the question".to_owned());
    }

    pub(super) fn prompt(&mut self, at: usize, hints: Vec<String>) -> Prompt {
        let form = self.form;
        let field = &form.fields[at];
        let count = self.form.fields.len();
        let label = safe_label(field.label());
        let key = safe_label(&field.key);
        let mut notes = self.notes(at);
        notes.extend(object::parts(field).map(|parts| Note::Info(cut(&safe_line(&parts), 600).into_owned())));
        if field.secret && !self.asking.is_for_us {
            let who = self.asking.server.as_deref().unwrap_or("the server");
            notes.push(Note::Warning(format!("secrets do not belong in forms: {who} will be able to read it")));
        }
        Prompt {
            title: Some(Title {
                key: Some(key).filter(|key| !says_the_same(key, &label)),
                label: self.within.as_ref().map_or(label.clone(), |within| format!("{within}: {label}")),
                rules: rules(field),
                counter: if count == 1 { String::new() } else { format!("{} of {count}", at + 1) },
            }),
            about: safe(field.description.as_deref().unwrap_or_default()),
            notes,
            error: self.trouble.take(),
            hints,
            sends: self.is_sent_by_enter(),
        }
    }
}

/// Whether a text is worth opening an editor for.
fn may_be_long(field: &Field) -> bool {
    match &field.kind {
        FieldKind::Text(rules) => rules.format.is_none() && rules.max_length.is_none_or(|most| most > 100),
        _ => true,
    }
}

/// The field's value for typed text, or why not.
fn entered(field: &Field, text: &str) -> Result<FieldSlot, String> {
    let value = if text.is_empty() { field.parse_empty() } else { field.parse(text).map(Some) };
    let value = value.or_else(|error| match complete(field, text) {
        Some(text) => field.parse(&text).map(Some),
        None => Err(error),
    });
    match value {
        Ok(value) => Ok(value.map_or(FieldSlot::Out, FieldSlot::Given)),
        Err(error) => Err(safe_line(&error.reason).into_owned()),
    }
}

/// The rules, and the default.
fn rules(field: &Field) -> String {
    let rules = cut(&safe_line(&field.rules()), 2 * LABEL).into_owned();
    let Some(default) = field.default.as_ref().filter(|_| !field.secret) else { return rules };
    let default = field.show(default);
    if default.is_empty() { rules } else { format!("{rules}, default {}", safe_label(&default)) }
}

/// JSON without the line ends of an editor; anything else unchanged.
fn on_one_line(text: String) -> String {
    serde_json::from_str::<Value>(&text).map_or(text, |value| value.to_string())
}

/// Why a field does not accept the choice.
fn checked(field: &Field, slot: &FieldSlot) -> Option<String> {
    let FieldSlot::Given(value) = slot else { return None };
    field.check(value).err().map(|error| safe_line(&error.reason).into_owned())
}

fn item(choice: &Choice, is_default: bool) -> Item {
    let detail = choice.description.as_deref().map(|text| cut(&safe_line(text), 200).into_owned());
    Item { is_default, ..Item::new(safe_label(&choice.label()), detail.unwrap_or_default()) }
}

/// Whether a label is just the key in other words: `first_name`, `First name`.
fn says_the_same(key: &str, label: &str) -> bool {
    let letters =
        |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    letters(key) == letters(label)
}
