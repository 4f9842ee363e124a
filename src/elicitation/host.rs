use std::{
    net::{IpAddr, Ipv4Addr},
    sync::LazyLock,
};

use fancy_regex::Regex;
use url::{Host, Url};

/// Endings of names that mean something only in a local network.
const LOCAL_ENDINGS: [&str; 6] = ["local", "internal", "lan", "home", "corp", "arpa"];
/// Endings under which anybody can register a name.
const PUBLIC_ENDS: [&str; 7] = ["com", "net", "org", "gov", "edu", "io", "co"];
/// A host with more parts than this may hide where it ends.
const MANY_PARTS: usize = 6;

/// Whether the host is this very machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// What a person should know about the host of `url`: `host` is its ASCII form, `written` what the server wrote.
pub(super) fn warnings(url: &Url, host: &str, written: &str) -> Vec<String> {
    match url.host() {
        Some(Host::Ipv4(address)) => address_warnings(IpAddr::V4(address), host, written),
        Some(Host::Ipv6(address)) => {
            let mapped = address.to_ipv4_mapped();
            address_warnings(mapped.map_or(IpAddr::V6(address), IpAddr::V4), host, written)
        }
        _ => name_warnings(host, written),
    }
}

fn address_warnings(address: IpAddr, host: &str, written: &str) -> Vec<String> {
    let in_disguise = matches!(address, IpAddr::V4(_)) && !host.starts_with('[') && written != host;
    let is_local = match address {
        IpAddr::V4(address) => address.is_private() || address.is_link_local() || is_this_network(address),
        IpAddr::V6(address) => address.is_unique_local() || address.is_unicast_link_local() || address.is_unspecified(),
    };
    let mut warnings = Vec::new();
    if in_disguise {
        warnings.push(format!("the host is the numeric address {host} in disguise"));
    }
    if is_local {
        warnings.push(format!("the host is an address in the local network: {host}"));
    } else if !address.is_loopback() && !in_disguise {
        warnings.push(format!("the host is a numeric address, not a name: {host}"));
    }
    warnings
}

fn is_this_network(address: Ipv4Addr) -> bool {
    address.octets()[0] == 0
}

fn name_warnings(host: &str, written: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    let is_foreign = host.split('.').any(|label| label.starts_with("xn--"));
    if is_foreign && is_mixed(host) {
        warnings.push(format!("the host is written in mixed scripts: {host}"));
    } else if is_foreign {
        warnings.push(format!("the host has letters that are not plain Latin, shown here as punycode: {host}"));
    } else if !written.is_ascii() || written.contains('%') {
        warnings.push(format!("the host was written in other characters: it is {host}"));
    }
    if host.ends_with('.') {
        warnings.push("the host ends in a dot".to_owned());
    }
    let labels: Vec<&str> = host.trim_end_matches('.').split('.').collect();
    warnings.extend(label_warning(host, &labels));
    warnings
}

/// A warning about where the name ends.
fn label_warning(host: &str, labels: &[&str]) -> Option<String> {
    let (last, before) = labels.split_last()?;
    if *last == "localhost" {
        return None;
    }
    if before.is_empty() || LOCAL_ENDINGS.contains(last) {
        return Some(format!("the host is a name in the local network: {host}"));
    }
    // `bank.com.evil.example` is not the bank, but `shop.com.br` is an ordinary name.
    let own = if last.len() == 2 && before.last().is_some_and(|label| label.len() <= 3) { 3 } else { 2 };
    let in_front = &labels[..labels.len().saturating_sub(own)];
    if in_front.iter().skip(1).any(|label| PUBLIC_ENDS.contains(label)) {
        let owner = labels[labels.len() - own..].join(".");
        return Some(format!("the host belongs to {owner}, whatever comes before that"));
    }
    (labels.len() > MANY_PARTS)
        .then(|| format!("the host has many parts; it ends in {}", labels[labels.len() - own..].join(".")))
}

/// Whether a label mixes Latin letters with look-alikes or with another script. Chinese, Japanese and Korean are often
/// mixed with Latin letters.
fn is_mixed(host: &str) -> bool {
    static SCRIPTS: LazyLock<[Option<Regex>; 3]> = LazyLock::new(|| {
        [
            r"\p{sc=Latin}",
            r"[\p{sc=Cyrillic}\p{sc=Greek}\p{sc=Armenian}\p{sc=Cherokee}\p{sc=Coptic}\p{sc=Lisu}]",
            r"[^\p{sc=Common}\p{sc=Inherited}\p{sc=Latin}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Bopomofo}]",
        ]
        .map(|pattern| Regex::new(pattern).ok())
    });
    let has =
        |index: usize, text: &str| SCRIPTS[index].as_ref().is_some_and(|regex| regex.is_match(text).unwrap_or(false));
    let (name, _) = idna::domain_to_unicode(host);
    (has(0, &name) && has(1, &name)) || name.split('.').any(|label| has(0, label) && has(2, label))
}
