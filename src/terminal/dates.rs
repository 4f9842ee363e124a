use jiff::{civil::DateTime, tz::TimeZone};

use crate::form::{Field, FieldKind, Format};

/// `text` in a field of a date and time, completed with seconds and with this machine's offset at that time. `None` if
/// nothing is missing, or it is not a date and time.
pub(crate) fn complete(field: &Field, text: &str) -> Option<String> {
    match &field.kind {
        FieldKind::Text(rules) if rules.format == Some(Format::DateTime) => complete_in(text, &TimeZone::system()),
        _ => None,
    }
}

fn complete_in(text: &str, zone: &TimeZone) -> Option<String> {
    let text = text.trim();
    if Format::DateTime.fits(text) {
        return None;
    }
    let time = text.find(['T', 't', ' '])? + 1;
    let end = text[time..].find(['Z', 'z', '+', '-']).map_or(text.len(), |at| time + at);
    let (clock, offset) = (text[..end].trim_end(), &text[end..]);
    if !clock.contains(':') {
        return None;
    }
    let moment: DateTime = clock.parse().ok()?;
    let written = moment.strftime("%Y-%m-%dT%H:%M:%S%.f");
    let full = match offset {
        "" => {
            let zoned = zone.to_zoned_datetime(moment).ok()?;
            let offset = zoned.strftime("%:z").to_string();
            format!("{}{}", zoned.strftime("%Y-%m-%dT%H:%M:%S%.f"), if offset == "+00:00" { "Z" } else { &offset })
        }
        "z" => format!("{written}Z"),
        offset => format!("{written}{offset}"),
    };
    Format::DateTime.fits(&full).then_some(full)
}

#[cfg(test)]
mod tests {
    use jiff::tz::offset;

    use super::*;

    #[test]
    fn what_is_missing_is_filled_in() {
        let east = TimeZone::fixed(offset(2));
        let complete = |text: &str| complete_in(text, &east);
        for text in ["2026-01-31 09:30", "2026-01-31T09:30", "2026-01-31t09:30:00", " 2026-01-31 09:30:00 "] {
            assert_eq!(complete(text).as_deref(), Some("2026-01-31T09:30:00+02:00"), "{text}");
        }
        assert_eq!(complete("2026-01-31T09:30Z").as_deref(), Some("2026-01-31T09:30:00Z"));
        assert_eq!(complete("2026-01-31 09:30-05:00").as_deref(), Some("2026-01-31T09:30:00-05:00"));
        for text in ["2026-01-31T09:30:00Z", "2026-01-31", "2026-02-31 09:30", "2026-01-31 25:00", "soon", "", "é: :"]
        {
            assert_eq!(complete(text), None, "{text}");
        }
        assert_eq!(complete_in("2026-01-31 09:30", &TimeZone::UTC).as_deref(), Some("2026-01-31T09:30:00Z"));
    }
}
