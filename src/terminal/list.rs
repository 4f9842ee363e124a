use std::cell::RefCell;

use console::Term;
use dialoguer::Select;

use super::{
    Key,
    drawing::{List, Many},
    guard::Guard,
    scene::{Note, Prompt, Scene},
    stage::{DialogEnd, Stage},
};

/// One line of a list: its label and its description. Safe text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) label: String,
    pub(super) detail: String,
    /// Whether choosing it agrees to the text above.
    pub(super) agrees: bool,
    /// Whether it is the server's default.
    pub(super) is_default: bool,
}

impl Item {
    pub(super) fn new(label: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { label: label.into(), detail: detail.into(), agrees: false, is_default: false }
    }

    /// An item that agrees to the text above, all of which must have been on the screen.
    pub(super) fn agreeing(label: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { agrees: true, ..Self::new(label, detail) }
    }
}

/// What is chosen from a list, which decides how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A value: this item is preselected, and typing filters.
    Value(usize),
    /// Where to go next: this item is preselected.
    Step(usize),
    /// Consent: nothing is preselected, and a key that was already down does not count.
    Consent,
    /// Consent where the first item means yes and the second no: `y` and `n` select them.
    YesOrNo,
}

impl Purpose {
    /// The preselected item.
    pub(super) fn start(self) -> Option<usize> {
        match self {
            Self::Value(at) | Self::Step(at) => Some(at),
            Self::Consent | Self::YesOrNo => None,
        }
    }

    fn guard(self, prompt: &Prompt) -> Guard {
        if self.start().is_some() { prompt.guard() } else { Guard::of_consent() }
    }
}

/// From this many items on, the hints mention that typing filters.
const MANY_ITEMS: usize = 8;

/// A list while something is being chosen from it.
pub(super) struct Choosing<'a> {
    items: &'a [Item],
    pub(super) purpose: Purpose,
    /// The items that are shown, by their index.
    pub(super) shown: Vec<usize>,
    /// The selected one, as an index into those.
    pub(super) active: Option<usize>,
    /// The typed text: a filter, or a word for yes or no.
    typed: String,
    guard: Guard,
    /// Whether some of the text has not been on the screen yet.
    pub(super) has_unread: bool,
    /// Why the last key did nothing.
    remark: Option<String>,
}

/// The effect of a key on a list.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Pressed {
    Chosen,
    Back,
    /// Show all the text above.
    Unfold,
    Changed,
    Nothing,
}

impl<'a> Choosing<'a> {
    pub(super) fn new(items: &'a [Item], purpose: Purpose, guard: Guard) -> Self {
        let shown = (0..items.len()).collect();
        let active = purpose.start();
        Self { items, purpose, shown, active, typed: String::new(), guard, has_unread: false, remark: None }
    }

    /// When the prompt is redrawn after a while, a key that was already down does not count either.
    fn begin_again(&mut self, prompt: &Prompt) {
        self.guard = self.purpose.guard(prompt);
    }

    /// The effect of `key`; `page` items are shown at a time, and `many` has the marks.
    pub(super) fn press(&mut self, key: &Key, page: usize, many: &Many<'_>) -> Pressed {
        if !self.guard.takes(key) {
            return Pressed::Nothing;
        }
        let had_remark = self.remark.take().is_some();
        let count = self.shown.len();
        let at = |to: usize| Some(to.min(count - 1));
        match (key, self.active) {
            (Key::Down | Key::Tab, active) => self.move_to(active.map_or(Some(0), |active| at((active + 1) % count))),
            (Key::Up | Key::BackTab, active) => {
                self.move_to(active.map_or(at(count - 1), |active| at((active + count - 1) % count)));
            }
            (Key::PageDown | Key::Right, active) if count > page => {
                self.move_to(at(active.unwrap_or(0) / page * page + page));
            }
            (Key::PageUp | Key::Left, active) if count > page => {
                self.move_to(at((active.unwrap_or(0) / page * page).saturating_sub(page)));
            }
            (Key::Home, _) => self.move_to(Some(0)),
            (Key::End, _) => self.move_to(at(count - 1)),
            (Key::Enter, None) => {
                let yes_or_no = if self.purpose == Purpose::YesOrNo { "y, n, " } else { "" };
                self.remark = Some(format!("choose first: {yes_or_no}↑↓, or a number"));
            }
            (Key::Unfold, _) => return Pressed::Unfold,
            (Key::Enter, Some(active)) if self.has_unread && self.items[self.shown[active]].agrees => {
                self.remark = Some("not all of the text has been shown: press Ctrl-T first".to_owned());
            }
            (Key::Enter, Some(_)) => return Pressed::Chosen,
            (Key::Restore, _) if self.items.iter().any(|item| item.is_default) => {
                self.look_for(String::new());
                if let Many::Any(marked) = many {
                    *marked.borrow_mut() = self.items.iter().map(|item| item.is_default).collect();
                } else {
                    self.move_to(self.items.iter().position(|item| item.is_default));
                }
            }
            (Key::Char(' '), Some(active)) if let Many::Any(marked) = many => {
                let mut marked = marked.borrow_mut();
                let index = self.shown[active];
                marked[index] = !marked[index];
            }
            (Key::Char(character), _) => self.type_in(*character),
            (Key::Backspace, _) if !self.typed.is_empty() => {
                let mut typed = std::mem::take(&mut self.typed);
                typed.pop();
                self.look_for(typed);
            }
            (Key::Escape | Key::EraseToStart, _) if !self.typed.is_empty() => self.look_for(String::new()),
            (Key::Escape, _) => return Pressed::Back,
            _ if had_remark => {}
            _ => return Pressed::Nothing,
        }
        Pressed::Changed
    }

