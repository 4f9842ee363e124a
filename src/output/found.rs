//! What `--grep` shows of an entry: the part that has the word.

use serde_json::Value;

use crate::text::{safe_line, safe_name};

/// How much is shown on each side of the word, in characters.
const AROUND: usize = 60;

/// `about`, and behind it what else of `entry` has `word`, where neither it nor `name` has it: the part of the description
/// around the word, or the title. Safe for a terminal and on one line.
pub fn found_line([name, about]: [String; 2], entry: &Value, word: Option<&str>) -> [String; 2] {
    let Some(word) = word.map(str::to_lowercase) else { return [name, about] };
    let has = |text: &str| text.to_lowercase().contains(&word);
    if has(&name) || has(&about) {
        return [name, about];
    }
    let text = |key: &str| entry[key].as_str().filter(|text| has(text));
    let in_brackets = |text: &str| format!("({})", safe_name(text));
    let part = text("description").map(|text| around(text, &about, &word));
    let part = part.or_else(|| text("title").or(text("name")).map(in_brackets)).unwrap_or_default();
    let about = if about.is_empty() { part } else { format!("{about} {part}") };
    [name, about.trim_end().to_owned()]
}

/// The words of `text` around the first `word`, which is in small letters; not those of `shown`, its beginning.
fn around(text: &str, shown: &str, word: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let rest = words.strip_prefix(shown).filter(|rest| rest.to_lowercase().contains(word)).unwrap_or(&words);
    let at = rest.to_lowercase().find(word).unwrap_or_default();
    let mut small = 0;
    let before = rest.chars().take_while(|c| {
        let is_before = small < at;
        small += c.to_lowercase().map(char::len_utf8).sum::<usize>();
        is_before
    });
    let (before, length) = (before.count(), word.chars().count());
    let part = |from: usize, to: usize| rest.chars().skip(from).take(to.saturating_sub(from)).collect::<String>();
    let (start, end) = (before.saturating_sub(AROUND), before + length + AROUND);
    let (left, right) = (part(start, before), part(before, end));
    // A word that is cut in half says nothing, unless it is the one that was looked for.
    let left = match left.split_once(' ') {
        Some((_, whole)) if start > 0 => format!("… {whole}"),
        _ if start > 0 => format!("…{left}"),
        _ => left,
    };
    let right = match right.rsplit_once(' ') {
        _ if rest.chars().nth(end).is_none() => right,
        Some((whole, _)) if whole.chars().count() >= length => format!("{whole} …"),
        _ => format!("{right}…"),
    };
    safe_line(format!("{left}{right}").trim()).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(entry: &Value, word: &str) -> String {
        found_line(crate::output::offer_line(entry, "name"), entry, Some(word))[1].clone()
    }

    #[test]
    fn the_part_that_has_the_word_is_shown() {
        let about = "Places an order.\n\nIt is checked, and the Warehouse\nis told as well; refunds are handled elsewhere, \
                     in a tool of their own that takes longer.";
        let entry = json!({"name": "place", "title": "Shop", "description": about});
        assert_eq!(shown(&entry, "ORDER"), "Places an order.");
        assert_eq!(shown(&entry, "place"), "Places an order.");
        assert_eq!(
            shown(&entry, "warehouse"),
            "Places an order. It is checked, and the Warehouse is told as well; refunds are handled elsewhere, in a tool …"
        );
        let end = shown(&entry, "longer");
        assert!(end.ends_with(" their own that takes longer.") && end.starts_with("Places an order. … "), "{end}");
        assert_eq!(shown(&entry, "shop"), "Places an order. (Shop)");
        assert_eq!(shown(&json!({"name": "x"}), "y"), "");
        let safe = json!({"name": "x", "description": "One.\n\n\u{1b}[2J word"});
        assert_eq!(shown(&safe, "word"), "One. \\u{1b}[2J word");
    }

    #[test]
    fn letters_of_any_width_do_not_break_it() {
        let about = format!("{}. {} straße \u{130} {}", "İ".repeat(50), "İ ".repeat(300), "z".repeat(500));
        let entry = json!({"name": "x", "description": about});
        let shown_part = shown(&entry, "straße");
        assert!(shown_part.ends_with(" straße \u{130} …"), "{shown_part}");
        let long = json!({"name": "x", "description": format!("A. {}needle{}", "a".repeat(500), "b".repeat(500))});
        assert!(shown(&long, "needle").contains("aaneedlebb"));
    }
}
