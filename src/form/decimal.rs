use std::cmp::Ordering;

use serde_json::Number;

/// A JSON number read exactly: `digits` × 10^`exponent`, in no more memory than its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    negative: bool,
    /// Without leading and trailing zeros; empty is zero.
    digits: String,
    exponent: i64,
}

impl Decimal {
    /// The exact value of `number`, of any size.
    pub(crate) fn from_number(number: &Number) -> Self {
        // The text of a JSON number always follows the grammar.
        Self::parse(number.as_str()).unwrap_or(Self { negative: false, digits: String::new(), exponent: 0 })
    }

    /// The number that a person typed: JSON's grammar, and also `+1`, `.5`, `5.` and `007`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (negative, rest) = match text.strip_prefix(['-', '\u{2212}']) {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, power) = match rest.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, parse_exponent(power)?),
            None => (rest, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if (whole.is_empty() && fraction.is_empty()) || !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        let all = format!("{whole}{fraction}");
        let digits = all.trim_end_matches('0');
        let dropped = length(&all) - length(digits);
        let digits = digits.trim_start_matches('0').to_owned();
        if digits.is_empty() {
            return Some(Self { negative: false, digits, exponent: 0 });
        }
        let exponent = power.saturating_sub(length(fraction)).saturating_add(dropped);
        Some(Self { negative, digits, exponent })
    }

    /// Whether it has no fraction.
    pub(crate) fn is_integer(&self) -> bool {
        self.exponent >= 0
    }

    /// Whether an IEEE 754 double can hold it, at least roughly, without becoming infinite or zero: what receivers can
    /// be expected to read.
    pub(crate) fn is_finite(&self) -> bool {
        let holds = |float: f64| float.is_finite() && (float != 0.0 || self.digits.is_empty());
        self.to_scientific().parse().is_ok_and(holds)
            && self.exponent.unsigned_abs() < 1_000
            && self.digits.len() < 1_000
    }

    /// Whether it is a multiple of `unit`; `None` if `unit` is not a positive number of at most 36 digits.
    pub(crate) fn is_multiple_of(&self, unit: &Self) -> Option<bool> {
        if unit.negative || unit.digits.is_empty() || unit.digits.len() > 36 {
            return None;
        }
        if self.digits.is_empty() {
            return Some(true);
        }
        // A number without trailing zeros that is finer than the unit cannot be a multiple of it.
        let Ok(zeros) = usize::try_from(self.exponent.saturating_sub(unit.exponent)) else { return Some(false) };
        let modulus: u128 = unit.digits.parse().ok()?;
        let step = |rest: u128, digit: u8| (rest * 10 + u128::from(digit - b'0')) % modulus;
        let rest = self.digits.bytes().fold(0, step);
        // If it is not a multiple after as many zeros as the unit has bits, it never is.
        let rest = (0..zeros.min(128)).fold(rest, |rest, _| step(rest, b'0'));
        Some(rest == 0)
    }

    /// The number as JSON writes it: `20`, `-0.5`, `1e300`.
    pub(crate) fn to_number(&self) -> Number {
        let plain = self.to_plain().unwrap_or_else(|| self.to_scientific());
        // Both spellings follow the grammar.
        plain.parse().unwrap_or_else(|_| Number::from(0))
    }

    /// The whole number as JSON writes it, with all digits.
    pub(crate) fn to_integer(&self) -> Number {
        let zeros = usize::try_from(self.exponent).unwrap_or(0).min(1_000);
        let plain = format!("{}{}{}", self.sign(), self.digits, "0".repeat(zeros));
        plain.parse().unwrap_or_else(|_| Number::from(0))
    }

    /// Without an exponent, if that takes few digits.
    fn to_plain(&self) -> Option<String> {
        let digits = &self.digits;
        if digits.is_empty() {
            return Some("0".to_owned());
        }
        let sign = self.sign();
        if self.exponent >= 0 {
            let zeros = usize::try_from(self.exponent).ok().filter(|zeros| *zeros <= 21)?;
            return Some(format!("{sign}{digits}{}", "0".repeat(zeros)));
        }
        let places = usize::try_from(self.exponent.unsigned_abs()).ok()?;
        match digits.len().checked_sub(places) {
            Some(0) => Some(format!("{sign}0.{digits}")),
            Some(point) => Some(format!("{sign}{}.{}", &digits[..point], &digits[point..])),
            None if places <= digits.len() + 7 => {
                Some(format!("{sign}0.{}{digits}", "0".repeat(places - digits.len())))
            }
            None => None,
        }
    }

