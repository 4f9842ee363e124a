use url::Url;

use super::host;

/// From this many characters on, a link is long enough to hide something.
const LONG: usize = 2_000;
/// The longest link that openers and browsers accept.
const LONGEST: usize = 32_000;
/// Ports that need no warning.
const USUAL_PORTS: [u16; 4] = [80, 443, 8080, 8443];

/// A link that a person may be asked to open (2026-07-28, *client/elicitation*, Safe URL Handling). Nothing is fetched
/// to check it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The full address as a browser reads it, in printable ASCII: what is shown is what is opened.
    pub url: String,
    /// Its host, in ASCII: punycode for foreign scripts, IPv6 in brackets, without the port.
    pub host: String,
    /// What a person should know before agreeing, one sentence each, in printable ASCII.
    pub warnings: Vec<String>,
}

/// Why a link is refused: the server is told `cancel`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the link cannot be opened: {reason}")]
pub struct LinkRefused {
    /// The reason, in printable ASCII and without the link itself.
    pub reason: String,
}

impl Link {
    /// Whether it leads to this machine.
    pub fn is_loopback(&self) -> bool {
        Url::parse(&self.url).is_ok_and(|url| host::is_loopback(&url))
    }

    /// Checks the link that a server sent. Only `http` and `https` are accepted.
    ///
    /// # Errors
    /// Why it is refused: another scheme, not a URL, a host that cannot exist, control characters, far too long.
    ///
    /// ```
    /// use toolnexus::elicitation::Link;
    /// let link = Link::inspect("https://bank.example@evil.example/").unwrap();
    /// assert_eq!(link.host, "evil.example");
    /// assert_eq!(link.warnings, ["there is a user name before the host, which is evil.example"]);
    /// assert!(Link::inspect("javascript:alert(1)").is_err());
    /// ```
    pub fn inspect(url: &str) -> Result<Self, LinkRefused> {
        let raw = url.trim_matches(|c: char| c.is_ascii_whitespace());
        if raw.chars().any(char::is_control) {
            return Err(refused("it contains control characters"));
        }
        let parsed = Url::parse(raw).map_err(|error| match error {
            url::ParseError::RelativeUrlWithoutBase => refused("it has no scheme"),
            error => refused(format!("it is not a valid URL ({error})")),
        })?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err(refused(format!("only http and https links are opened, not {}", short(parsed.scheme()))));
        }
        let length = parsed.as_str().len();
        if length > LONGEST {
            return Err(refused(format!("it is {length} characters long")));
        }
        let host = parsed.host_str().filter(|host| !host.is_empty()).ok_or_else(|| refused("it has no host"))?;
        if host.trim_end_matches('.').split('.').any(str::is_empty) {
            return Err(refused("its host has an empty part"));
        }
        let mut warnings = Vec::new();
        let is_local = host::is_loopback(&parsed);
        warnings.extend(user_warning(&parsed, host));
        warnings.extend(host::warnings(&parsed, host, written_host(raw)));
        if parsed.scheme() == "http" && !is_local {
            warnings.push("the connection is not encrypted (http): others can read and change it".to_owned());
        }
        if let Some(port) = parsed.port().filter(|port| !is_local && !USUAL_PORTS.contains(port)) {
            warnings.push(format!("the port is unusual: {port}"));
        }
        if matches!((parsed.scheme(), parsed.port()), ("http", Some(443)) | ("https", Some(80))) {
            warnings.push("the port is the usual one of the other scheme (http or https)".to_owned());
        }
        warnings.extend(writing_warning(raw));
        if length > LONG {
            warnings.push(format!("the address is very long: {length} characters"));
        }
        // The parser encodes everything else.
        let url = parsed.as_str().chars().filter(char::is_ascii_graphic).collect();
        Ok(Self { url, host: host.to_owned(), warnings })
    }
}

fn refused(reason: impl Into<String>) -> LinkRefused {
    LinkRefused { reason: reason.into() }
}

/// A scheme, which is ASCII, shortened.
fn short(scheme: &str) -> &str {
    scheme.get(..30).unwrap_or(scheme)
}

fn user_warning(url: &Url, host: &str) -> Option<String> {
    let is_there = !url.username().is_empty() || url.password().is_some();
    is_there.then(|| format!("there is a user name before the host, which is {host}"))
}

