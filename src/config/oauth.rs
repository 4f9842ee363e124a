use std::{fmt, path::PathBuf};

use serde::{Deserialize, Serialize};

use super::{ConfigError, Content, Member, Node, entry_reader::EntryReader};
use crate::transport::REDACTED;

/// How to sign in to a server, or where its token comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Auth {
    /// `oauth`.
    pub oauth: OAuth,
    /// `headersHelper`, or `--bearer-command`: takes precedence over a sign-in.
    pub program: Option<TokenProgram>,
}

/// The key `oauth` of an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OAuth {
    /// `clientId`: of a client that is already registered with the authorization server.
    pub client_id: Option<String>,
    /// `clientSecret`.
    pub client_secret: Option<Secret>,
    /// `privateKeyFile`: a PKCS #8 key in PEM, with which the client authenticates (RFC 7523).
    pub private_key_file: Option<PathBuf>,
    /// `clientMetadataUrl`: the address of a document about the client (Client ID Metadata Document).
    pub client_metadata_url: Option<String>,
    /// `scopes`: instead of those that the server asks for.
    pub scopes: Vec<String>,
    /// `redirectPort`: the port to which the browser returns.
    pub redirect_port: Option<u16>,
    /// `issuer`: the one authorization server that may be used.
    pub issuer: Option<String>,
    /// `tokenStore`: where sign-ins are stored.
    pub token_store: TokenStore,
    /// `grant`: whether the program signs in by itself (`client_credentials`, `jwt_bearer`), without a person.
    pub is_own_account: bool,
    /// `assertion` or `assertionFile`: a JWT about the program, signed by another authority and exchanged for a token
    /// (`jwt_bearer`, RFC 7523, section 2.1).
    pub assertion: Option<Assertion>,
    /// `identityProvider`: issues that JWT for a person of an organization (enterprise-managed authorization).
    pub identity_provider: Option<IdentityProvider>,
}

/// The identity provider of an organization, which tells authorization servers who its people are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdentityProvider {
    /// `issuer`.
    pub issuer: String,
    /// `clientId`: this program's id at the identity provider.
    pub client_id: String,
    /// `clientSecret`.
    pub client_secret: Option<Secret>,
    /// `idToken` or `idTokenFile`: what the person got when they signed in there.
    pub id_token: Assertion,
}

/// Where a signed statement about the program, or the person, comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Assertion {
    /// It is in the configuration, usually as a variable.
    Given(Secret),
    /// It is in a file, which is read each time, because the platform replaces it.
    File(PathBuf),
}

/// Where tokens are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum TokenStore {
    /// In a file that only its owner can read.
    #[default]
    File,
    /// In the system's keyring: Secret Service on Linux, Keychain on macOS.
    Keyring,
}

/// A string that is never shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

/// A program that prints a token, or headers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenProgram {
    /// The program and its arguments; no shell.
    pub words: Vec<String>,
    /// Its working folder.
    pub folder: PathBuf,
    /// What it prints.
    pub prints: Prints,
}

/// What a [`TokenProgram`] prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Prints {
    /// A bearer token.
    Token,
    /// A JSON object of headers.
    Headers,
}

impl TokenProgram {
    /// A program and its arguments as one text, split like shell words.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &str, folder: PathBuf, prints: Prints) -> Result<Self, String> {
        let words = shell_words::split(text).map_err(|error| error.to_string())?;
        if words.first().is_none_or(String::is_empty) {
            return Err("it does not name a program".to_owned());
        }
        Ok(Self { words, folder, prints })
    }
}

const KEYS: [&str; 14] = [
    "clientId",
    "clientSecret",
    "privateKeyFile",
    "clientMetadataUrl",
    "scopes",
    "scope",
    "redirectPort",
    "callbackPort",
    "issuer",
    "tokenStore",
    "assertion",
    "assertionFile",
    "identityProvider",
    "grant",
];

