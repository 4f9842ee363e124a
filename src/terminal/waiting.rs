use std::time::{Duration, Instant};

use super::{
    Key,
    fill::Asking,
    gate::write,
    guard::Guard,
    layout::{Look, hint_lines},
    line::{Ink, ScreenLine},
    painter::Caret,
    stage::{DialogEnd, DialogEvent, Stage},
    switch::words,
};

/// How waiting at the screen ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// The person says that it is done.
    Continue,
    /// The person gives up.
    Cancel,
    /// The time is over.
    TimedOut,
    /// Somebody else needs the terminal.
    Yield,
}

const WORDS: [&str; 2] = ["Continue now", "Cancel"];

impl Stage {
    /// Shows that `asking` is being waited for, until `end`. `begin` is when that began.
    pub(super) fn wait_for(&mut self, asking: &Asking, begin: Instant, end: Instant) -> Result<Wait, DialogEnd> {
        let mut active = 0;
        let mut guard = Guard::of_consent();
        self.take_pastes(true);
        if self.look.plain {
            write(&format!("{}Enter: continue now. Ctrl-C: cancel.\n", waiting_for(asking)));
        }
        loop {
            if asking.waiting.load(std::sync::atomic::Ordering::Relaxed) > 0 {
                return Ok(Wait::Yield);
            }
            let now = Instant::now();
            if now >= end {
                return Ok(Wait::TimedOut);
            }
            let elapsed = now - begin;
            if !self.look.plain {
                let size = self.size()?;
                let lines = screen(asking, elapsed, active, size.columns.saturating_sub(1), size.rows, self.look);
                let row = lines.len().min(2) - 1;
                self.draw(&lines, &Caret::Hidden(row));
            }
            // Up to the next full second.
            let tick = begin + Duration::from_secs(elapsed.as_secs() + 1);
            match self.event(Some(tick.min(end))) {
                Ok(DialogEvent::Key(key)) if !guard.takes(&key) => {}
                Ok(DialogEvent::Key(Key::Enter)) => return Ok(if active == 0 { Wait::Continue } else { Wait::Cancel }),
                Ok(DialogEvent::Key(Key::Left | Key::Right | Key::Up | Key::Down | Key::Tab | Key::BackTab))
                    if !self.look.plain =>
                {
                    active = 1 - active;
                }
                Ok(_) => {}
                Err(DialogEnd::Interrupted) => return Ok(Wait::Cancel),
                Err(end) => return Err(end),
            }
        }
    }
}

fn waiting_for(asking: &Asking) -> String {
    format!("Waiting for {}. Finish in the browser. ", asking.server.as_deref().unwrap_or("the server"))
}

fn screen(
    asking: &Asking,
    elapsed: Duration,
    active: usize,
    columns: usize,
    rows: usize,
    look: Look,
) -> Vec<ScreenLine> {
    let seconds = elapsed.as_secs();
    let time = format!("{}:{:02}", seconds / 60, seconds % 60);
    let line = ScreenLine::new(Ink::Plain, waiting_for(asking));
    let line = line.cut(columns.saturating_sub(time.len() + 1)).and(Ink::Strong, format!(" {time}"));
    let hints = ["←→ move", "Enter choose", "Ctrl-C cancel"].map(str::to_owned);
    let mut lines = vec![line, words(&WORDS, Some(active), look)];
    lines.extend(hint_lines(&hints, columns));
    lines.truncate(rows);
    lines
}
