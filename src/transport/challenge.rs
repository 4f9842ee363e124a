use std::fmt;

/// How many bytes of a `WWW-Authenticate` header are read.
const LONGEST: usize = 8 << 10;

/// What a server asks for when it refuses a request (RFC 9110, `WWW-Authenticate`): of several challenges the one for a
/// bearer token, or else the first.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Challenge {
    /// The scheme as it was written: `Bearer`.
    pub scheme: String,
    /// The parameters in order, unquoted; not yet safe for a terminal.
    pub params: Vec<(String, String)>,
}

impl Challenge {
    /// Reads the header; `None` if it contains no challenge.
    pub fn parse(header: &str) -> Option<Self> {
        let end = (0..=LONGEST.min(header.len())).rev().find(|&end| header.is_char_boundary(end)).unwrap_or(0);
        let mut all: Vec<Self> = Vec::new();
        for item in items(&header[..end]) {
            let (name, value) =
                item.split_once('=').map_or((item, None), |(name, value)| (name.trim_end(), Some(value)));
            match (name.split_once(char::is_whitespace), value) {
                // `Scheme name=value`, `Scheme token68==`, or only `Scheme`: another challenge begins.
                (Some((scheme, name)), Some(value)) => all.push(Self::new(scheme, Some((name, value)))),
                (Some((scheme, _)), None) => all.push(Self::new(scheme, None)),
                (None, None) => all.push(Self::new(name, None)),
                (None, Some(value)) => match all.last_mut() {
                    Some(challenge) => challenge.add(name, value),
                    None => return None,
                },
            }
        }
        let bearer = all.iter().position(|challenge| challenge.scheme.eq_ignore_ascii_case("bearer")).unwrap_or(0);
        (bearer < all.len()).then(|| all.swap_remove(bearer))
    }

    fn new(scheme: &str, param: Option<(&str, &str)>) -> Self {
        let mut challenge = Self { scheme: scheme.to_owned(), params: Vec::new() };
        if let Some((name, value)) = param {
            challenge.add(name, value);
        }
        challenge
    }

    fn add(&mut self, name: &str, value: &str) {
        self.params.push((name.trim().to_ascii_lowercase(), unquoted(value.trim())));
    }

    /// The value of a parameter, by its name in lower case.
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The address of the resource's metadata (RFC 9728, section 5.1).
    pub fn resource_metadata(&self) -> Option<&str> {
        self.param("resource_metadata")
    }

    /// The scopes that the request needs (RFC 6750, section 3).
    pub fn scopes(&self) -> Vec<String> {
        self.param("scope").unwrap_or_default().split_ascii_whitespace().map(str::to_owned).collect()
    }
}

impl fmt::Display for Challenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Written for people (RFC 6750, section 3).
        if let Some(words) = self.param("error_description").filter(|words| !words.trim().is_empty()) {
            return f.write_str(words);
        }
        f.write_str(&self.scheme)?;
        for (index, (name, value)) in self.params.iter().enumerate() {
            write!(f, "{} {name}={value:?}", if index == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

/// The parts between commas outside of quotes.
fn items(header: &str) -> Vec<&str> {
    let (mut items, mut begin, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, c) in header.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ',' if !quoted => {
                items.push(&header[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    items.push(&header[begin..]);
    items.into_iter().map(str::trim).filter(|item| !item.is_empty()).collect()
}

fn unquoted(value: &str) -> String {
    let Some(inner) = value.strip_prefix('"') else { return value.to_owned() };
    let mut text = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => text.extend(chars.next()),
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bearer_challenge_is_found_and_read() {
        let header = r#"Basic realm="a, b=c", Bearer error="insufficient_scope", scope="a:b  c", resource_metadata=https://x/y , error_description="say \"hi\"""#;
        let challenge = Challenge::parse(header).expect("a challenge");
        assert_eq!(challenge.scheme, "Bearer");
        assert_eq!(challenge.scopes(), ["a:b", "c"]);
        assert_eq!(challenge.resource_metadata(), Some("https://x/y"));
        assert_eq!(challenge.param("error_description"), Some(r#"say "hi""#));
        assert_eq!(challenge.param("error"), Some("insufficient_scope"));
    }

    #[test]
    fn odd_headers_do_no_harm() {
        let parsed = |header: &str| Challenge::parse(header).map(|challenge| challenge.to_string());
        assert_eq!(parsed("Bearer"), Some("Bearer".into()));
        assert_eq!(parsed("Negotiate YII=, Bearer realm=\"x\""), Some("Bearer realm=\"x\"".into()));
        assert_eq!(parsed(""), None);
        assert_eq!(parsed(", ,"), None);
        assert_eq!(parsed("a=b"), None);
        assert_eq!(parsed("Bearer scope=\"a"), Some("Bearer scope=\"a\"".into()));
        assert!(parsed(&format!("Bearer x=\"{}\"", "é".repeat(9000))).is_some());
    }
}
