//! The tokens that the authorization server issues, and revokes.

use std::collections::HashMap;

use base64::{
    Engine as _,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD},
};
use ring::digest::{SHA256, digest};
use serde_json::json;
use url::form_urlencoded;

use super::super::http::server::{Reply, Request};

type Pairs = HashMap<String, String>;

/// Everything that was issued.
#[derive(Default)]
pub(crate) struct Ledger {
    codes: HashMap<String, Pairs>,
    /// Valid tokens, with their scopes.
    access: HashMap<String, String>,
    refresh: HashMap<String, String>,
    /// Every secret that ever existed.
    pub(crate) secrets: Vec<String>,
    /// Who may get a token for itself: a client's id and secret.
    pub(crate) account: Option<(String, String)>,
    /// How long a token lives, in seconds, if set.
    pub(crate) life: Option<u64>,
    /// Whether the code was entered on the other device.
    pub(crate) is_approved: bool,
    /// How often a token was renewed.
    pub(crate) renewed: usize,
    /// The revoked tokens.
    pub(crate) revoked: Vec<String>,
    /// What the token endpoint answers instead of anything else.
    pub(crate) refusal: Option<&'static str>,
    made: usize,
}

impl Ledger {
    /// A secret that can be found again.
    fn secret(&mut self, kind: &str) -> String {
        self.made += 1;
        let secret = format!("{kind}-s3cret-{}", self.made);
        self.secrets.push(secret.clone());
        secret
    }

    /// A code for this request.
    pub(super) fn code(&mut self, asked: &[(String, String)]) -> String {
        let code = self.secret("code");
        self.codes.insert(code.clone(), asked.iter().cloned().collect());
        code
    }

    /// The scopes of a valid token.
    pub(super) fn scopes(&self, token: &str) -> Option<&str> {
        self.access.get(token).map(String::as_str)
    }

    /// All access tokens expire; refresh tokens are still valid.
    pub(crate) fn expire(&mut self) {
        self.access.clear();
    }

    /// Nothing is valid any more.
    pub(crate) fn revoke_all(&mut self) {
        self.access.clear();
        self.refresh.clear();
    }

    /// A valid token.
    pub(crate) fn token(&mut self, scopes: &str) -> String {
        let token = self.secret("access");
        self.access.insert(token.clone(), scopes.to_owned());
        token
    }

    pub(super) fn answer(&mut self, path: &str, base: &str, request: &Request, reply: &mut Reply) {
        let form: Pairs = form_urlencoded::parse(&request.body).into_owned().collect();
        let of = |key: &str| form.get(key).map(String::as_str).unwrap_or_default();
        match path {
            "/revoke" => {
                self.access.remove(of("token"));
                self.refresh.remove(of("token"));
                self.revoked.push(of("token").to_owned());
                return reply.empty(200);
            }
            "/device" => {
                let device_code = self.secret("device");
                let asked = form.clone().into_iter().collect();
                self.codes.insert(device_code.clone(), asked);
                return reply.json(200, &json!({
                    "device_code": device_code, "user_code": "WDJB-MJHT", "verification_uri": format!("{base}/enter"),
                    "expires_in": 60, "interval": 0,
                }));
            }
            _ => {}
        }
        let refused = |error: &str| json!({"error": error});
        if let Some(error) = self.refusal {
            return reply.json(400, &refused(error));
        }
        let scopes = match of("grant_type") {
            "authorization_code" => {
                let verifier = of("code_verifier").to_owned();
                self.secrets.push(verifier.clone());
                let challenge = BASE64_URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()));
                let is_right = |asked: &Pairs| {
                    asked.get("code_challenge") == Some(&challenge)
                        && asked.get("redirect_uri").is_some_and(|uri| uri == of("redirect_uri"))
                        && asked.get("resource").is_some_and(|uri| uri == of("resource"))
                };
                self.codes
                    .remove(of("code"))
                    .filter(is_right)
                    .map(|asked| asked.get("scope").cloned().unwrap_or_default())
            }
            "urn:ietf:params:oauth:grant-type:device_code" if !self.is_approved => {
                return reply.json(400, &refused("authorization_pending"));
            }
            "urn:ietf:params:oauth:grant-type:device_code" => {
                self.codes.remove(of("device_code")).map(|asked| asked.get("scope").cloned().unwrap_or_default())
            }
            "refresh_token" => {
                self.renewed += 1;
                self.refresh.remove(of("refresh_token"))
            }
            "client_credentials" => self.own_account(request, &form),
            "urn:ietf:params:oauth:grant-type:token-exchange" => {
                let kind = "urn:ietf:params:oauth:token-type:id-jag";
                let is_right = of("subject_token") == "aaa.bbb.id-s3cret"
                    && of("subject_token_type") == "urn:ietf:params:oauth:token-type:id_token"
                    && (of("requested_token_type"), of("audience")) == (kind, base)
                    && of("resource") == format!("{base}/mcp");
                if !is_right {
                    return reply.json(400, &refused("invalid_grant"));
                }
                let statement =
                    json!({"access_token": "aaa.bbb.jwt-s3cret", "issued_token_type": kind, "token_type": "N_A"});
                return reply.json(200, &statement);
            }
            "urn:ietf:params:oauth:grant-type:jwt-bearer" if of("assertion").ends_with("jwt-s3cret") => {
                Some(of("scope").to_owned())
            }
            _ => None,
        };
        let Some(scopes) = scopes else { return reply.json(400, &refused("invalid_grant")) };
        let access = self.token(&scopes);
        let mut answer = json!({"access_token": access, "token_type": "Bearer", "scope": scopes});
        if of("grant_type") != "client_credentials" {
            let refresh = self.secret("refresh");
            self.refresh.insert(refresh.clone(), scopes);
            answer["refresh_token"] = refresh.into();
        }
        if let Some(life) = self.life {
            answer["expires_in"] = life.into();
        }
        reply.json(200, &answer);
    }

    /// The scopes of a program that shows its secret, or a JWT, which is checked elsewhere.
    fn own_account(&self, request: &Request, form: &Pairs) -> Option<String> {
        let (id, secret) = self.account.as_ref()?;
        let basic = format!("Basic {}", BASE64_STANDARD.encode(format!("{id}:{secret}")));
        let is_known = request.header("authorization") == Some(&basic)
            || form.get("client_assertion_type").is_some_and(|kind| kind.ends_with("jwt-bearer"));
        is_known.then(|| form.get("scope").cloned().unwrap_or_default())
    }
}