    fn move_to(&mut self, active: Option<usize>) {
        self.active = active;
        if self.purpose.start().is_none() {
            self.typed.clear();
        }
    }

    fn type_in(&mut self, character: char) {
        match (self.purpose, character.to_digit(10)) {
            (Purpose::Step(_), _) => {}
            (Purpose::Value(_), _) => self.look_for(format!("{}{character}", self.typed)),
            (_, Some(number @ 1..)) if self.items.len() >= number as usize => {
                self.move_to(Some(number as usize - 1));
            }
            (Purpose::YesOrNo, _) => self.look_for(format!("{}{character}", self.typed)),
            (Purpose::Consent, _) => {}
        }
    }

    /// `typed` is a word for yes or no, or a filter for the items.
    fn look_for(&mut self, typed: String) {
        if self.purpose == Purpose::YesOrNo {
            self.active = match typed.trim().to_lowercase().as_str() {
                "y" | "yes" => Some(0),
                "n" | "no" => Some(1),
                _ => None,
            };
            self.typed = typed;
            return;
        }
        let words: Vec<String> = typed.split_whitespace().map(str::to_lowercase).collect();
        let fits = |item: &Item| {
            let text = item.label.to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        let shown: Vec<usize> = (0..self.items.len()).filter(|index| fits(&self.items[*index])).collect();
        if shown.is_empty() {
            self.remark = Some(format!("nothing matches {typed:?}"));
            return;
        }
        let before = self.active.map(|active| self.shown[active]);
        // The selected item stays selected while it is shown; otherwise the best match, which begins with the typed
        // text, is selected.
        let start = typed.trim().to_lowercase();
        let best = || shown.iter().position(|index| self.items[*index].label.to_lowercase().starts_with(&start));
        let kept = shown.iter().position(|index| Some(*index) == before);
        let active = if words.is_empty() { kept.or(Some(0)) } else { best().or(kept).or(Some(0)) };
        (self.shown, self.active, self.typed) = (shown, active, typed);
    }

    /// The prompt with the notes about the list.
    fn prompt(&self, prompt: &Prompt) -> Prompt {
        let mut prompt = prompt.clone();
        if self.remark.is_some() {
            prompt.error.clone_from(&self.remark);
        }
        if matches!(self.purpose, Purpose::Value(_)) {
            if !self.typed.is_empty() {
                let (shown, all) = (self.shown.len(), self.items.len());
                prompt.notes.push(Note::Info(format!("filter: {}   {shown} of {all}", self.typed)));
                prompt.hints.insert(0, "Backspace widens".to_owned());
            } else if self.items.len() > MANY_ITEMS {
                prompt.hints.insert(0, "type to filter".to_owned());
            }
        } else if self.purpose == Purpose::YesOrNo && !self.typed.is_empty() {
            prompt.notes.push(Note::Info(self.typed.clone()));
        }
        prompt
    }
}

impl Stage {
    /// Lets a person choose one of `items`; `None` is Escape.
    pub(super) fn choose(
        &mut self,
        scene: &Scene,
        prompt: &Prompt,
        items: &[Item],
        purpose: Purpose,
    ) -> Result<Option<usize>, DialogEnd> {
        if self.look.plain {
            return self.choose_plainly(scene, prompt, items, purpose);
        }
        self.pick(scene, prompt, items, purpose, &Many::One)
    }

    /// Lets a person mark any of `items`; `marked` has the marks, `active` is the cursor. Returns false after Escape.
    pub(super) fn mark(
        &mut self,
        scene: &Scene,
        prompt: &Prompt,
        items: &[Item],
        marked: &mut Vec<bool>,
        active: &mut usize,
    ) -> Result<bool, DialogEnd> {
        if self.look.plain {
            return self.mark_plainly(scene, prompt, items, marked);
        }
        let seen = RefCell::new(marked.clone());
        let chosen = self.pick(scene, prompt, items, Purpose::Value(*active), &Many::Any(&seen))?;
        *marked = seen.into_inner();
        *active = chosen.unwrap_or(*active);
        Ok(chosen.is_some())
    }

