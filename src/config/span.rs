use std::time::Duration;

/// The longest time: 30 days.
const LONGEST: u64 = 30 * 24 * 60 * 60;

/// A duration such as `90s`, `15m`, `8h`, `2d`, or a bare number of seconds; `None` if it is invalid, zero, or longer
/// than 30 days.
pub fn parse_span(text: &str) -> Option<Duration> {
    let text = text.trim();
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic()).trim_end();
    let unit = match text[digits.len()..].trim() {
        "" | "s" => 1,
        "m" | "min" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        _ => return None,
    };
    let seconds = digits.parse::<u64>().ok()?.checked_mul(unit)?;
    (1..=LONGEST).contains(&seconds).then(|| Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let seconds = |text| parse_span(text).map(|time| time.as_secs());
        assert_eq!(seconds("90"), Some(90));
        assert_eq!(seconds("90s"), Some(90));
        assert_eq!(seconds(" 15 m "), Some(900));
        assert_eq!(seconds("8h"), Some(28_800));
        assert_eq!(seconds("2d"), Some(172_800));
        for wrong in ["", "0", "0s", "m", "15 minutes", "-1", "1.5h", "31d", "99999999999999999999d", "1 h 2"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }
}
