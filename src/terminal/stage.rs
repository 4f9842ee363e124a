use std::{fmt, io, mem, time::Instant};

use super::{
    Alarm, AlarmCause, Key, Ready, Terminal, Tty,
    gate::write,
    layout::{Layout, Look, Size},
    line::ScreenLine,
    painter::{Caret, Painter},
    scene::{Prompt, Scene},
};

/// The fewest rows in which anything can be asked.
const FEWEST_ROWS: usize = 3;

/// Why a dialog ended early.
#[derive(Debug)]
pub(crate) enum DialogEnd {
    /// The question is gone.
    Withdrawn,
    /// Ctrl-C, or SIGINT.
    Interrupted,
    /// The terminal has only this many rows.
    TooSmall(usize),
    /// The terminal is gone.
    Gone(io::Error),
}

impl fmt::Display for DialogEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Withdrawn => f.write_str("the server withdrew the question"),
            Self::Interrupted => f.write_str("it was interrupted"),
            Self::TooSmall(1) => write!(f, "the terminal has only one row; a question needs {FEWEST_ROWS}"),
            Self::TooSmall(rows) => write!(f, "the terminal has only {rows} rows; a question needs {FEWEST_ROWS}"),
            Self::Gone(error) => write!(f, "the terminal cannot be used: {error}"),
        }
    }
}

impl From<io::Error> for DialogEnd {
    fn from(error: io::Error) -> Self {
        Self::Gone(error)
    }
}

/// An event during a dialog.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DialogEvent {
    /// A key, never Ctrl-C.
    Key(Key),
    /// What is shown has changed, or the terminal's size.
    Redraw,
    /// The time is over.
    Timeout,
}

/// The terminal in the hands of one dialog, on a separate thread. When this is dropped the terminal is restored.
pub(super) struct Stage {
    pub(super) tty: Tty,
    pub(super) alarm: Alarm,
    pub(super) look: Look,
    pub(super) painter: Painter,
    /// For asking the terminal's size.
    screen: console::Term,
    /// Whether the cursor of a plain terminal is after typed text.
    pub(super) is_typing: bool,
    /// Whether a plain terminal has shown who asks.
    pub(super) announced: bool,
    takes_pastes: bool,
    /// Whether the whole message has been on the screen.
    pub(super) has_read: bool,
    /// Whether anything has been shown.
    has_appeared: bool,
    /// Whether text typed before and after belongs to the dialog's line, too, as it does if nobody asks anything.
    keeps_typed: bool,
}

/// What happens to keys that were pressed before a dialog begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TypedAhead {
    /// They are discarded: they cannot answer a question that was not asked yet.
    Dropped,
    /// They belong to the dialog.
    Kept,
}

impl Stage {
    pub(super) fn open(terminal: &Terminal, alarm: Alarm, ahead: TypedAhead) -> Result<Self, DialogEnd> {
        let tty = Tty::open(terminal.input.clone())?;
        let look = terminal.look;
        let stage = Self {
            tty,
            alarm,
            look,
            painter: Painter::new(look.colour),
            screen: console::Term::stderr(),
            is_typing: false,
            announced: false,
            takes_pastes: false,
            has_read: false,
            has_appeared: false,
            keeps_typed: ahead == TypedAhead::Kept,
        };
        stage.size()?;
        if !stage.keeps_typed {
            stage.flush();
        }
        Ok(stage)
    }

    /// The size of the terminal, if anything can be asked in it.
    pub(super) fn size(&self) -> Result<Size, DialogEnd> {
        let (rows, columns) = self.screen.size_checked().unwrap_or((24, 80));
        let size = Size { rows: rows.into(), columns: columns.into() };
        if size.rows < FEWEST_ROWS { Err(DialogEnd::TooSmall(size.rows)) } else { Ok(size) }
    }

    /// The width of a line that never wraps.
    pub(super) fn columns(&self) -> usize {
        let columns = self.screen.size_checked().map_or(80, |(_, columns)| columns.into());
        usize::saturating_sub(columns, 1).max(1)
    }

    pub(super) fn rows(&self) -> usize {
        self.screen.size_checked().map_or(24, |(rows, _)| rows.into())
    }

