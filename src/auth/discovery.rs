use serde_json::{Map, Value};
use url::Url;

use super::{AuthError, error::tame};
use crate::transport::{Challenge, Web};

/// What a server says about itself (RFC 9728), or the defaults if it says nothing (2025-03-26).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Resource {
    /// Its identifier, exactly as published.
    pub(super) id: String,
    /// The authorization servers that it trusts.
    pub(super) issuers: Vec<String>,
    /// Its scopes, if it lists them.
    pub(super) scopes: Vec<String>,
    /// Whether there was no metadata, so that the server is its own authorization server.
    pub(super) is_assumed: bool,
}

/// An authorization server (RFC 8414).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AuthServer {
    pub(super) issuer: String,
    pub(super) authorization: Option<Url>,
    pub(super) token: Url,
    pub(super) registration: Option<Url>,
    pub(super) revocation: Option<Url>,
    pub(super) device: Option<Url>,
    /// How clients authenticate at the token endpoint, if it says so.
    pub(super) methods: Option<Vec<String>>,
    pub(super) scopes: Vec<String>,
    pub(super) has_s256: bool,
    pub(super) sends_iss: bool,
    pub(super) takes_metadata_url: bool,
}

/// Fetches the metadata of the server at `server` (2026-07-28, *authorization server discovery*).
pub(super) async fn resource(web: &Web, server: &Url, challenge: Option<&Challenge>) -> Result<Resource, AuthError> {
    let named = challenge.and_then(Challenge::resource_metadata);
    let places = match named {
        Some(text) => {
            // It may be anywhere (RFC 9728, section 5.1), as long as it is about the requested address.
            let url = server
                .join(text)
                .map_err(|_| AuthError::unusable("the address of the server's metadata is not valid"))?;
            web.check(&url).map_err(|reason| {
                AuthError::unusable(format!(
                    "the server says that its metadata is at {}, which {reason}",
                    tame(url.as_str())
                ))
            })?;
            vec![url]
        }
        None => well_known(server, "oauth-protected-resource"),
    };
    for place in &places {
        let missing = |source| AuthError::Missing { what: "the request for the server's metadata", source };
        let document = web.get(place).await.map_err(missing)?;
        match (document.status, document.object()) {
            (200, Some(object)) => return read_resource(server, &object),
            (200, None) | (400..=499, _) if named.is_none() => {}
            (status, _) => {
                return Err(AuthError::unusable(format!(
                    "the request for the server's metadata was answered with HTTP {status}"
                )));
            }
        }
    }
    let origin = server.origin().ascii_serialization();
    Ok(Resource { id: identifier(server), issuers: vec![origin], scopes: Vec::new(), is_assumed: true })
}

fn read_resource(server: &Url, object: &Map<String, Value>) -> Result<Resource, AuthError> {
    let id = object.get("resource").and_then(Value::as_str).unwrap_or_default();
    let covers = Url::parse(id).is_ok_and(|resource| covers(&resource, server));
    if !covers {
        let reason = format!("the server's metadata is for another resource, {:?}", tame(id));
        return Err(AuthError::unusable(reason));
    }
    let issuers = texts(object, "authorization_servers").unwrap_or_default();
    if issuers.is_empty() {
        return Err(AuthError::unusable("the server's metadata does not name an authorization server"));
    }
    let scopes = texts(object, "scopes_supported").unwrap_or_default();
    Ok(Resource { id: id.to_owned(), issuers, scopes, is_assumed: false })
}

/// Whether a resource is the server itself, or a parent of it.
fn covers(resource: &Url, server: &Url) -> bool {
    let (wide, narrow) = (resource.path().trim_end_matches('/'), server.path().trim_end_matches('/'));
    let below = narrow.strip_prefix(wide).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    resource.origin() == server.origin() && below && resource.fragment().is_none()
}

/// The server's own identifier: its address without a fragment, and without the slash of an empty path.
fn identifier(server: &Url) -> String {
    let mut url = server.clone();
    url.set_fragment(None);
    let text = url.to_string();
    if url.path() == "/" && url.query().is_none() { text.trim_end_matches('/').to_owned() } else { text }
}

/// The well-known addresses of a kind of metadata: with the path appended, and at the root.
fn well_known(url: &Url, kind: &str) -> Vec<Url> {
    let path = url.path().trim_end_matches('/');
    let mut places: Vec<String> = vec![format!("/.well-known/{kind}{path}")];
    if !path.is_empty() {
        places.push(format!("/.well-known/{kind}"));
    }
    places.iter().filter_map(|place| url.join(place).ok()).collect()
}

