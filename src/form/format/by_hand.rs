//! Formats without a validator crate. They accept what the validators accept; both have the same tests.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::Format;

pub(super) fn has_format(format: &Format, text: &str) -> bool {
    match format {
        Format::Email => is_email(text),
        Format::Uri => is_uri(text),
        Format::Date => is_date(text),
        Format::DateTime => is_date_time(text),
        Format::Other(_) => true,
    }
}

/// RFC 5321, section 4.1.2, with letters of every script (RFC 6531).
fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let is_of_atom = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c);
    let is_atom = |part: &str| !part.is_empty() && part.chars().all(is_of_atom);
    let quoted = local.strip_prefix('"').and_then(|local| local.strip_suffix('"'));
    let is_local = match quoted {
        Some(inner) => inner.chars().all(|c| !c.is_control() && c != '"'),
        None => local.split('.').all(is_atom),
    };
    local.len() <= 64 && is_local && is_domain(domain)
}

fn is_domain(domain: &str) -> bool {
    if let Some(literal) = domain.strip_prefix('[').and_then(|domain| domain.strip_suffix(']')) {
        let v6 = literal.strip_prefix("IPv6:").is_some_and(|address| address.parse::<Ipv6Addr>().is_ok());
        return v6 || literal.parse::<Ipv4Addr>().is_ok();
    }
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| !c.is_ascii() || c.is_ascii_alphanumeric() || c == '-')
    };
    domain.len() <= 254 && domain.split('.').all(is_label)
}

/// RFC 3986, section 3: with a scheme.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (authority, path) = match rest.strip_prefix("//") {
        Some(rest) => rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len())),
        None => ("", rest),
    };
    is_scheme && is_authority(authority) && [path, fragment].iter().all(|part| is_encoded(part, "/?:@"))
}

fn is_authority(authority: &str) -> bool {
    let (user, place) = authority.rsplit_once('@').unwrap_or(("", authority));
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let is_place = match place.strip_prefix('[').map(|place| place.split_once(']')) {
        Some(Some((address, port))) => {
            address.parse::<Ipv6Addr>().is_ok() && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port))
        }
        Some(None) => false,
        None => {
            let (host, port) = place.split_once(':').unwrap_or((place, ""));
            is_encoded(host, "") && is_port(port)
        }
    };
    is_encoded(user, ":") && is_place
}

/// Whether `text` consists of characters that are allowed in every part of an address, of `others`, and of
/// percent-encoded bytes.
fn is_encoded(text: &str, others: &str) -> bool {
    let mut parts = text.split('%');
    let is_plain = |part: &str| {
        part.chars().all(|c| c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=".contains(c) || others.contains(c))
    };
    let is_byte = |part: &str| {
        part.get(..2).is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit())) && is_plain(&part[2..])
    };
    parts.next().is_some_and(is_plain) && parts.all(is_byte)
}

/// The number that `text` spells in this many digits.
fn number(text: &str, digits: usize) -> Option<u32> {
    let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

/// RFC 3339, `full-date`.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts[..] else { return false };
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2)) else {
        return false;
    };
    let is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    (1..=12).contains(&month) && (1..=days).contains(&day)
}

/// RFC 3339, `date-time`.
fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't']) else { return false };
    let Some(zone) = time.find(['Z', 'z', '+', '-']) else { return false };
    let (time, zone) = time.split_at(zone);
    let Some(offset) = offset(zone) else { return false };
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let parts: Vec<&str> = time.split(':').collect();
    let [hour, minute, second] = parts[..] else { return false };
    let (Some(hour), Some(minute), Some(second)) = (number(hour, 2), number(minute, 2), number(second, 2)) else {
        return false;
    };
    // A leap second is the last second of a day in UTC.
    let of_day = (i64::from(hour * 60 + minute) - offset).rem_euclid(24 * 60);
    let is_second = second < 60 || (second == 60 && of_day == 24 * 60 - 1);
    let is_fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    is_date(date) && hour < 24 && minute < 60 && is_second && is_fraction
}

/// The minutes of a time zone: `Z`, `+01:00`.
fn offset(zone: &str) -> Option<i64> {
    if matches!(zone, "Z" | "z") {
        return Some(0);
    }
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let (hours, minutes) = (number(hours, 2).filter(|hours| *hours < 24)?, number(minutes, 2).filter(|it| *it < 60)?);
    let minutes = i64::from(hours * 60 + minutes);
    Some(if zone.starts_with('-') { -minutes } else { minutes })
}
