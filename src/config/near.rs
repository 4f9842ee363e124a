/// The longest word that is compared, in bytes.
const LONGEST: usize = 200;

/// The words of `known` that `word` was probably meant to be, the most similar first, at most three.
pub fn near_misses<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let plain = plain(word);
    let allowed = if plain.chars().count() <= 4 { 1 } else { 2 };
    let mut near: Vec<(usize, &str)> = known
        .into_iter()
        // Very long words are not compared: the cost is quadratic.
        .filter(|candidate| plain.len() <= LONGEST && candidate.len() <= LONGEST)
        .map(|candidate| (strsim::osa_distance(&plain, &self::plain(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *distance < candidate.chars().count())
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.truncate(3);
    near.into_iter().map(|(_, candidate)| candidate).collect()
}

/// `word` without differences in spelling: case, `-`, `_`, `.` and spaces.
pub(super) fn plain(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '-' | '_' | '.' | ' ')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_near_is_found_and_nothing_else() {
        let known = ["command", "args", "env", "callTimeout", "url"];
        for (word, expected) in [
            ("comand", vec!["command"]),
            ("Command", vec!["command"]),
            ("arg", vec!["args"]),
            ("call_timeout", vec!["callTimeout"]),
            ("uri", vec!["url"]),
            ("envFile", vec![]),
            ("description", vec![]),
            ("tools", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(near_misses(word, known), expected, "{word}");
        }
    }
}
