//! Without a person.

use serde_json::json;

use super::World;
use crate::harness::Test;

const SECRET: &str = "client-s3cret";

fn account(world: &World, oauth: &serde_json::Value, words: &[&str]) -> Test {
    world.ledger().account = Some(("ci".to_owned(), SECRET.to_owned()));
    let config = json!({"mcpServers": {"build": {"url": world.mcp(), "oauth": oauth}}});
    world.test(words).config(&config.to_string())
}

#[test]
fn a_program_signs_in_with_its_secret() {
    let world = World::new();
    let oauth = json!({"grant": "client_credentials", "clientId": "ci", "clientSecret": "${CI_SECRET}"});
    let test = || account(&world, &oauth, &["call", "build", "read"]);
    test().env("CI_SECRET", SECRET).stdout("read is done\n").stderr("").run();
    assert!(!world.sign_ins().exists(), "a job keeps nothing");
    let run = test().env("CI_SECRET", "wrong").status(5).run();
    assert!(run.stderr.contains("invalid_grant") && !run.stderr.contains("wrong"), "{}", run.stderr);
    test().status(3).stderr_contains("CI_SECRET").run();
    assert_eq!(world.count("/authorize"), 0);
}

#[test]
fn a_program_signs_in_with_its_key() {
    let world = World::new();
    let key = rcgen::KeyPair::generate().expect("a key").serialize_pem();
    let oauth = json!({"grant": "client_credentials", "clientId": "ci", "privateKeyFile": "key.pem"});
    let test = || account(&world, &oauth, &["call", "build", "read"]);
    test().file("key.pem", &key).stdout("read is done\n").run();
    let asked = world.server.wait_for(|request| request.path == "/token");
    let form: std::collections::HashMap<String, String> =
        url::form_urlencoded::parse(&asked.body).into_owned().collect();
    assert_eq!(form["client_assertion"].split('.').count(), 3);
    assert_eq!((form["client_id"].as_str(), form["resource"].as_str()), ("ci", world.mcp().as_str()));
    test().status(5).stderr_contains("key.pem").run();
    test().file("key.pem", "nonsense").status(5).stderr_contains("is not PKCS #8 in PEM").run();
}

#[test]
fn a_program_signs_in_with_what_another_authority_says_of_it() {
    let world = World::new();
    let oauth = json!({"grant": "jwt_bearer", "clientId": "job", "assertionFile": "id.jwt", "scopes": ["read"]});
    let test = || account(&world, &oauth, &["call", "build", "read"]);
    test().file("id.jwt", "aaa.bbb.jwt-s3cret\n").stdout("read is done\n").stderr("").run();
    let asked = world.server.wait_for(|request| request.path == "/token");
    let form: std::collections::HashMap<String, String> =
        url::form_urlencoded::parse(&asked.body).into_owned().collect();
    assert_eq!(form["grant_type"], "urn:ietf:params:oauth:grant-type:jwt-bearer");
    assert_eq!((&*form["assertion"], &*form["scope"], &*form["client_id"]), ("aaa.bbb.jwt-s3cret", "read", "job"));
    // Refused credentials are not tried again, in this way or another.
    let before = world.count("/token");
    let run = test().file("id.jwt", "aaa.bbb.other").status(5).stderr_contains("invalid_grant").run();
    assert!(!run.stderr.contains("aaa.bbb"), "{}", run.stderr);
    assert_eq!(world.count("/token") - before, 1);
    test().status(5).stderr_contains("the assertion in ").run();
    test().file("id.jwt", "no jwt-s3cret").status(5).stderr_contains("is not a signed JWT").run();
    for (oauth, why) in [
        (json!({"grant": "jwt_bearer", "clientId": "job"}), "belong together"),
        (json!({"clientId": "job", "assertion": "a.b.c"}), "belong together"),
        (json!({"grant": "jwt_bearer", "assertion": "a.b.c"}), "needs `clientId`"),
    ] {
        account(&world, &oauth, &["tools", "build"]).status(3).stderr_contains(why).run();
    }
}