    /// Draws the list until a person has chosen; `None` is Escape. dialoguer draws and pages;
    /// [`super::drawing::ListDrawing`] reads the keys, and does not mistake a paste for a key.
    fn pick(
        &mut self,
        scene: &Scene,
        prompt: &Prompt,
        items: &[Item],
        purpose: Purpose,
        many: &Many<'_>,
    ) -> Result<Option<usize>, DialogEnd> {
        self.take_pastes(true);
        let choosing = RefCell::new(Choosing::new(items, purpose, purpose.guard(prompt)));
        let chosen = loop {
            let (prompt, shown, active) = {
                let choosing = choosing.borrow();
                (choosing.prompt(prompt), choosing.shown.clone(), choosing.active)
            };
            let list = List::new(self, scene, &prompt, items, &shown, many)?;
            choosing.borrow_mut().has_unread = !self.has_read && list.hidden > 0;
            list.open(self);
            let theme = list.theme(self, &choosing);
            let drawn = Select::with_theme(&theme).items(&list.names).max_length(list.page);
            let drawn = active.map_or(drawn.clone(), |active| drawn.default(active)).interact_on_opt(&Term::stderr());
            let state = theme.state.into_inner();
            match list.close(self, state, drawn)? {
                Some(Pressed::Chosen) => {
                    let choosing = choosing.borrow();
                    break choosing.active.map(|active| choosing.shown[active]);
                }
                Some(Pressed::Back) => break None,
                Some(Pressed::Unfold) => {
                    self.unfold(scene, &prompt)?;
                    let mut choosing = choosing.borrow_mut();
                    choosing.begin_again(&prompt);
                    if purpose.start().is_none() {
                        choosing.active = None;
                        choosing.typed.clear();
                    }
                }
                Some(Pressed::Nothing) => choosing.borrow_mut().begin_again(&prompt),
                Some(Pressed::Changed) | None => {}
            }
        };
        self.take_pastes(false);
        Ok(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(labels: &[&str]) -> Vec<Item> {
        labels.iter().map(|label| Item::new(*label, "")).collect()
    }

    fn after(purpose: Purpose, labels: &[&str], keys: &str) -> (Option<usize>, Vec<Pressed>) {
        let items = items(labels);
        let mut guard = Guard::of_entry();
        assert!(guard.takes(&Key::Unknown));
        let mut choosing = Choosing::new(&items, purpose, guard);
        let pressed = keys.chars().map(|c| {
            let key = match c {
                '\r' => Key::Enter,
                '\u{8}' => Key::Backspace,
                '↓' => Key::Down,
                c => Key::Char(c),
            };
            choosing.press(&key, 10, &Many::One)
        });
        let pressed = pressed.collect();
        (choosing.active.map(|active| choosing.shown[active]), pressed)
    }

    #[test]
    fn typing_filters_values_and_chooses_nothing() {
        let labels = ["Country 000", "Country 040", "Country 004", "Norway"];
        assert_eq!(after(Purpose::Value(0), &labels, "nor").0, Some(3));
        assert_eq!(after(Purpose::Value(0), &labels, "country 04").0, Some(1));
        assert_eq!(after(Purpose::Value(0), &labels, "zz").0, Some(0));
        let (active, pressed) = after(Purpose::Value(1), &labels, "q hjkl");
        assert_eq!(active, Some(1));
        assert!(pressed.iter().all(|pressed| *pressed == Pressed::Changed), "{pressed:?}");
    }

    #[test]
    fn consent_begins_on_no_choice_and_words_are_no_keys() {
        let acts = ["Accept", "Decline", "Cancel"];
        for words in ["", "\r", "no thanks", "maybe", "yes please", "is this safe", " "] {
            assert_eq!(after(Purpose::YesOrNo, &acts, words).0, None, "{words}");
            assert_eq!(after(Purpose::Consent, &acts, words).0, None, "{words}");
        }
        assert_eq!(after(Purpose::YesOrNo, &acts, "y").0, Some(0));
        assert_eq!(after(Purpose::YesOrNo, &acts, "yes").0, Some(0));
        assert_eq!(after(Purpose::YesOrNo, &acts, "n").0, Some(1));
        assert_eq!(after(Purpose::Consent, &acts, "y").0, None);
        assert_eq!(after(Purpose::Consent, &acts, "3").0, Some(2));
        assert_eq!(after(Purpose::Consent, &acts, "4").0, None);
        assert_eq!(after(Purpose::Consent, &acts, "↓").0, Some(0));
    }
}