/// Fetches the metadata of the authorization server `issuer`.
pub(super) async fn auth_server(web: &Web, issuer: &str, is_assumed: bool) -> Result<AuthServer, AuthError> {
    let url = Url::parse(issuer).ok().filter(|url| url.query().is_none() && url.fragment().is_none());
    let named = || format!("the authorization server {:?}", tame(issuer));
    let url = url.ok_or_else(|| AuthError::unusable(format!("{} is not a valid address", named())))?;
    web.check(&url).map_err(|reason| AuthError::unusable(format!("{} {reason}", named())))?;
    let path = url.path().trim_end_matches('/');
    let mut places = vec![format!("/.well-known/oauth-authorization-server{path}")];
    places.push(format!("/.well-known/openid-configuration{path}"));
    if !path.is_empty() {
        places.push(format!("{path}/.well-known/openid-configuration"));
    }
    let mut wrong = None;
    for place in places.iter().filter_map(|place| url.join(place).ok()) {
        let missing =
            |source| AuthError::Missing { what: "the request for the authorization server's metadata", source };
        let document = web.get(&place).await.map_err(missing)?;
        let Some(object) = document.object().filter(|_| document.status == 200) else { continue };
        match read_auth_server(web, issuer, &object) {
            Ok(server) => return Ok(server),
            Err(error) => wrong = wrong.or(Some(error)),
        }
    }
    match wrong {
        Some(error) => Err(error),
        None if is_assumed => assumed(&url, issuer),
        None => Err(AuthError::unusable(format!("{} has no metadata", named()))),
    }
}

/// The default endpoints of a server without metadata (2025-03-26, *authorization*, Fallbacks).
fn assumed(url: &Url, issuer: &str) -> Result<AuthServer, AuthError> {
    let at = |path: &str| url.join(path).map_err(|_| AuthError::unusable("the server's address has no host"));
    Ok(AuthServer {
        issuer: issuer.to_owned(),
        authorization: Some(at("/authorize")?),
        token: at("/token")?,
        registration: Some(at("/register")?),
        revocation: None,
        device: None,
        methods: None,
        scopes: Vec::new(),
        has_s256: true,
        sends_iss: false,
        takes_metadata_url: false,
    })
}

fn read_auth_server(web: &Web, issuer: &str, object: &Map<String, Value>) -> Result<AuthServer, AuthError> {
    let said = object.get("issuer").and_then(Value::as_str).unwrap_or_default();
    if said != issuer {
        let reason =
            format!("the metadata of {:?} is for another authorization server, {:?}", tame(issuer), tame(said));
        return Err(AuthError::unusable(reason));
    }
    let endpoint = |key: &str| -> Result<Option<Url>, AuthError> {
        let Some(text) = object.get(key).and_then(Value::as_str) else { return Ok(None) };
        let wrong = |reason: &str| {
            AuthError::unusable(format!("{key} of the authorization server, {:?}, {reason}", tame(text)))
        };
        let url = Url::parse(text).map_err(|_| wrong("is not a valid address"))?;
        web.check(&url).map_err(|reason| wrong(&reason))?;
        Ok(Some(url))
    };
    let flag = |key: &str| object.get(key).and_then(Value::as_bool).unwrap_or(false);
    let token = endpoint("token_endpoint")?;
    let challenges = texts(object, "code_challenge_methods_supported").unwrap_or_default();
    Ok(AuthServer {
        issuer: issuer.to_owned(),
        authorization: endpoint("authorization_endpoint")?,
        token: token.ok_or_else(|| AuthError::unusable("the authorization server has no token endpoint"))?,
        registration: endpoint("registration_endpoint")?,
        revocation: endpoint("revocation_endpoint")?,
        device: endpoint("device_authorization_endpoint")?,
        methods: texts(object, "token_endpoint_auth_methods_supported"),
        scopes: texts(object, "scopes_supported").unwrap_or_default(),
        has_s256: challenges.iter().any(|method| method == "S256"),
        sends_iss: flag("authorization_response_iss_parameter_supported"),
        takes_metadata_url: flag("client_id_metadata_document_supported"),
    })
}

fn texts(object: &Map<String, Value>, key: &str) -> Option<Vec<String>> {
    let values = object.get(key)?.as_array()?;
    Some(values.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a URL")
    }

    #[test]
    fn well_known_addresses_come_in_order() {
        let places = |text: &str| {
            well_known(&url(text), "oauth-protected-resource").iter().map(Url::to_string).collect::<Vec<_>>()
        };
        let root = "https://h/.well-known/oauth-protected-resource";
        assert_eq!(places("https://h/public/mcp"), [format!("{root}/public/mcp"), root.to_owned()]);
        assert_eq!(places("https://h/"), [root]);
    }

    #[test]
    fn a_resource_is_the_server_or_a_parent_of_it() {
        let server = url("https://h/public/mcp");
        for same in ["https://h/public/mcp", "https://h", "https://h/public", "HTTPS://H/public/mcp/"] {
            assert!(covers(&url(same), &server), "{same}");
        }
        for other in [
            "https://evil/public/mcp",
            "https://h/pub",
            "https://h/public/mcp/x",
            "http://h/public/mcp",
            "https://h:8443/",
        ] {
            assert!(!covers(&url(other), &server), "{other}");
        }
        let object = json!({"resource": "https://evil/mcp", "authorization_servers": ["https://as"]});
        assert!(read_resource(&server, object.as_object().expect("an object")).is_err());
    }

    #[test]
    fn the_identifier_of_a_bare_host_has_no_slash() {
        assert_eq!(identifier(&url("https://h/")), "https://h");
        assert_eq!(identifier(&url("https://h/mcp#x")), "https://h/mcp");
    }
}
