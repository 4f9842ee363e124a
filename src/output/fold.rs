use unicode_width::UnicodeWidthStr;

use crate::text::wrap;

/// The fewest columns in which the last cell of a row can still be read well; on a wide terminal two fifths.
const FEWEST: usize = 20;
/// The indent of a cell below its row.
const BELOW: usize = 4;

/// Rows of columns for a terminal of this width: a last cell that is too long continues under itself, or goes below its
/// row if there is no room for it. Lines without columns stay whole.
pub(super) fn fold(text: &str, columns: usize) -> String {
    text.lines().flat_map(|line| row(line, columns)).flat_map(|line| [line, "\n".to_owned()]).collect()
}

fn row(line: &str, columns: usize) -> Vec<String> {
    let indent = line.len() - line.trim_start().len();
    let gap = line.trim_end().rfind("  ").filter(|gap| *gap > indent);
    let (Some(gap), true) = (gap, line.width() > columns) else { return vec![line.to_owned()] };
    let (head, cell) = line.split_at(gap + 2);
    let at = head.width();
    if at + FEWEST.max(columns * 2 / 5) > columns {
        let room = columns.saturating_sub(indent + BELOW).max(FEWEST);
        let below = wrap(cell, room).into_iter().map(|part| format!("{}{part}", " ".repeat(indent + BELOW)));
        return head_rows(head.trim_end(), indent, columns).into_iter().chain(below).collect();
    }
    let parts = wrap(cell, columns - at).into_iter().enumerate();
    parts.map(|(index, part)| if index == 0 { format!("{head}{part}") } else { " ".repeat(at) + &part }).collect()
}

/// The text of a last cell below its row: folded again, or broken between words if it is one long cell.
fn head_rows(head: &str, indent: usize, columns: usize) -> Vec<String> {
    let rows = row(head, columns);
    if rows.len() > 1 || head.width() <= columns {
        return rows;
    }
    let room = columns.saturating_sub(indent + 2 * BELOW).max(FEWEST);
    let parts = wrap(head.trim_start(), room).into_iter().enumerate();
    parts
        .map(|(index, part)| format!("{}{part}", " ".repeat(if index == 0 { indent } else { indent + 2 * BELOW })))
        .collect()
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
        assert_eq!(
            fold("search(query, limit?: whole number = 10, kind)  Finds it.\n", 30),
            "search(query, limit?:\n        whole number = 10,\n        kind)\n    Finds it.\n"
        );
        assert_eq!(
            fold("operation(duration?=10, steps?=5, mode?: fast|slow)  Demonstrates a long operation.\n", 80),
            "operation(duration?=10, steps?=5, mode?: fast|slow)\n    Demonstrates a long operation.\n"
        );
        assert_eq!(fold(text, 80), text);
        let json = "  \"description\": \"a text that is longer\"\n";
        assert_eq!(fold(json, 20), json);
    }
}