    fn to_scientific(&self) -> String {
        if self.digits.is_empty() {
            "0".to_owned()
        } else {
            format!("{}{}e{}", self.sign(), self.digits, self.exponent)
        }
    }

    fn sign(&self) -> &'static str {
        if self.negative { "-" } else { "" }
    }

    /// Compares the absolute values.
    fn cmp_size(&self, other: &Self) -> Ordering {
        let magnitude = |it: &Self| it.exponent.saturating_add(length(&it.digits));
        match (self.digits.is_empty(), other.digits.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => magnitude(self).cmp(&magnitude(other)).then_with(|| self.digits.cmp(&other.digits)),
        }
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.cmp_size(other),
            (true, true) => other.cmp_size(self),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn length(text: &str) -> i64 {
    i64::try_from(text.len()).unwrap_or(i64::MAX)
}

/// The power of ten, clamped to the range of `i64`.
fn parse_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let held = if text.starts_with('-') { i64::MIN / 4 } else { i64::MAX / 4 };
    Some(text.parse::<i64>().map_or(held, |power| power.clamp(i64::MIN / 4, i64::MAX / 4)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).unwrap_or_else(|| panic!("{text} is a number"))
    }

    #[test]
    fn typed_numbers_become_json() {
        for (typed, json) in [
            ("007", "7"),
            ("+1.50", "1.5"),
            (".5", "0.5"),
            ("5.", "5"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("1e3", "1000"),
            ("12e-1", "1.2"),
            ("1e300", "1e+300"),
            ("1E-300", "1e-300"),
            ("-0.001", "-0.001"),
            ("9007199254740993", "9007199254740993"),
            ("18446744073709551616", "18446744073709551616"),
        ] {
            assert_eq!(decimal(typed).to_number().as_str(), json, "{typed}");
        }
        for text in ["", "-", ".", "e5", "1e", "1e+", "0x10", "1_000", "1,5", "NaN", "inf", "1 2", "--1", "٣"] {
            assert_eq!(Decimal::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn whole_numbers_are_told_digit_by_digit() {
        assert!(decimal("1.0").is_integer() && decimal("15e1").is_integer() && decimal("1.50e2").is_integer());
        assert!(!decimal("1.5").is_integer());
        assert_eq!(decimal("1.0").to_integer().as_str(), "1");
        assert_eq!(decimal("-25e23").to_integer().as_str(), "-2500000000000000000000000");
    }

    #[test]
    fn order_is_exact_and_takes_any_exponent() {
        assert!(decimal("9007199254740993") > decimal("9007199254740992"));
        assert!(decimal("-2") < decimal("-1.99") && decimal("-1") < decimal("0") && decimal("0") < decimal("1e-999"));
        assert!(decimal("1e999999999999999999999") > decimal("1e999"));
        assert_eq!(decimal("1.0"), decimal("1"));
        assert!(!decimal("1e999").is_finite() && !decimal("-1e99999999999999999999").is_finite());
        assert!(decimal("1e308").is_finite() && decimal("0e999").is_finite() && !decimal("1e-999").is_finite());
    }

    #[test]
    fn multiples_are_decimal() {
        let multiple = |a, b| decimal(a).is_multiple_of(&decimal(b));
        for (a, b) in [
            ("0.3", "0.1"),
            ("1.1", "0.1"),
            ("4.35", "0.01"),
            ("0", "7"),
            ("-9", "3"),
            ("1e300", "0.5"),
            ("40002", "2"),
        ] {
            assert_eq!(multiple(a, b), Some(true), "{a} {b}");
        }
        for (a, b) in [("0.35", "0.1"), ("10", "3"), ("1", "20"), ("1e-5", "1"), ("2010073", "2"), ("1e300", "3")] {
            assert_eq!(multiple(a, b), Some(false), "{a} {b}");
        }
        assert_eq!(multiple("1", "0"), None);
        assert_eq!(multiple("1", "-2"), None);
    }
}
