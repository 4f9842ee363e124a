use hyper::{HeaderMap, Method, header};

/// Whether a request was meant for this server and does not come from somebody else's page. Another `Host` is another
/// site's name that points to this machine; another `Origin` is another site's script or form.
pub(super) fn admits(method: &Method, headers: &HeaderMap, port: u16) -> bool {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let is_one = headers.get_all(header::HOST).iter().count() == 1;
    let is_ours = |host: &str| {
        host.strip_suffix(&port.to_string()).is_some_and(|name| matches!(name, "127.0.0.1:" | "localhost:"))
    };
    let host = text(header::HOST).is_some_and(is_ours);
    let origin = match text(header::ORIGIN) {
        Some(origin) => origin.strip_prefix("http://").is_some_and(is_ours),
        None => true,
    };
    let known = matches!(*method, Method::GET | Method::HEAD | Method::POST);
    known && is_one && host && origin
}

/// Whether two secrets are equal, in a time that does not depend on where they differ.
pub fn is_same(one: &str, other: &str) -> bool {
    one.len() == other.len() && one.bytes().zip(other.bytes()).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_admitted(pairs: &[(&'static str, &str)]) -> bool {
        let headers =
            pairs.iter().map(|(name, value)| (name.parse().expect("a name"), value.parse().expect("a value")));
        let mut map = HeaderMap::new();
        headers.for_each(|(name, value): (hyper::header::HeaderName, hyper::header::HeaderValue)| {
            map.append(name, value);
        });
        admits(&Method::GET, &map, 8080)
    }

    #[test]
    fn only_this_address_and_its_own_pages_may_ask() {
        for host in ["127.0.0.1:8080", "localhost:8080"] {
            assert!(is_admitted(&[("host", host)]), "{host}");
            assert!(is_admitted(&[("host", host), ("origin", &format!("http://{host}"))]), "{host}");
        }
        for host in ["evil.example:8080", "127.0.0.1", "127.0.0.1:80", "127.0.0.1.evil.example:8080", "", ":8080"] {
            assert!(!is_admitted(&[("host", host)]), "{host}");
            let origin = format!("http://{host}");
            assert!(!is_admitted(&[("host", "127.0.0.1:8080"), ("origin", &origin)]), "{origin}");
        }
        assert!(!is_admitted(&[]));
        assert!(!is_admitted(&[("host", "127.0.0.1:8080"), ("host", "evil.example")]));
        assert!(!is_admitted(&[("host", "127.0.0.1:8080"), ("origin", "null")]));
        assert!(!is_admitted(&[("host", "127.0.0.1:8080"), ("origin", "https://127.0.0.1:8080")]));
    }

    #[test]
    fn secrets_are_compared_whole() {
        assert!(is_same("abc", "abc"));
        assert!(!is_same("abc", "abd"));
        assert!(!is_same("abc", "ab"));
    }
}
