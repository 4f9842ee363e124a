use std::time::Duration;

use serde_json::{Map, Value};

use super::{StoredSignIn, store::now};

/// How long before its expiry a token is renewed, in seconds.
const MARGIN: u64 = 10;

/// A token response (RFC 6749, section 5.1), read leniently.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Tokens {
    pub(super) access: String,
    pub(super) refresh: Option<String>,
    pub(super) expires_at: Option<u64>,
    pub(super) renew_at: Option<u64>,
    /// The granted scopes, if the response lists them.
    pub(super) scopes: Option<Vec<String>>,
}

impl Tokens {
    /// Reads a response; the error says why it is not one. Values are never shown.
    pub(super) fn read(object: &Map<String, Value>) -> Result<Self, &'static str> {
        let text =
            |key: &str| object.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
        let access = text("access_token").ok_or("it has no access token")?;
        if !access.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("its access token cannot be sent in a header");
        }
        let kind = object.get("token_type").and_then(Value::as_str).unwrap_or("Bearer");
        if !kind.eq_ignore_ascii_case("bearer") {
            return Err("its token is not a bearer token");
        }
        let seconds = match object.get("expires_in") {
            Some(Value::Number(number)) => number.as_f64(),
            Some(Value::String(text)) => text.trim().parse().ok(),
            _ => None,
        };
        let seconds = seconds.and_then(|seconds: f64| Duration::try_from_secs_f64(seconds).ok());
        let scopes = text("scope").map(|text| text.split_ascii_whitespace().map(str::to_owned).collect());
        let expires_at = seconds.map(|life| now().saturating_add(life.as_secs()));
        // A token with a very short life is used for half of its life.
        let renew_at =
            seconds.map(|life| now().saturating_add(life.as_secs().saturating_sub(MARGIN.min(life.as_secs() / 2))));
        Ok(Self { access, refresh: text("refresh_token"), expires_at, renew_at, scopes })
    }
}

impl StoredSignIn {
    /// The sign-in after these tokens arrived. A refresh token that was not replaced stays valid.
    pub(super) fn take(&mut self, tokens: Tokens) {
        self.access_token = Some(tokens.access);
        self.expires_at = tokens.expires_at;
        self.renew_at = tokens.renew_at;
        if tokens.refresh.is_some() {
            self.refresh_token = tokens.refresh;
        }
        if let Some(scopes) = tokens.scopes {
            self.scopes = scopes;
        }
    }

    /// Whether the token is worth sending.
    pub fn is_fresh(&self) -> bool {
        let end = self.renew_at.or(self.expires_at.map(|at| at.saturating_sub(MARGIN)));
        self.access_token.is_some() && end.is_none_or(|at| at > now())
    }
}

/// Adds `more` to `scopes`, each once, in order.
pub(super) fn union(scopes: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    for scope in more {
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: &Value) -> Result<Tokens, &'static str> {
        Tokens::read(value.as_object().expect("an object"))
    }

    #[test]
    fn a_token_is_fresh_until_shortly_before_its_end() {
        let mut known = crate::auth::store::tests::known("https://a/");
        for (life, is_fresh) in [(3600, true), (11, true), (4, true), (0, false)] {
            known.take(read(&json!({"access_token": "a", "expires_in": life})).expect("tokens"));
            assert_eq!(known.is_fresh(), is_fresh, "{life}");
        }
        known.take(read(&json!({"access_token": "a"})).expect("tokens"));
        assert!(known.is_fresh());
        // Stored by an earlier toolnexus.
        known.expires_at = Some(now() + 9);
        assert!(!known.is_fresh());
    }

    #[test]
    fn answers_are_read_as_servers_write_them() {
        let tokens = read(&json!({"access_token": "a", "token_type": "bearer", "expires_in": "60", "scope": "x y"}))
            .expect("tokens");
        assert_eq!(tokens.scopes, Some(vec!["x".to_owned(), "y".to_owned()]));
        assert!(tokens.expires_at.is_some_and(|at| at >= now() + 59));
        assert!(read(&json!({"access_token": "a"})).expect("tokens").expires_at.is_none());
        assert!(
            read(&json!({"access_token": "a", "expires_in": 60.5})).is_ok_and(|tokens| tokens.expires_at.is_some())
        );
        for wrong in
            [json!({}), json!({"access_token": "a\r\nX: b"}), json!({"access_token": "a", "token_type": "DPoP"})]
        {
            assert!(read(&wrong).is_err(), "{wrong}");
        }
    }
}