/// The host as it was written: the part between the slashes, without user and port.
fn written_host(raw: &str) -> &str {
    let rest = raw.split_once(':').map_or(raw, |(_, rest)| rest).trim_start_matches(['/', '\\']);
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if host.starts_with('[') {
        return host.split_inclusive(']').next().unwrap_or(host);
    }
    host.split(':').next().unwrap_or(host)
}

/// Spellings that a person and a browser, or two programs, may read differently.
fn writing_warning(raw: &str) -> Option<String> {
    let after_scheme = raw.split_once(':').map_or("", |(_, rest)| rest);
    let path_start = after_scheme.find(['?', '#']).unwrap_or(after_scheme.len());
    if after_scheme[..path_start].contains('\\') {
        return Some("it is written with backslashes, which programs read differently".to_owned());
    }
    if !after_scheme.starts_with("//") || after_scheme.starts_with("///") {
        return Some("it is not written like a web address, with two slashes".to_owned());
    }
    if raw.chars().any(is_invisible) {
        return Some("it contains invisible or reordering characters".to_owned());
    }
    raw.contains(char::is_whitespace).then(|| "it contains spaces".to_owned())
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Links, the host that is shown, and a word from each warning.
    const OFFERED: &[(&str, &str, &[&str])] = &[
        ("https://accounts.example.com/o/authorize?client_id=7f3a&scope=calendar.read", "accounts.example.com", &[]),
        ("HTTPS://Example.COM/Path", "example.com", &[]),
        ("https://example.com:443/", "example.com", &[]),
        (" https://example.com/\n", "example.com", &[]),
        ("https://example.com/@ada/https://other.example/", "example.com", &[]),
        ("https://example.com/caf\u{e9}?q=\u{65e5}", "example.com", &[]),
        ("http://localhost:8765/approve", "localhost", &[]),
        ("http://app.localhost:3000/", "app.localhost", &[]),
        ("http://127.0.0.1:39111/cb", "127.0.0.1", &[]),
        ("http://[::1]:9/", "[::1]", &[]),
        ("http://example.com/", "example.com", &["not encrypted"]),
        ("http://localhost.evil.example/", "localhost.evil.example", &["not encrypted"]),
        ("https://bank.example@evil.example/", "evil.example", &["which is evil.example"]),
        ("https://bank.example:login@evil.example/", "evil.example", &["user name"]),
        ("https://https%3A%2F%2Fbank.example%2F@evil.example/", "evil.example", &["user name"]),
        ("https://bank.example\\@evil.example/", "bank.example", &["backslashes"]),
        ("https:\\\\example.com\\x", "example.com", &["backslashes"]),
        ("https:example.com", "example.com", &["two slashes"]),
        ("https:///example.com/", "example.com", &["two slashes"]),
        ("http://xn--pypal-4ve.example/", "xn--pypal-4ve.example", &["mixed scripts", "not encrypted"]),
        ("https://p\u{430}ypal.example/", "xn--pypal-4ve.example", &["mixed scripts: xn--pypal-4ve"]),
        ("https://xn--80ak6aa92e.com/", "xn--80ak6aa92e.com", &["mixed scripts"]),
        ("https://b\u{fc}cher.example/", "xn--bcher-kva.example", &["punycode"]),
        ("https://\u{43f}\u{440}\u{438}\u{43c}\u{435}\u{440}.\u{440}\u{444}/", "xn--e1afmkfd.xn--p1ai", &["punycode"]),
        ("https://\u{65e5}\u{672c}.jp/", "xn--wgv71a.jp", &["punycode"]),
        ("https://\u{ff45}xample.com/", "example.com", &["other characters"]),
        ("https://ex%61mple.com/", "example.com", &["other characters"]),
        ("https://192.0.2.7/x", "192.0.2.7", &["numeric address"]),
        ("https://2130706433/", "127.0.0.1", &["in disguise"]),
        ("https://0x7f.1/", "127.0.0.1", &["in disguise"]),
        ("https://0300.0250.1.1/", "192.168.1.1", &["in disguise", "local network"]),
        ("http://169.254.169.254/latest", "169.254.169.254", &["local network", "not encrypted"]),
        ("https://[2001:db8::1]/", "[2001:db8::1]", &["numeric address"]),
        ("https://[::ffff:10.0.0.1]/", "[::ffff:a00:1]", &["local network"]),
        ("https://example.com:8443/", "example.com", &[]),
        ("https://example.com:22/", "example.com", &["unusual: 22"]),
        ("https://example.com:80/", "example.com", &["the usual one of the other scheme"]),
        ("https://intranet/", "intranet", &["local network"]),
        ("https://printer.local/", "printer.local", &["local network"]),
        ("https://example.com./", "example.com.", &["ends in a dot"]),
        ("https://accounts.bank.com.evil.example/", "accounts.bank.com.evil.example", &["belongs to evil.example"]),
        ("https://shop.example.com.br/", "shop.example.com.br", &[]),
        ("https://example.com/a b", "example.com", &["spaces"]),
        ("https://example.com/\u{202e}gnp.exe", "example.com", &["invisible"]),
        ("https://a.b.c.d.e.f.g.example.org/", "a.b.c.d.e.f.g.example.org", &["many parts"]),
    ];

    const REFUSED: &[(&str, &str)] = &[
        ("javascript:alert(1)", "not javascript"),
        ("data:text/html,<script>x</script>", "not data"),
        ("vscode://x", "not vscode"),
        ("file:///etc/passwd", "not file"),
        ("ftp://example.com/", "not ftp"),
        ("blob:https://example.com/1", "not blob"),
        ("mailto:a@example.com", "not mailto"),
        ("example.com/x", "no scheme"),
        ("//example.com/x", "no scheme"),
        ("", "no scheme"),
        ("https://", "not a valid URL"),
        ("https://exam ple.com/", "not a valid URL"),
        ("https://example.com%2f.evil.example/", "not a valid URL"),
        ("https://example.com:99999/", "not a valid URL"),
        ("https://999.1.1.1/", "not a valid URL"),
        ("https://xn--a-\u{430}.example/", "not a valid URL"),
        ("https://example..com/", "empty part"),
        ("https://exam\tple.com/", "control characters"),
        ("https://example.com/\u{1b}]0;x", "control characters"),
        ("java\nscript:alert(1)", "control characters"),
    ];

    #[test]
    fn each_link_has_its_verdict() {
        for (url, host, wanted) in OFFERED {
            let link = Link::inspect(url).unwrap_or_else(|error| panic!("{url}: {error}"));
            assert_eq!(link.host, *host, "{url}");
            assert_eq!(link.warnings.len(), wanted.len(), "{url}: {:?}", link.warnings);
            for (warning, word) in link.warnings.iter().zip(*wanted) {
                assert!(warning.contains(word), "{url}: {warning}");
            }
            assert!(link.url.chars().chain(link.warnings.concat().chars()).all(|c| c.is_ascii_graphic() || c == ' '));
        }
        for (url, word) in REFUSED {
            let refused = Link::inspect(url).expect_err(url);
            assert!(refused.reason.contains(word), "{url}: {refused}");
        }
    }

    #[test]
    fn long_links_are_told_or_refused() {
        let long = |count: usize| format!("https://example.com/{}", "a".repeat(count));
        assert_eq!(Link::inspect(&long(1_000)).expect("offered").warnings, Vec::<String>::new());
        assert!(Link::inspect(&long(3_000)).expect("offered").warnings[0].contains("3020 characters"));
        assert!(Link::inspect(&long(100_000)).is_err());
    }

    #[test]
    fn what_is_shown_is_what_is_opened() {
        let link = Link::inspect("https://ex%41mple.com/a b\u{202e}?q=\u{65e5}").expect("offered");
        assert_eq!(link.url, "https://example.com/a%20b%E2%80%AE?q=%E6%97%A5");
        assert_eq!(url::Url::parse(&link.url).expect("a URL").as_str(), link.url);
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn any_text_has_a_verdict(text in "(https?:|javascript:|)[/\\\\]{0,3}(\\PC{0,8}@)?\\PC{0,12}(:[0-9]{0,5})?(/\\PC{0,8})?") {
            match Link::inspect(&text) {
                Ok(link) => {
                    proptest::prop_assert!(link.url.starts_with("http") && link.url.chars().all(|c| c.is_ascii_graphic()));
                    let again = Link::inspect(&link.url).expect("offered again");
                    proptest::prop_assert_eq!((again.url, again.host), (link.url, link.host));
                }
                Err(refused) => proptest::prop_assert!(!refused.reason.is_empty() && refused.reason.is_ascii()),
            }
        }
    }
}
