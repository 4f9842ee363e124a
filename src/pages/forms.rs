use std::{
    collections::VecDeque,
    io,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use hyper::{HeaderMap, header};

use super::{guard::is_same, unguessable};

/// The name of the field with a form's token.
pub(super) const TOKEN: &str = "_token";
/// How many forms may be open at the same time; the oldest is forgotten first.
const OPEN: usize = 64;

/// The decoded fields of a query or of a submitted form, in order.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// The fields in the query of a URL.
    pub fn of(url: &url::Url) -> Self {
        Self::parse(url.query().unwrap_or_default().as_bytes())
    }

    /// The fields in the text of a form or a query.
    pub(crate) fn parse(text: &[u8]) -> Self {
        Self(url::form_urlencoded::parse(text).into_owned().collect())
    }

    /// The value of a field; `None` if it is missing, or repeated.
    pub fn one(&self, name: &str) -> Option<&str> {
        let mut values = self.0.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let first = values.next();
        first.filter(|_| values.next().is_none())
    }

    /// Every value of a field.
    pub fn all(&self, name: &str) -> Vec<&str> {
        self.iter().filter(|(key, _)| *key == name).map(|(_, value)| value).collect()
    }

    /// All fields, as `(name, value)`.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

impl std::fmt::Debug for Fields {
    /// Only names: values may be secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(key, _)| key)).finish()
    }
}

/// Recognizes posts from our own pages: they have the cookie that our pages set, and the unused token of one of our
/// forms.
pub(super) struct Forms {
    cookie: (String, String),
    /// Whether a browser has the cookie.
    is_claimed: AtomicBool,
    open: Mutex<VecDeque<String>>,
}

impl Forms {
    pub(super) fn new(port: u16) -> io::Result<Self> {
        // All ports of a host share their cookies.
        Ok(Self {
            cookie: (format!("toolnexus-{port}"), unguessable()?),
            is_claimed: AtomicBool::new(false),
            open: Mutex::default(),
        })
    }

    /// The `Set-Cookie` header for pages below `path`.
    pub(super) fn set_cookie(&self, path: &str) -> String {
        format!("{}={}; Path={path}; HttpOnly; SameSite=Strict", self.cookie.0, self.cookie.1)
    }

    /// The token of a new form.
    pub(super) fn open(&self) -> io::Result<String> {
        let token = unguessable()?;
        let mut open = self.tokens();
        if open.len() == OPEN {
            open.pop_front();
        }
        open.push_back(token.clone());
        Ok(token)
    }

    /// Whether a request comes from a browser that has our cookie.
    pub(super) fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut cookies = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        cookies.any(|(name, value)| name == self.cookie.0 && is_same(value, &self.cookie.1))
    }

    /// Whether the browser is the first one, which the site then belongs to.
    pub(super) fn claim(&self) -> bool {
        !self.is_claimed.swap(true, Ordering::Relaxed)
    }

    /// Whether a post is our own. This uses up its token, unless it is a trial.
    pub(super) fn accept(&self, headers: &HeaderMap, fields: &Fields, is_trial: bool) -> bool {
        let Some(token) = fields.one(TOKEN).filter(|_| self.has_cookie(headers)) else { return false };
        let mut open = self.tokens();
        let place = open.iter().position(|known| is_same(known, token));
        if is_trial {
            return place.is_some();
        }
        place.and_then(|place| open.remove(place)).is_some()
    }

    fn tokens(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_post_needs_the_cookie_and_a_token_that_was_not_used() {
        let forms = Forms::new(80).expect("randomness");
        let token = forms.open().expect("randomness");
        let fields = Fields::parse(format!("a=1&{TOKEN}={token}").as_bytes());
        let mut headers = HeaderMap::new();
        assert!(!forms.accept(&headers, &fields, false));
        let cookie = forms.set_cookie("/x/");
        let cookie = cookie.split(';').next().expect("a pair");
        headers.insert(header::COOKIE, format!("other=1; {cookie}").parse().expect("a value"));
        assert!(!forms.accept(&headers, &Fields::parse(b"a=1"), false));
        assert!(!forms.accept(&headers, &Fields::parse(format!("{TOKEN}={token}&{TOKEN}=x").as_bytes()), false));
        assert!(
            forms.accept(&headers, &fields, true) && forms.accept(&headers, &fields, true),
            "a trial uses up nothing"
        );
        assert!(forms.accept(&headers, &fields, false));
        assert!(!forms.accept(&headers, &fields, false), "a token counts once");
        assert!(forms.claim() && !forms.claim(), "a site belongs to the first browser");
    }

    #[test]
    fn the_oldest_form_is_forgotten() {
        let forms = Forms::new(80).expect("randomness");
        let first = forms.open().expect("randomness");
        for _ in 0..OPEN {
            forms.open().expect("randomness");
        }
        assert!(!forms.tokens().contains(&first));
        assert_eq!(forms.tokens().len(), OPEN);
    }

    #[test]
    fn fields_are_decoded_and_their_values_are_not_shown() {
        let fields = Fields::parse(b"a=1&b=x+%26&a=2&code=hush");
        assert_eq!((fields.one("a"), fields.one("b"), fields.one("c")), (None, Some("x &"), None));
        assert_eq!(fields.all("a"), ["1", "2"]);
        assert_eq!(format!("{fields:?}"), r#"["a", "b", "a", "code"]"#);
    }
}
