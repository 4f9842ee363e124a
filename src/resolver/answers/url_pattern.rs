use std::fmt;

use url::{Position, Url};

use super::Glob;

/// A web address whose scheme and host are exact, and whose path (with query and fragment) may contain `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlPattern {
    /// Everything before the path, as the parser writes it.
    origin: String,
    rest: Glob,
}

impl UrlPattern {
    /// Reads a pattern such as `https://host/path*`.
    ///
    /// # Errors
    /// A reason, if the part before the path is not exact, or is not a web address.
    pub fn parse(text: &str) -> Result<Self, String> {
        let example = "expected an address such as \"https://host.example/path*\"";
        let (scheme, rest) = text.split_once("://").ok_or(example)?;
        let (authority, path) = match rest.find(['/', '?', '#']) {
            Some(end) => rest.split_at(end),
            None => (rest, "/"),
        };
        if scheme.contains('*') || authority.contains('*') {
            return Err("scheme and host must be exact; `*` is allowed only in the path".to_owned());
        }
        let url = Url::parse(&format!("{scheme}://{authority}/")).map_err(|error| format!("{example} ({error})"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("`{}:` links are never accepted, only http and https", url.scheme()));
        }
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Self { origin: url[..Position::BeforePath].to_owned(), rest: Glob::new(&path) })
    }

    /// Whether the link `text` matches.
    pub fn fits(&self, text: &str) -> bool {
        Url::parse(text).is_ok_and(|url| {
            let (origin, rest) = (&url[..Position::BeforePath], &url[Position::BeforePath..]);
            origin == self.origin && self.rest.fits(rest)
        })
    }
}

impl fmt::Display for UrlPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin, self.rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scheme_and_host_are_exact() {
        for (pattern, url, fits) in [
            ("https://a.example/x", "https://a.example/x", true),
            ("https://a.example/x", "https://a.example/x?y=1", false),
            ("https://a.example/x*", "https://a.example/x?y=1#z", true),
            ("https://A.example:443/*", "https://a.EXAMPLE/anything/at?all", true),
            ("https://a.example", "https://a.example/", true),
            ("https://a.example", "https://a.example", true),
            ("https://a.example/*", "http://a.example/x", false),
            ("https://a.example/*", "https://a.example.evil.example/x", false),
            ("https://a.example/*", "https://a.example@evil.example/x", false),
            ("https://a.example/*", "https://user@a.example/x", false),
            ("https://a.example/*", "https://a.example:8443/x", false),
            ("https://a.example/ok/*", "https://a.example/ok/../evil", false),
            ("https://bücher.example/*", "https://xn--bcher-kva.example/x", true),
            ("https://a.example/*", "javascript:alert(1)", false),
            ("https://a.example/*", "no link", false),
            ("http://127.0.0.1:8080/approve?id=*", "http://127.0.0.1:8080/approve?id=7", true),
        ] {
            assert_eq!(UrlPattern::parse(pattern).expect(pattern).fits(url), fits, "{pattern} {url}");
        }
    }

    #[test]
    fn patterns_that_are_none() {
        for pattern in
            ["*", "https://*.example/x", "https://*", "a.example/x", "javascript://a/x", "https://", "h*://a/"]
        {
            assert!(UrlPattern::parse(pattern).is_err(), "{pattern}");
        }
    }
}
