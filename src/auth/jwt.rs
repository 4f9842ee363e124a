use std::{io::Read as _, path::Path};

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, RSA_PKCS1_SHA256, RsaKeyPair},
};
use rustls::pki_types::{PrivatePkcs8KeyDer, pem::PemObject as _};
use serde_json::json;

use super::{AuthError, store::now};
use crate::{
    config::{Assertion, Secret},
    pages::unguessable,
};

/// The longest JWT that is read, in bytes.
const LARGEST: u64 = 64 << 10;
/// How long an assertion is valid, in seconds.
const LIFE: u64 = 60;

/// A signed statement of who the client is (RFC 7523, section 2.2), for the authorization server `audience`.
pub(super) fn assertion(key_file: &Path, client_id: &str, audience: &str) -> Result<String, AuthError> {
    let wrong = |reason: &str| AuthError::unusable(format!("the key {} {reason}", key_file.display()));
    let pem = std::fs::read(key_file).map_err(|error| wrong(&format!("cannot be read: {error}")))?;
    let key = PrivatePkcs8KeyDer::from_pem_slice(&pem)
        .map_err(|_| wrong("is not PKCS #8 in PEM (`openssl pkcs8 -topk8 -nocrypt` converts it)"))?;
    let random = || AuthError::unusable("random numbers are not available");
    let id = unguessable().map_err(|_| random())?;
    let claims = json!({
        "iss": client_id, "sub": client_id, "aud": audience, "iat": now(), "exp": now() + LIFE, "jti": id,
    });
    sign(key.secret_pkcs8_der(), &claims.to_string())
        .ok_or_else(|| wrong("has an unsupported type: use RSA, P-256 or Ed25519"))
}

/// The JWT from another authority, which is called `name` in errors. Its content is never shown.
pub(super) fn statement(assertion: &Assertion, name: &str) -> Result<String, AuthError> {
    let (text, place) = match assertion {
        Assertion::Given(Secret(text)) => (text.clone(), format!("the {name} in the configuration")),
        Assertion::File(path) => {
            let place = format!("the {name} in {}", path.display());
            let wrong = |error: std::io::Error| AuthError::unusable(format!("{place} cannot be read: {error}"));
            let mut text = String::new();
            let file = std::fs::File::open(path).map_err(wrong)?;
            file.take(LARGEST).read_to_string(&mut text).map_err(wrong)?;
            (text, place)
        }
    };
    let text = text.trim();
    let is_one = text.split('.').count() == 3 && text.bytes().all(|byte| byte.is_ascii_graphic());
    if is_one { Ok(text.to_owned()) } else { Err(AuthError::unusable(format!("{place} is not a signed JWT"))) }
}

/// A JWT with these claims, signed in the way that the kind of key requires.
fn sign(der: &[u8], claims: &str) -> Option<String> {
    let random = SystemRandom::new();
    let unsigned = |algorithm: &str| {
        let head = json!({"alg": algorithm, "typ": "JWT"}).to_string();
        format!("{}.{}", BASE64_URL_SAFE_NO_PAD.encode(head), BASE64_URL_SAFE_NO_PAD.encode(claims))
    };
    let signed = |text: String, signature: &[u8]| format!("{text}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature));
    if let Ok(key) = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, &random) {
        let text = unsigned("ES256");
        let signature = key.sign(&random, text.as_bytes()).ok()?;
        return Some(signed(text, signature.as_ref()));
    }
    if let Ok(key) = RsaKeyPair::from_pkcs8(der) {
        let text = unsigned("RS256");
        let mut signature = vec![0; key.public().modulus_len()];
        key.sign(&RSA_PKCS1_SHA256, &random, text.as_bytes(), &mut signature).ok()?;
        return Some(signed(text, &signature));
    }
    let key = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der).ok()?;
    let text = unsigned("EdDSA");
    let signature = key.sign(text.as_bytes());
    Some(signed(text, signature.as_ref()))
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, KeyPair as _, UnparsedPublicKey};

    use super::*;

    #[test]
    fn an_assertion_can_be_checked_with_the_public_key() {
        let key = rcgen::KeyPair::generate().expect("a P-256 key");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("key.pem");
        std::fs::write(&path, key.serialize_pem()).expect("written");
        let jwt = assertion(&path, "me", "https://as").expect("signed");
        let (text, signature) = jwt.rsplit_once('.').expect("three parts");
        let pair =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &key.serialize_der(), &SystemRandom::new());
        let public =
            UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, pair.expect("a key").public_key().as_ref().to_vec());
        let signature = BASE64_URL_SAFE_NO_PAD.decode(signature).expect("base64");
        public.verify(text.as_bytes(), &signature).expect("a good signature");
        let claims = BASE64_URL_SAFE_NO_PAD.decode(text.split_once('.').expect("two parts").1).expect("base64");
        let claims: serde_json::Value = serde_json::from_slice(&claims).expect("JSON");
        assert_eq!(
            (&claims["iss"], &claims["sub"], &claims["aud"]),
            (&json!("me"), &json!("me"), &json!("https://as"))
        );
        std::fs::write(&path, "-----BEGIN EC PRIVATE KEY-----\nAA==\n-----END EC PRIVATE KEY-----\n").expect("written");
        assert!(assertion(&path, "me", "x").expect_err("refused").to_string().contains("PKCS #8"));
    }
}