    /// Discards text that was typed ahead, so that it does not count as consent.
    pub(super) fn flush(&self) {
        self.tty.flush();
    }

    /// Lays out a prompt. If the terminal became too small while the prompt was open, waits until it is large enough.
    pub(super) fn layout(&mut self, scene: &Scene, prompt: &Prompt, rows: usize) -> Result<(Layout, Size), DialogEnd> {
        loop {
            match self.size() {
                Err(DialogEnd::TooSmall(_)) => {
                    self.draw(&[ScreenLine::faint("a larger terminal is needed")], &Caret::Hidden(0));
                    self.event(None)?;
                }
                size => {
                    let size = size?;
                    let layout = Layout::new(scene, prompt, rows, size, self.look);
                    self.has_read |= !layout.cuts_message && !scene.message.is_empty();
                    return Ok((layout, size));
                }
            }
        }
    }

    pub(super) fn draw(&mut self, lines: &[ScreenLine], caret: &Caret) {
        self.painter.draw(lines, caret, (self.rows(), self.columns()));
        self.appear();
    }

    /// What was typed before the dialog could be seen is discarded.
    pub(super) fn appear(&mut self) {
        if !mem::replace(&mut self.has_appeared, true) && !self.keeps_typed {
            self.flush();
        }
    }

    /// Waits for the next event. A key that belongs to a paste or an escape sequence is read whole.
    pub(super) fn event(&mut self, until: Option<Instant>) -> Result<DialogEvent, DialogEnd> {
        match self.wait(until)? {
            Ready::Input => match self.tty.key()? {
                Key::Interrupt => Err(DialogEnd::Interrupted),
                key => Ok(DialogEvent::Key(key)),
            },
            Ready::Timeout => Ok(DialogEvent::Timeout),
            Ready::Alarm(AlarmCause::Suspended) => self.suspend().map(|()| DialogEvent::Redraw),
            Ready::Alarm(_) => Ok(DialogEvent::Redraw),
        }
    }

    /// Stops the program until the shell continues it. The prompt is cleared meanwhile, and has to be redrawn.
    pub(super) fn suspend(&mut self) -> Result<(), DialogEnd> {
        let pastes = self.takes_pastes;
        self.take_pastes(false);
        self.leave(&[]);
        self.tty.suspend()?;
        self.flush();
        self.take_pastes(pastes);
        Ok(())
    }

    /// Waits for input that somebody else reads.
    pub(super) fn wait(&self, until: Option<Instant>) -> Result<Ready, DialogEnd> {
        match self.tty.wait(&self.alarm, until)? {
            Ready::Alarm(cause) => Err(match cause {
                AlarmCause::Withdrawn => DialogEnd::Withdrawn,
                AlarmCause::Interrupted => DialogEnd::Interrupted,
                AlarmCause::Suspended | AlarmCause::Changed => return Ok(Ready::Alarm(cause)),
            }),
            ready => Ok(ready),
        }
    }

    /// Turns bracketed pastes on or off: for programs that cannot read them.
    pub(super) fn take_pastes(&mut self, wanted: bool) {
        self.takes_pastes = wanted;
        if !self.look.plain {
            write(if wanted { "\x1b[?2004h" } else { "\x1b[?2004l" });
        }
    }

    /// Empties the screen; what scrolled off it stays.
    pub(super) fn clear_screen(&mut self) {
        self.painter.leave(&[], (self.rows(), self.columns() + 1));
        write("\x1b[H\x1b[2J");
    }

    /// Replaces the prompt with `lines`, permanently. On a plain terminal, everything stays.
    pub(super) fn leave(&mut self, lines: &[ScreenLine]) {
        if self.look.plain {
            let end = if mem::take(&mut self.is_typing) { "\n" } else { "" };
            let text = lines.iter().map(|line| line.render(usize::MAX, false) + "\n");
            return write(&[end.to_owned()].into_iter().chain(text).collect::<String>());
        }
        self.painter.leave(lines, (self.rows(), self.columns() + 1));
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // Keys that were meant for a withdrawn question must not reach the shell or the next one.
        if !self.keeps_typed {
            self.flush();
        }
        self.take_pastes(false);
        self.leave(&[]);
    }
}
