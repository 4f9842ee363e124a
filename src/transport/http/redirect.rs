use reqwest::{Method, StatusCode};
use url::Url;

use crate::transport::TransportError;

/// How many redirects one request may follow.
pub(super) const MAX: usize = 5;

/// The target of a redirect.
///
/// # Errors
/// If it cannot be followed: it has no usable address, it would turn a POST into a GET, or it would leave TLS.
pub(super) fn target(from: &Url, method: &Method, status: StatusCode, to: Option<&str>) -> Result<Url, TransportError> {
    let refused = |reason: &str| {
        let to = to.unwrap_or("no address");
        TransportError::NoAnswer(format!("HTTP {} to {to}, {reason}", status.as_u16()))
    };
    let target = to.and_then(|to| from.join(to).ok()).ok_or_else(|| refused("which is not a valid address"))?;
    if !matches!(target.scheme(), "http" | "https") {
        return Err(refused("which is not http or https"));
    }
    if from.scheme() == "https" && target.scheme() == "http" {
        return Err(refused("which is not encrypted"));
    }
    if *method != Method::GET && !matches!(status.as_u16(), 307 | 308) {
        return Err(refused("which would drop the message: configure that address itself"));
    }
    Ok(target)
}

/// Whether a status is a redirect.
pub(super) fn is_redirection(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// Whether two addresses share scheme, host and port.
pub(super) fn same_origin(one: &Url, other: &Url) -> bool {
    one.origin() == other.origin()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn follow(method: &Method, status: u16, to: Option<&str>) -> Result<String, String> {
        let from = Url::parse("https://mcp.example/one?x=1").expect("an address");
        let status = StatusCode::from_u16(status).expect("a status");
        target(&from, method, status, to).map(|url| url.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn only_redirections_that_keep_the_message_are_followed() {
        assert_eq!(follow(&Method::POST, 307, Some("/two")), Ok("https://mcp.example/two".into()));
        assert_eq!(follow(&Method::POST, 308, Some("https://other.example/")), Ok("https://other.example/".into()));
        assert_eq!(follow(&Method::GET, 302, Some("two")), Ok("https://mcp.example/two".into()));
        for (method, status, to) in [
            (Method::POST, 302, Some("/two")),
            (Method::POST, 301, Some("/two")),
            (Method::POST, 307, None),
            (Method::POST, 307, Some("http://mcp.example/one")),
            (Method::GET, 302, Some("file:///etc/passwd")),
        ] {
            let refused = follow(&method, status, to).expect_err("refused");
            assert!(refused.contains(&format!("HTTP {status}")), "{refused}");
        }
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let same = |one: &str, other: &str| same_origin(&Url::parse(one).expect("a"), &Url::parse(other).expect("b"));
        assert!(same("http://h/a", "http://h:80/b?c"));
        assert!(!same("http://h/a", "http://h:81/a"));
        assert!(!same("http://h/a", "https://h/a"));
        assert!(!same("http://h/a", "http://h.evil/a"));
    }
}
