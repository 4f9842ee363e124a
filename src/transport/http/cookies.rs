use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use reqwest::header::{HeaderMap, HeaderValue, SET_COOKIE};
use url::{Origin, Url};

/// The most cookies that one origin may set, and the largest one, in bytes.
const COUNT: usize = 50;
const LARGEST: usize = 4096;

/// The cookies of one connection (RFC 6265): load balancers use them to keep a session on its node. They stay in
/// memory, and go back only to the exact origin that set them, whatever `Domain` says.
#[derive(Default)]
pub(super) struct Cookies(Mutex<HashMap<Origin, Vec<Cookie>>>);

struct Cookie {
    name: String,
    value: String,
    path: String,
}

impl Cookies {
    /// Stores the cookies that the answer of `url` sets, and drops those that it ends.
    pub(super) fn take(&self, url: &Url, headers: &HeaderMap) {
        for header in headers.get_all(SET_COOKIE) {
            let Some((cookie, lives)) =
                header.to_str().ok().filter(|it| it.len() <= LARGEST).and_then(|it| read(it, url))
            else {
                continue;
            };
            let mut all = self.all();
            let own = all.entry(url.origin()).or_default();
            own.retain(|old| old.name != cookie.name || old.path != cookie.path);
            if lives && own.len() < COUNT {
                own.push(cookie);
            }
        }
    }

    /// The `Cookie` header for a request to `url`; the names in the configured header take precedence. `None` if there
    /// is nothing to add.
    pub(super) fn beside(&self, url: &Url, configured: Option<&HeaderValue>) -> Option<HeaderValue> {
        let configured = configured.map_or("", |value| value.to_str().unwrap_or_default());
        let is_given =
            |name: &str| configured.split(';').any(|pair| pair.split('=').next().map(str::trim) == Some(name));
        let all = self.all();
        let mut fitting: Vec<&Cookie> = all.get(&url.origin())?.iter().filter(|it| it.fits(url.path())).collect();
        // RFC 6265, section 5.4: longer paths first.
        fitting.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
        let added = fitting.into_iter().filter(|cookie| !is_given(&cookie.name));
        let added: Vec<String> = added.map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect();
        if added.is_empty() {
            return None;
        }
        let parts = std::iter::once(configured.trim().trim_end_matches(';')).filter(|text| !text.is_empty());
        let text = parts.chain(added.iter().map(String::as_str)).collect::<Vec<_>>().join("; ");
        let mut value = HeaderValue::from_str(&text).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    fn all(&self) -> MutexGuard<'_, HashMap<Origin, Vec<Cookie>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cookie {
    /// Whether it applies to requests with this path (RFC 6265, section 5.1.4).
    fn fits(&self, path: &str) -> bool {
        path.strip_prefix(self.path.as_str())
            .is_some_and(|rest| rest.is_empty() || self.path.ends_with('/') || rest.starts_with('/'))
    }
}

/// A `Set-Cookie` header of `url` (RFC 6265, section 5.2), and whether the cookie is still valid.
fn read(header: &str, url: &Url) -> Option<(Cookie, bool)> {
    let mut parts = header.split(';');
    let (name, value) = parts.next()?.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() {
        return None;
    }
    let default_path =
        || url.path().rsplit_once('/').map_or("/", |(folder, _)| if folder.is_empty() { "/" } else { folder });
    let (mut path, mut age, mut expires) = (default_path().to_owned(), None, None);
    for part in parts {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let value = value.trim();
        match key.trim().to_ascii_lowercase().as_str() {
            "path" if value.starts_with('/') => value.clone_into(&mut path),
            "max-age" => age = value.parse::<i64>().ok().or(age),
            "expires" => expires = httpdate::parse_http_date(value).ok().or(expires),
            _ => {}
        }
    }
    let lives = age.map_or_else(|| expires.is_none_or(|at| at > SystemTime::now()), |age| age > 0);
    Some((Cookie { name: name.to_owned(), value: value.to_owned(), path }, lives))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("an address")
    }

    fn sent(set: &[&str], to: &str, configured: Option<&'static str>) -> Option<String> {
        let cookies = Cookies::default();
        let mut headers = HeaderMap::new();
        for text in set {
            headers.append(SET_COOKIE, HeaderValue::from_str(text).expect("a header"));
        }
        cookies.take(&url("https://mcp.example/a/mcp"), &headers);
        let value = cookies.beside(&url(to), configured.map(HeaderValue::from_static).as_ref())?;
        assert!(value.is_sensitive());
        Some(value.to_str().expect("text").to_owned())
    }

    #[test]
    fn cookies_go_back_only_to_their_exact_origin() {
        let set = ["lb=node1; Path=/; Domain=example; HttpOnly"];
        assert_eq!(sent(&set, "https://mcp.example/a/mcp", None).as_deref(), Some("lb=node1"));
        for other in ["https://mcp.example:8443/", "http://mcp.example/", "https://example/", "https://x.mcp.example/"]
        {
            assert_eq!(sent(&set, other, None), None, "{other}");
        }
    }

    #[test]
    fn paths_and_ends_are_heeded() {
        let to = "https://mcp.example/a/mcp";
        assert_eq!(sent(&["x=1"], to, None).as_deref(), Some("x=1"));
        assert_eq!(sent(&["x=1"], "https://mcp.example/ab", None), None);
        assert_eq!(sent(&["x=1; Path=/b"], to, None), None);
        assert_eq!(sent(&["x=1; path=/", "y=2; Path=/a"], to, None).as_deref(), Some("y=2; x=1"));
        assert_eq!(sent(&["x=1", "x=2"], to, None).as_deref(), Some("x=2"));
        assert_eq!(sent(&["x=1", "x=; Max-Age=0"], to, None), None);
        assert_eq!(sent(&["x=1", "x=; Expires=Thu, 01 Jan 1970 00:00:00 GMT"], to, None), None);
        assert_eq!(sent(&["x=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60"], to, None).as_deref(), Some("x=1"));
        assert_eq!(sent(&["no name", "=x"], to, None), None);
    }

    #[test]
    fn what_is_configured_wins() {
        let to = "https://mcp.example/a/mcp";
        assert_eq!(sent(&["x=1", "y=2"], to, Some("x=mine; z=3")).as_deref(), Some("x=mine; z=3; y=2"));
        assert_eq!(sent(&["x=1"], to, Some("x=mine")), None);
    }

    #[test]
    fn one_origin_cannot_set_without_end() {
        let many: Vec<String> = (0..2 * COUNT).map(|n| format!("c{n}=1")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let sent = sent(&many, "https://mcp.example/a/mcp", None).expect("some");
        assert_eq!(sent.split("; ").count(), COUNT);
    }
}
