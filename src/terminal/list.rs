use std::cell::RefCell;

use console::Term;
use dialoguer::Select;

use super::{
    drawing::{List, Many},
    scene::{Prompt, Scene},
    stage::{End, Stage},
};

/// One line of a list: what it is, and what is said about it. Safe text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) label: String,
    pub(super) detail: String,
}

impl Item {
    pub(super) fn new(label: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { label: label.into(), detail: detail.into() }
    }
}

impl Stage {
    /// Lets a person choose one of `items`, beginning at `active`; `None` is Escape.
    pub(super) fn choose(
        &mut self,
        scene: &Scene,
        prompt: &Prompt,
        items: &[Item],
        active: usize,
    ) -> Result<Option<usize>, End> {
        if self.look.plain {
            return self.choose_plainly(scene, prompt, items, active);
        }
        self.pick(scene, prompt, items, active, &Many::One)
    }

    /// Lets a person mark any of `items`; `marked` says which are. Whether it was not Escape.
    pub(super) fn mark(
        &mut self,
        scene: &Scene,
        prompt: &Prompt,
        items: &[Item],
        marked: &mut Vec<bool>,
    ) -> Result<bool, End> {
        if self.look.plain {
            return self.mark_plainly(scene, prompt, items, marked);
        }
        let seen = RefCell::new(marked.clone());
        let chosen = self.pick(scene, prompt, items, 0, &Many::Any(&seen))?;
        *marked = seen.into_inner();
        Ok(chosen.is_some())
    }

    /// Draws the list until a person has chosen; `None` is Escape. dialoguer draws and pages; keys are read by
    /// [`Drawing`], to which a paste is none.
    fn pick(
        &mut self,
        scene: &Scene,
        prompt: &Prompt,
        items: &[Item],
        active: usize,
        many: &Many<'_>,
    ) -> Result<Option<usize>, End> {
        self.take_pastes(true);
        let mut active = active;
        let chosen = loop {
            let list = List::new(self, scene, prompt, items, many)?;
            list.open(self);
            let theme = list.theme(self, active);
            let drawn = Select::with_theme(&theme)
                .items(&list.names)
                .default(active)
                .max_length(list.page)
                .interact_on_opt(&Term::stderr());
            let state = theme.state.into_inner();
            active = state.active;
            if let Some(is_chosen) = list.close(self, state, drawn)? {
                break is_chosen.then_some(active);
            }
        };
        self.take_pastes(false);
        Ok(chosen)
    }
}
