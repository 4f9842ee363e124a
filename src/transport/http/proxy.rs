use std::net::IpAddr;

use url::{Host, Url};

/// The proxy for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chosen {
    /// Its address, with our credentials for it.
    pub(super) url: Url,
    /// The variable that names it.
    pub(super) variable: &'static str,
}

impl Chosen {
    /// The proxy as it may be shown: `through the proxy HOST:PORT (VARIABLE)`.
    pub(super) fn words(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        let port = self.url.port_or_known_default().map(|port| format!(":{port}")).unwrap_or_default();
        format!("through the proxy {host}{port} ({})", self.variable)
    }
}

/// The proxy for `url`, according to the variables that curl made common. This machine is never reached through a
/// proxy.
pub(super) fn of(url: &Url) -> Option<Chosen> {
    choose(url, &|name| std::env::var(name).ok())
}

/// The proxy for a request to `url`, as it may be shown.
pub(crate) fn words_of(url: &Url) -> Option<String> {
    of(url).map(|chosen| chosen.words())
}

fn choose(url: &Url, variable: &dyn Fn(&str) -> Option<String>) -> Option<Chosen> {
    let given = |name: &str| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    let names: &[&'static str] = match url.scheme() {
        "https" => &["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"],
        // Under CGI a request can set this one (CVE-2016-5385).
        "http" if given("REQUEST_METHOD").is_some() => &["http_proxy", "all_proxy", "ALL_PROXY"],
        "http" => &["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"],
        _ => return None,
    };
    let exempt = given("no_proxy").or_else(|| given("NO_PROXY")).unwrap_or_default();
    if is_here(url) || exempt.split([',', ' ']).any(|entry| is_exempt(url, entry.trim())) {
        return None;
    }
    let (variable, value) = names.iter().find_map(|name| Some((*name, given(name)?)))?;
    let text = if value.contains("://") { value } else { format!("http://{value}") };
    Url::parse(&text).ok().map(|url| Chosen { url, variable })
}

/// Whether `url` is on this machine.
fn is_here(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => true,
    }
}

/// Whether an entry of `NO_PROXY` applies to `url`: `*`, a name including its subdomains, an address, `ADDRESS/BITS`,
/// each with or without a port.
fn is_exempt(url: &Url, entry: &str) -> bool {
    if entry == "*" {
        return true;
    }
    if let Some((network, bits)) = entry.split_once('/') {
        return is_within(url, network, bits);
    }
    let (name, port) = match entry.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') || name.ends_with(']') => match port.parse::<u16>() {
            Ok(port) => (name, Some(port)),
            Err(_) => return false,
        },
        _ => (entry, None),
    };
    if port.is_some() && port != url.port_or_known_default() {
        return false;
    }
    let name = name.trim_start_matches('[').trim_end_matches(']').trim_start_matches("*.").trim_start_matches('.');
    if name.is_empty() {
        return false;
    }
    if let Ok(address) = name.parse::<IpAddr>() {
        return address_of(url) == Some(address);
    }
    let Some(Host::Domain(host)) = url.host() else { return false };
    let name = name.to_ascii_lowercase();
    host == name || host.strip_suffix(name.as_str()).is_some_and(|above| above.ends_with('.'))
}

fn is_within(url: &Url, network: &str, bits: &str) -> bool {
    let (Some(address), Ok(network), Ok(bits)) = (address_of(url), network.parse(), bits.parse::<u32>()) else {
        return false;
    };
    match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) if bits <= 32 => {
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            address.to_bits() & mask == network.to_bits() & mask
        }
        (IpAddr::V6(address), IpAddr::V6(network)) if bits <= 128 => {
            let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
            address.to_bits() & mask == network.to_bits() & mask
        }
        _ => false,
    }
}

fn address_of(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Ipv4(address) => Some(address.into()),
        Host::Ipv6(address) => Some(address.into()),
        Host::Domain(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(url: &str, variables: &[(&str, &str)]) -> Option<String> {
        let url = Url::parse(url).expect("an address");
        let variable =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        choose(&url, &variable).map(|chosen| chosen.words())
    }

    #[test]
    fn each_scheme_has_its_variable() {
        let all = [("HTTP_PROXY", "http://p:1"), ("https_proxy", "q:2"), ("ALL_PROXY", "http://me:s3cret@r:3")];
        assert_eq!(chosen("http://a.example/", &all).as_deref(), Some("through the proxy p:1 (HTTP_PROXY)"));
        assert_eq!(chosen("https://a.example/", &all).as_deref(), Some("through the proxy q:2 (https_proxy)"));
        assert_eq!(chosen("https://a.example/", &all[2..]).as_deref(), Some("through the proxy r:3 (ALL_PROXY)"));
        assert_eq!(chosen("http://a.example/", &[all[0], ("REQUEST_METHOD", "GET")]), None);
        assert_eq!(chosen("http://a.example/", &[("HTTP_PROXY", " ")]), None);
    }

    #[test]
    fn this_machine_is_reached_directly() {
        for url in
            ["http://localhost:1/", "http://127.0.0.1/", "http://[::1]:3/", "http://127.1.2.3/", "http://x.localhost/"]
        {
            assert_eq!(chosen(url, &[("HTTP_PROXY", "http://p:1")]), None, "{url}");
        }
    }

    #[test]
    fn exceptions_are_names_addresses_and_ports() {
        let goes =
            |url: &str, exempt: &str| chosen(url, &[("HTTP_PROXY", "http://p:1"), ("NO_PROXY", exempt)]).is_some();
        for (url, exempt) in [
            ("http://10.0.0.1:8080/", "*"),
            ("http://10.0.0.1:8080/", "10.0.0.1:8080"),
            ("http://10.0.0.1:8080/", "a, 10.0.0.1"),
            ("http://10.0.0.1/", "10.0.0.1:80"),
            ("http://10.1.2.3/", "10.0.0.0/8"),
            ("http://a.example/", "example"),
            ("http://a.example/", ".example"),
            ("http://a.example/", "*.example"),
            ("http://A.Example:81/", "a.EXAMPLE:81"),
            ("http://[fd00::1]:8/", "[fd00::1]:8"),
            ("http://[fd00::1]/", "fd00::/8"),
        ] {
            assert!(!goes(url, exempt), "{url} {exempt}");
        }
        for (url, exempt) in [
            ("http://10.0.0.1:8080/", "10.0.0.1:80"),
            ("http://10.0.0.1/", "10.0.0.2"),
            ("http://11.1.2.3/", "10.0.0.0/8"),
            ("http://badexample/", "example"),
            ("http://a.example/", ""),
            ("http://a.example/", "."),
            ("http://a.example/", "b.example, a.example:x"),
        ] {
            assert!(goes(url, exempt), "{url} {exempt}");
        }
    }
}
