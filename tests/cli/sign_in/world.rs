//! An authorization server and the MCP server that it protects, both on one port. A test changes what it needs changed.

use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use url::Url;

use super::{
    super::http::server::{Reply, Request, Server},
    token_endpoint::Ledger,
};
use crate::harness::Test;

/// Changes a document before it is sent; it gets the server's base address.
type Edit = Box<dyn Fn(&str, &mut Value) + Send + Sync>;
/// Answers a request in a special way; `false` leaves it to the default.
type Special = Box<dyn Fn(&Request, &mut Reply) -> bool + Send + Sync>;
type Pairs = Vec<(String, String)>;

/// The peculiarities of a world.
#[derive(Default)]
pub(crate) struct Bent {
    resource: Option<Edit>,
    metadata: Option<Edit>,
    back: Option<Box<dyn Fn(&str, &mut Pairs) + Send + Sync>>,
    special: Vec<Special>,
    challenge: Option<Box<dyn Fn(&str) -> String + Send + Sync>>,
}

/// The world.
pub(crate) struct World {
    pub(crate) server: Server,
    ledger: Arc<Mutex<Ledger>>,
    home: TempDir,
}

impl Bent {
    /// Changes the protected resource's metadata.
    pub(crate) fn resource(mut self, edit: impl Fn(&str, &mut Value) + Send + Sync + 'static) -> Self {
        self.resource = Some(Box::new(edit));
        self
    }

    /// Changes the authorization server's metadata.
    pub(crate) fn metadata(mut self, edit: impl Fn(&str, &mut Value) + Send + Sync + 'static) -> Self {
        self.metadata = Some(Box::new(edit));
        self
    }

    /// Changes what the browser brings back.
    pub(crate) fn back(mut self, edit: impl Fn(&str, &mut Pairs) + Send + Sync + 'static) -> Self {
        self.back = Some(Box::new(edit));
        self
    }

    /// Answers some requests in a special way.
    pub(crate) fn special(mut self, answer: impl Fn(&Request, &mut Reply) -> bool + Send + Sync + 'static) -> Self {
        self.special.push(Box::new(answer));
        self
    }

    /// The `WWW-Authenticate` header of refusals.
    pub(crate) fn challenge(mut self, challenge: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        self.challenge = Some(Box::new(challenge));
        self
    }

    pub(crate) fn start(self) -> World {
        let ledger = Arc::new(Mutex::new(Ledger::default()));
        let kept = Arc::clone(&ledger);
        let server = Server::start(move |request, reply| self.answer(request, reply, &kept));
        let home = tempfile::tempdir().expect("a folder");
        let browser = home.path().join("browser");
        let opened = home.path().join("opened");
        // Records what it is started with: the link, and everything that it could read.
        let script = format!(
            "#!/bin/sh\nenv >> '{0}.env'\nprintf '%s\\n' \"$*\" >> '{0}.args'\nprintf '%s' \"$1\" > '{0}.new'\nmv '{0}.new' '{0}'\n",
            opened.display()
        );
        std::fs::write(&browser, script).expect("written");
        World { server, ledger, home }
    }

