use std::cell::RefCell;

use console::Term;
use dialoguer::{MultiSelect, Select};

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
        let mut active = active;
        loop {
            let list = List::new(self, scene, prompt, items, &Many::One)?;
            list.open(self);
            let theme = list.theme(self, active);
            let chosen = Select::with_theme(&theme)
                .items(&list.names)
                .default(active)
                .max_length(list.page)
                .interact_on_opt(&Term::stderr());
            let state = theme.state.into_inner();
            active = state.active;
            if let Some(chosen) = list.close(self, state, chosen)? {
                return Ok(chosen);
            }
        }
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
        let many = Many::Any(&seen);
        loop {
            let list = List::new(self, scene, prompt, items, &many)?;
            list.open(self);
            let theme = list.theme(self, 0);
            let defaults = seen.borrow().clone();
            let chosen = MultiSelect::with_theme(&theme)
                .items(&list.names)
                .defaults(&defaults)
                .max_length(list.page)
                .report(false)
                .interact_on_opt(&Term::stderr());
            let state = theme.state.into_inner();
            if let Some(chosen) = list.close(self, state, chosen)? {
                let Some(chosen) = chosen else {
                    marked.clone_from(&seen.borrow());
                    return Ok(false);
                };
                marked.fill(false);
                for index in chosen {
                    marked[index] = true;
                }
                return Ok(true);
            }
        }
    }
}
