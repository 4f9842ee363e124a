use std::time::Instant;

use super::{
    Editor,
    entry::Entered,
    gate::write,
    guard::QUIET,
    list::{Item, Purpose},
    scene::{Prompt, Scene},
    stage::{DialogEnd, DialogEvent, Stage},
};
use crate::text::width;

/// Lists for terminals in which the cursor cannot be moved: numbered lines, and a number to type.
impl Stage {
    pub(super) fn choose_plainly(
        &mut self,
        scene: &Scene,
        prompt: &Prompt,
        items: &[Item],
        purpose: Purpose,
    ) -> Result<Option<usize>, DialogEnd> {
        let alone = purpose.start().map(|active| format!("; Enter alone takes {}", active + 1));
        let word = if purpose == Purpose::YesOrNo { "y, n, or a " } else { "" };
        let prompt = with_hint(prompt, format!("{word}number, then Enter{}", alone.unwrap_or_default()));
        self.announce(scene, &prompt);
        number(items, |_| "");
        if purpose.start().is_none() {
            self.settle()?;
        }
        loop {
            let mut editor = Editor::default();
            if self.read_plainly(&mut editor, false, prompt.guard())? == Entered::Back {
                return Ok(None);
            }
            let typed = editor.text().trim().to_lowercase();
            match (find(items, &typed), purpose.start()) {
                (_, Some(active)) if typed.is_empty() => return Ok(Some(active)),
                (Some(index), _) => return Ok(Some(index)),
                _ if purpose == Purpose::YesOrNo && matches!(&*typed, "y" | "yes") => return Ok(Some(0)),
                _ if purpose == Purpose::YesOrNo && matches!(&*typed, "n" | "no") => return Ok(Some(1)),
                _ => refuse(items),
            }
        }
    }

    /// Waits until no key has been pressed for a while, and discards those that were.
    fn settle(&mut self) -> Result<(), DialogEnd> {
        while self.event(Some(Instant::now() + QUIET))? != DialogEvent::Timeout {}
        Ok(())
    }

    pub(super) fn mark_plainly(
        &mut self,
        scene: &Scene,
        prompt: &Prompt,
        items: &[Item],
        marked: &mut [bool],
    ) -> Result<bool, DialogEnd> {
        let prompt = with_hint(
            prompt,
            "numbers separated by commas, then Enter; Enter alone keeps the selection; 0 selects nothing".into(),
        );
        self.announce(scene, &prompt);
        number(items, |index| if marked[index] { "[x] " } else { "[ ] " });
        loop {
            let mut editor = Editor::default();
            if self.read_plainly(&mut editor, false, prompt.guard())? == Entered::Back {
                return Ok(false);
            }
            let typed = editor.text().trim();
            let parts = || typed.split(',').map(str::trim).filter(|part| !part.is_empty());
            if typed.is_empty() {
                return Ok(true);
            }
            let one = find(items, typed).map(|index| vec![index]);
            let chosen = if typed == "0" {
                Some(Vec::new())
            } else {
                one.or_else(|| parts().map(|part| find(items, part)).collect())
            };
            match chosen {
                Some(chosen) => {
                    marked.fill(false);
                    for index in chosen {
                        marked[index] = true;
                    }
                    return Ok(true);
                }
                None => refuse(items),
            }
        }
    }
}

fn number(items: &[Item], mark: impl Fn(usize) -> &'static str) {
    let column = items.iter().map(|item| width(&item.label)).max().unwrap_or(0);
    for (index, item) in items.iter().enumerate() {
        let gap = " ".repeat(column - width(&item.label) + 3);
        let detail = if item.detail.is_empty() { String::new() } else { format!("{gap}{}", item.detail) };
        write(&format!("{:>4} {}{}{detail}\n", index + 1, mark(index), item.label));
    }
}

fn refuse(items: &[Item]) {
    write(&format!("x choose a number from 1 to {}\n", items.len()));
}

/// The prompt with a first hint that fits numbered lines.
pub(super) fn with_hint(prompt: &Prompt, hint: String) -> Prompt {
    let others = prompt.hints.iter().filter(|hint| hint.starts_with("Esc") || hint.starts_with("Ctrl"));
    Prompt { hints: [hint].into_iter().chain(others.cloned()).collect(), ..prompt.clone() }
}

/// The item with a number from 1, or with a label.
fn find(items: &[Item], typed: &str) -> Option<usize> {
    let typed = typed.trim();
    let by_label = items.iter().position(|item| item.label.eq_ignore_ascii_case(typed));
    let by_number = || typed.parse::<usize>().ok()?.checked_sub(1).filter(|index| *index < items.len());
    by_label.or_else(by_number)
}
