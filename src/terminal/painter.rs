use super::{gate::write, line::ScreenLine};

/// Where the cursor goes after a drawing.
#[derive(Clone, Debug)]
pub(super) enum Caret {
    /// Hidden, at the start of this row.
    Hidden(usize),
    /// In this row, after this text: it is written once more, so that the cursor is where the terminal itself thinks
    /// the text ends.
    After(usize, ScreenLine),
}

/// Draws the lines of a prompt over the previous ones, below the output.
#[derive(Debug)]
pub(super) struct Painter {
    colour: bool,
    /// The widths of the lines on the screen.
    drawn: Vec<usize>,
    /// The line with the cursor.
    row: usize,
}

impl Painter {
    pub(super) fn new(colour: bool) -> Self {
        Self { colour, drawn: Vec::new(), row: 0 }
    }

    /// Draws `lines`, which fit into the terminal, over the previous lines.
    pub(super) fn draw(&mut self, lines: &[ScreenLine], caret: &Caret, (rows, columns): (usize, usize)) {
        // Lines that are not overwritten are erased one by one: some terminals keep the screen in their scrollback if
        // the rest of it is erased in one step.
        let rows = lines.len().max(self.rows_drawn(columns).min(rows)).max(1);
        // No line wraps, whatever the terminal thinks of its width.
        let mut out = format!("\x1b[?25l\x1b[?7l{}", self.top(columns));
        for row in 0..rows {
            if let Some(line) = lines.get(row) {
                out.push_str(&line.render(columns, self.colour));
            }
            out.push_str(if row + 1 == rows { "\x1b[K\r" } else { "\x1b[K\r\n" });
        }
        self.row = match caret {
            Caret::Hidden(row) | Caret::After(row, _) => *row,
        };
        out.push_str(&up(rows - 1 - self.row));
        if let Caret::After(_, line) = caret {
            out.push_str(&line.render(columns, self.colour));
            out.push_str("\x1b[?25h");
        }
        out.push_str("\x1b[?7h");
        self.drawn = lines.iter().map(|line| line.width().min(columns)).collect();
        write(&out);
    }

    /// Somebody else has moved the cursor to this row.
    pub(super) fn moved_to(&mut self, row: usize) {
        self.row = row;
    }

    /// Replaces the drawing with `lines`, permanently. They wrap as the terminal likes.
    pub(super) fn leave(&mut self, lines: &[ScreenLine], (rows, columns): (usize, usize)) {
        if self.drawn.is_empty() && lines.is_empty() {
            return;
        }
        let rows = self.rows_drawn(columns).min(rows).max(1);
        let mut out = self.top(columns);
        for row in 0..rows {
            out.push_str(if row + 1 == rows { "\x1b[K\r" } else { "\x1b[K\r\n" });
        }
        out.push_str(&up(rows - 1));
        for line in lines {
            out.push_str(&line.render(usize::MAX, self.colour));
            out.push_str("\r\n");
        }
        out.push_str("\x1b[?25h");
        self.drawn.clear();
        self.row = 0;
        write(&out);
    }

    /// How many rows the lines on the screen take in a terminal of this width.
    fn rows_drawn(&self, columns: usize) -> usize {
        self.drawn.iter().map(|width| width.div_ceil(columns.max(1)).max(1)).sum()
    }

    /// Moves to the first line. In a terminal that became narrower each line may have become several.
    fn top(&self, columns: usize) -> String {
        let above = self.drawn.iter().take(self.row).map(|width| width.div_ceil(columns.max(1)).max(1)).sum();
        format!("\r{}", up(above))
    }
}

/// Moves the cursor up.
pub(super) fn up(rows: usize) -> String {
    if rows == 0 { String::new() } else { format!("\x1b[{rows}A") }
}