#[test]
fn an_identity_provider_says_who_the_person_is() {
    let world = World::new();
    // The world is its own identity provider, too.
    let provider = json!({"issuer": world.server.url(""), "clientId": "sso", "idTokenFile": "id.jwt"});
    let oauth = json!({"grant": "jwt_bearer", "clientId": "ci", "clientSecret": SECRET, "identityProvider": provider});
    let test = || account(&world, &oauth, &["call", "build", "read"]);
    test().file("id.jwt", "aaa.bbb.id-s3cret\n").stdout("read is done\n").stderr("").run();
    assert!(!world.sign_ins().exists(), "nothing is kept");
    let run = test().file("id.jwt", "aaa.bbb.other").status(5).stderr_contains("invalid_grant").run();
    assert!(!run.stderr.contains("aaa.bbb"), "{}", run.stderr);
    test().status(5).stderr_contains("the ID token in ").run();
    for (provider, why) in [
        (json!({"issuer": "https://idp.example"}), "needs `issuer`, `clientId`, and `idToken` or `idTokenFile`"),
        (json!({"issuer": "https://idp.example", "clientld": "sso"}), "unknown key"),
        (json!("https://idp.example"), "an object"),
    ] {
        let oauth = json!({"grant": "jwt_bearer", "clientId": "ci", "identityProvider": provider});
        account(&world, &oauth, &["tools", "build"]).status(3).stderr_contains(why).run();
    }
    let both = json!({"grant": "jwt_bearer", "clientId": "ci", "assertion": "a.b.c", "identityProvider":
        {"issuer": "https://idp.example", "clientId": "sso", "idToken": "a.b.c"}});
    account(&world, &both, &["tools", "build"]).status(3).stderr_contains("belong together").run();
}

#[test]
fn a_client_with_a_key_shows_it_when_it_signs_out() {
    let world = World::new();
    let key = rcgen::KeyPair::generate().expect("a key").serialize_pem();
    let config = json!({"mcpServers": {"cal": {
        "url": world.mcp(), "oauth": {"clientId": "ci", "privateKeyFile": "key.pem"}}}})
    .to_string();
    let test = |words: &[&str]| world.test(words).config(&config).file("key.pem", &key);
    for words in [&["logout", "cal"][..], &["logout"]] {
        world.sign_in_test(test(&["login", "cal"]));
        let before = world.count("/revoke");
        test(words).stdout_contains("and its tokens are revoked").stderr("").run();
        assert_eq!(world.count("/revoke") - before, 2);
        let asked = world.server.seen().into_iter().rfind(|request| request.path == "/revoke").expect("a request");
        let form: std::collections::HashMap<String, String> =
            url::form_urlencoded::parse(&asked.body).into_owned().collect();
        assert_eq!((&*form["client_id"], form["client_assertion"].split('.').count()), ("ci", 3));
    }
    // Without the configuration the key is unknown: the tokens are deleted here, and the message says so.
    world.sign_in_test(test(&["login", "cal"]));
    let run = world.test(&["logout"]).stderr_contains("could not be revoked").run();
    assert!(run.stdout.starts_with("signed out of "), "{}", run.stdout);
}

#[test]
fn a_missing_keyring_feature_is_reported_where_it_is_needed() {
    let world = World::new();
    let run = account(&world, &json!({"tokenStore": "keyring"}), &["login", "build", "--status"]).run_any();
    if cfg!(feature = "keyring") {
        assert_eq!(run.status, Some(5), "{}", run.stderr);
    } else {
        assert_eq!(run.status, Some(3), "{}", run.stderr);
        assert!(
            run.stderr.contains("built without the keyring") && run.stderr.contains("mcp.json:1:"),
            "{}",
            run.stderr
        );
    }
    account(&world, &json!({"tokenStore": "cloud"}), &["tools", "build"]).status(3).run();
}

#[test]
fn a_token_that_ended_is_fetched_anew_within_a_run() {
    let world = World::new();
    let oauth = json!({"grant": "client_credentials", "clientId": "ci", "clientSecret": SECRET});
    let lines = "call build read\ncall build read\n";
    world.ledger().life = Some(1);
    account(&world, &oauth, &["shell"]).stdin(lines).stdout_contains("read is done\nread is done\n").run();
    assert!(world.count("/token") >= 1);
}

#[test]
fn a_header_that_is_configured_comes_before_a_sign_in() {
    let world = World::new();
    let token = world.ledger().token("read");
    world.sign_in(&["login", "URL"]);
    let bearer = format!("Authorization: Bearer {token}");
    world.test(&["call", "URL", "read", "-H", &bearer]).stdout("read is done\n").run();
    let sent = world.server.seen().pop().expect("a request");
    assert_eq!(sent.header("authorization"), Some(bearer.strip_prefix("Authorization: ").expect("a header")));
    world.test(&["call", "URL", "read", "--bearer-env", "TOKEN"]).env("TOKEN", &token).stdout("read is done\n").run();
    // A refused token is not silently replaced.
    let wrong = world.test(&["call", "URL", "read", "-H", "Authorization: Bearer wrong"]).status(5).run();
    assert!(!wrong.stderr.contains("Bearer wrong"), "{}", wrong.stderr);
    let login = world.test(&["login", "URL", "-H", &bearer]).status(2).run();
    assert!(login.stderr.contains("which is used instead of a sign-in") && !login.stderr.contains(&token));
}