    fn answer(&self, request: &Request, reply: &mut Reply, ledger: &Mutex<Ledger>) {
        if self.special.iter().any(|special| special(request, reply)) {
            return;
        }
        let base = format!("http://{}", request.header("host").expect("a host"));
        let url = Url::parse(&format!("{base}{}", request.path)).expect("an address");
        let mut ledger = ledger.lock().expect("not poisoned");
        match url.path() {
            "/.well-known/oauth-protected-resource/mcp" | "/elsewhere/metadata" => {
                let mut document = json!({
                    "resource": format!("{base}/mcp"), "authorization_servers": [base], "scopes_supported": ["read"],
                });
                if let Some(edit) = &self.resource {
                    edit(&base, &mut document);
                }
                reply.json(200, &document);
            }
            "/.well-known/oauth-authorization-server" => {
                let at = |path: &str| format!("{base}{path}");
                let mut document = json!({
                    "issuer": base, "authorization_endpoint": at("/authorize"), "token_endpoint": at("/token"),
                    "registration_endpoint": at("/register"), "revocation_endpoint": at("/revoke"),
                    "device_authorization_endpoint": at("/device"), "code_challenge_methods_supported": ["S256"],
                    "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "private_key_jwt"],
                    "scopes_supported": ["read", "write", "offline_access"],
                    "authorization_response_iss_parameter_supported": true,
                });
                if let Some(edit) = &self.metadata {
                    edit(&base, &mut document);
                }
                reply.json(200, &document);
            }
            "/register" => {
                let redirects = request.json()["redirect_uris"].clone();
                reply.json(201, &json!({"client_id": "registered", "redirect_uris": redirects}));
            }
            "/authorize" => {
                let asked: Pairs = url.query_pairs().into_owned().collect();
                let of = |key: &str| asked.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone());
                let mut back = vec![("code".to_owned(), ledger.code(&asked)), ("iss".to_owned(), base.clone())];
                back.extend(of("state").map(|state| ("state".to_owned(), state)));
                if let Some(edit) = &self.back {
                    edit(&base, &mut back);
                }
                let mut to = Url::parse(&of("redirect_uri").expect("a way back")).expect("an address");
                to.query_pairs_mut().extend_pairs(back);
                reply.respond(302, &format!("Location: {to}\r\n"), b"");
            }
            "/token" | "/revoke" | "/device" => ledger.answer(url.path(), &base, request, reply),
            "/mcp" => self.mcp(&base, request, reply, &ledger),
            _ => reply.empty(404),
        }
    }

    fn mcp(&self, base: &str, request: &Request, reply: &mut Reply, ledger: &Ledger) {
        let challenge = match &self.challenge {
            Some(challenge) => challenge(base),
            None => format!("Bearer resource_metadata=\"{base}/.well-known/oauth-protected-resource/mcp\""),
        };
        let bearer = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        let Some(scopes) = bearer.and_then(|token| ledger.scopes(token)) else {
            return reply.respond(401, &format!("WWW-Authenticate: {challenge}\r\n"), b"");
        };
        if request.method != "POST" {
            return reply.empty(405);
        }
        let message = request.json();
        let tool = message["params"]["name"].as_str().unwrap_or_default();
        if tool == "write" && !scopes.split(' ').any(|scope| scope == "write") {
            let head = format!("WWW-Authenticate: {challenge}, error=\"insufficient_scope\", scope=\"write\"\r\n");
            return reply.respond(403, &head, b"");
        }
        let plain = json!({"type": "object"});
        let result = match request.rpc().as_str() {
            "initialize" => json!({
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "world", "version": "1"},
            }),
            "tools/list" => json!({"tools": [
                {"name": "read", "inputSchema": plain}, {"name": "write", "inputSchema": plain},
            ]}),
            "tools/call" => json!({"content": [{"type": "text", "text": format!("{tool} is done")}]}),
            _ if message.get("id").is_none() => return reply.empty(202),
            _ => {
                let error = json!({"code": -32601, "message": "Method not found"});
                return reply.json(200, &json!({"jsonrpc": "2.0", "id": message["id"], "error": error}));
            }
        };
        reply.json(200, &json!({"jsonrpc": "2.0", "id": message["id"], "result": result}));
    }
}

impl World {
    /// One without peculiarities.
    pub(crate) fn new() -> Self {
        Bent::default().start()
    }

    /// The MCP server's address.
    pub(crate) fn mcp(&self) -> String {
        self.server.url("/mcp")
    }

    /// The authorization server's records.
    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().expect("not poisoned")
    }

    /// The folder of the person, with the sign-ins.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// The file with the sign-ins.
    pub(crate) fn sign_ins(&self) -> std::path::PathBuf {
        self.home().join(".local/share/toolnexus/sign-ins.json")
    }

    /// A command of the person who lives here; `URL` in it stands for the MCP server's address.
    pub(crate) fn test(&self, words: &[&str]) -> Test {
        let url = self.mcp();
        let home = self.home().to_str().expect("a path");
        let words = words.iter().map(|word| if *word == "URL" { url.as_str() } else { word });
        Test::new().env("HOME", home).env("BROWSER", &format!("sh {home}/browser")).args(words)
    }

    /// How many requests went to a path.
    pub(crate) fn count(&self, path: &str) -> usize {
        self.server.seen().iter().filter(|request| request.path.split('?').next() == Some(path)).count()
    }
}