/// Reads `oauth` and `headersHelper` of an entry.
pub(super) fn read(reader: &mut EntryReader<'_>) -> Result<Auth, ConfigError> {
    let mut auth = Auth::default();
    if let Some(member) = reader.first(&["headersHelper"]) {
        let text = reader.text(member)?;
        let folder = reader.file.scope.folder.clone();
        let program = TokenProgram::parse(&text, folder, Prints::Headers);
        let program = reader.checked("headersHelper", &member.value, program)?;
        hide_split(reader, member, &program.words);
        auth.program = Some(program);
    }
    if let Some(member) = reader.first(&["oauth"]) {
        match &member.value.content {
            // Other clients enable their sign-in with `true`; here that is not necessary.
            Content::Bool(true) => {}
            _ => auth.oauth = oauth(reader, &member.value)?,
        }
    } else if let Some(member) = reader.first(&["auth"]).filter(|member| stands_in(member)) {
        auth.oauth = oauth(reader, &member.value)?;
    }
    Ok(auth)
}

/// Hides the words of a program that came of a variable with a space in its value: no word is the whole value, which is
/// hidden already.
fn hide_split(reader: &EntryReader<'_>, member: &Member, words: &[String]) {
    let Content::Text(text) = &member.value.content else { return };
    let written = shell_words::split(text).unwrap_or_default();
    if written.len() == words.len() {
        return;
    }
    // What stands before the variable is no secret, and needs no more looks than a person's line has words.
    let known = &written[..written.len().min(100)];
    let alike = |one: &str, other: &str| -> usize {
        let same = one.chars().zip(other.chars()).take_while(|(one, other)| one == other);
        same.map(|(c, _)| c.len_utf8()).sum()
    };
    for word in words {
        let before = known.iter().map(|other| alike(word, other)).max().unwrap_or_default();
        reader.file.scope.mask.hide(&word[before..], REDACTED);
    }
}

/// Whether `auth` contains the keys of `oauth`: some clients use it for a registered client.
pub(super) fn stands_in(member: &Member) -> bool {
    member.value.members().is_some_and(|inner| inner.iter().any(|inner| ours(&inner.key) == "clientId"))
}

/// Our name for a key of `oauth`, which other clients write differently.
fn ours(key: &str) -> &str {
    match key {
        "client_id" | "CLIENT_ID" => "clientId",
        "client_secret" | "CLIENT_SECRET" => "clientSecret",
        "redirect_port" | "callback_port" => "redirectPort",
        key => key,
    }
}

