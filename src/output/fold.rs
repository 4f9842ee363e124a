use unicode_width::UnicodeWidthStr;

use crate::text::wrap;

/// The fewest columns in which the last cell of a row is still read well.
const FEWEST: usize = 20;
/// How far a cell is set in that stands below its row.
const BELOW: usize = 4;

/// Rows of columns for a terminal of this width: a last cell that is too long goes on under itself, or stands below its
/// row where there is no room for it. Lines without columns stay whole.
pub(super) fn fold(text: &str, columns: usize) -> String {
    text.lines().flat_map(|line| row(line, columns)).flat_map(|line| [line, "\n".to_owned()]).collect()
}

fn row(line: &str, columns: usize) -> Vec<String> {
    let indent = line.len() - line.trim_start().len();
    let gap = line.trim_end().rfind("  ").filter(|gap| *gap > indent);
    let (Some(gap), true) = (gap, line.width() > columns) else { return vec![line.to_owned()] };
    let (head, cell) = line.split_at(gap + 2);
    let at = head.width();
    if at + FEWEST > columns {
        let room = columns.saturating_sub(indent + BELOW).max(FEWEST);
        let below = wrap(cell, room).into_iter().map(|part| format!("{}{part}", " ".repeat(indent + BELOW)));
        return row(head.trim_end(), columns).into_iter().chain(below).collect();
    }
    let parts = wrap(cell, columns - at).into_iter().enumerate();
    parts.map(|(index, part)| if index == 0 { format!("{head}{part}") } else { " ".repeat(at) + &part }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_cell_goes_on_under_itself_or_below() {
        let text = "greet  Asks who you are, and greets you.\nfail   Fails.\n";
        assert_eq!(fold(text, 30), "greet  Asks who you are, and\n       greets you.\nfail   Fails.\n");
        assert_eq!(
            fold("  a-long-name  It does a lot of things.\n", 26),
            "  a-long-name\n      It does a lot of\n      things.\n"
        );
        assert_eq!(fold(text, 80), text);
        let json = "  \"description\": \"a text that is longer\"\n";
        assert_eq!(fold(json, 20), json);
    }
}