fn oauth(reader: &EntryReader<'_>, node: &Node) -> Result<OAuth, ConfigError> {
    let Some(members) = node.members() else { return Err(reader.expected_in("oauth", node, "an object")) };
    let mut oauth = OAuth::default();
    let mut is_federated = false;
    for member in members {
        let label = format!("oauth.{}", member.key);
        let text = |member: &Member| reader.text_in(&label, &member.value);
        match ours(&member.key) {
            _ if member.value.content == Content::Null => {}
            "clientId" => oauth.client_id = Some(text(member)?),
            "clientSecret" => oauth.client_secret = Some(Secret(text(member)?)),
            "privateKeyFile" => {
                let path = reader.file.scope.path(&text(member)?);
                oauth.private_key_file = Some(reader.checked(&label, &member.value, path)?);
            }
            "assertion" => oauth.assertion = Some(Assertion::Given(Secret(text(member)?))),
            "assertionFile" => {
                let path = reader.file.scope.path(&text(member)?);
                oauth.assertion = Some(Assertion::File(reader.checked(&label, &member.value, path)?));
            }
            "identityProvider" => oauth.identity_provider = Some(identity_provider(reader, &member.value)?),
            "clientMetadataUrl" => oauth.client_metadata_url = Some(text(member)?),
            "scopes" | "scope" => {
                let texts = match member.value.elements() {
                    Some(nodes) => nodes.iter().map(|node| reader.text_in(&label, node)).collect::<Result<_, _>>()?,
                    None => vec![text(member)?],
                };
                oauth.scopes = texts.iter().flat_map(|text| text.split_ascii_whitespace()).map(str::to_owned).collect();
            }
            "redirectPort" | "callbackPort" => {
                let port = match &member.value.content {
                    Content::Number(number) => number.as_u64().and_then(|port| u16::try_from(port).ok()),
                    _ => None,
                };
                let port = port.filter(|port| *port > 0);
                oauth.redirect_port =
                    Some(port.ok_or_else(|| reader.expected_in(&label, &member.value, "a port from 1 to 65535"))?);
            }
            "issuer" => oauth.issuer = Some(text(member)?),
            "tokenStore" => {
                oauth.token_store = match member.value.text() {
                    Some("file") => TokenStore::File,
                    Some("keyring") if cfg!(feature = "keyring") => TokenStore::Keyring,
                    Some("keyring") => {
                        let without = "oauth.tokenStore: this toolnexus was built without the keyring: build it with \
                            `--features keyring`, or write \"file\"";
                        return Err(reader.wrong(member.at, without));
                    }
                    _ => return Err(reader.expected_in(&label, &member.value, "\"file\" or \"keyring\"")),
                }
            }
            "grant" => {
                is_federated = member.value.text() == Some("jwt_bearer");
                oauth.is_own_account = match member.value.text() {
                    Some("client_credentials" | "jwt_bearer") => true,
                    Some("authorization_code") => false,
                    _ => {
                        let kinds = "\"authorization_code\", \"client_credentials\" or \"jwt_bearer\"";
                        return Err(reader.expected_in(&label, &member.value, kinds));
                    }
                }
            }
            // Other clients name the kind of sign-in like this.
            "type" | "enabled" => {}
            other => {
                let near = super::near::near_misses(other, KEYS);
                let hint = near.first().map(|near| format!(": did you mean `{near}`?")).unwrap_or_default();
                return Err(reader.wrong(member.at, &format!("unknown key \"{label}\"{hint}")));
            }
        }
    }
    let statements = usize::from(oauth.assertion.is_some()) + usize::from(oauth.identity_provider.is_some());
    if statements != usize::from(is_federated) {
        let both = "oauth: `grant` \"jwt_bearer\" and one of `assertion`, `assertionFile` and `identityProvider` belong \
            together";
        return Err(reader.wrong(node.at, both));
    }
    if is_federated && oauth.client_id.is_none() {
        return Err(reader.wrong(node.at, "oauth: jwt_bearer needs `clientId`"));
    }
    if oauth.is_own_account && !is_federated && oauth.client_secret.is_none() && oauth.private_key_file.is_none() {
        return Err(reader.wrong(node.at, "oauth: client_credentials needs `clientSecret` or `privateKeyFile`"));
    }
    if (oauth.client_secret.is_some() || oauth.private_key_file.is_some()) && oauth.client_id.is_none() {
        return Err(reader.wrong(node.at, "oauth: `clientSecret` and `privateKeyFile` need `clientId`"));
    }
    Ok(oauth)
}

fn identity_provider(reader: &EntryReader<'_>, node: &Node) -> Result<IdentityProvider, ConfigError> {
    let label = "oauth.identityProvider";
    let Some(members) = node.members() else { return Err(reader.expected_in(label, node, "an object")) };
    let (mut issuer, mut client_id, mut client_secret, mut id_token) = (None, None, None, None);
    for member in members {
        let label = format!("{label}.{}", member.key);
        let text = reader.text_in(&label, &member.value)?;
        match ours(&member.key) {
            "issuer" => issuer = Some(text),
            "clientId" => client_id = Some(text),
            "clientSecret" => client_secret = Some(Secret(text)),
            "idToken" => id_token = Some(Assertion::Given(Secret(text))),
            "idTokenFile" => {
                let path = reader.file.scope.path(&text);
                id_token = Some(Assertion::File(reader.checked(&label, &member.value, path)?));
            }
            _ => return Err(reader.wrong(member.at, &format!("unknown key \"{label}\""))),
        }
    }
    match (issuer, client_id, id_token) {
        (Some(issuer), Some(client_id), Some(id_token)) => {
            Ok(IdentityProvider { issuer, client_id, client_secret, id_token })
        }
        _ => Err(reader.wrong(node.at, &format!("{label} needs `issuer`, `clientId`, and `idToken` or `idTokenFile`"))),
    }
}
