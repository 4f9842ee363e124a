//! Misleading metadata.

use serde_json::{Value, json};

use super::{World, world::Bent};

/// Signs in to such a world; it must fail for this reason before anybody is asked anything.
#[track_caller]
fn refused(bent: Bent, why: &str) -> World {
    let world = bent.start();
    let run = world.test(&["login", "URL"]).status(5).stdout("").run();
    assert!(run.stderr.contains(why), "not {why:?}: {}", run.stderr);
    assert!(!world.home().join("opened.args").exists(), "a browser was started");
    assert_eq!(world.count("/token"), 0);
    world
}

fn endpoint(key: &'static str, value: &'static str) -> Bent {
    Bent::default().metadata(move |_, metadata| metadata[key] = json!(value))
}

#[test]
fn endpoints_lead_to_encrypted_places_or_to_this_machine() {
    for (key, value, why) in [
        ("authorization_endpoint", "javascript:alert(1)", "is not a web address"),
        ("authorization_endpoint", "http://as.example/x", "is not encrypted"),
        ("authorization_endpoint", "/relative", "is not a valid address"),
        ("token_endpoint", "http://as.example/x", "is not encrypted"),
        ("token_endpoint", "file:///etc/passwd", "is not a web address"),
        ("registration_endpoint", "http://as.example/x", "is not encrypted"),
        ("revocation_endpoint", "data:text/plain,x", "is not a web address"),
        ("device_authorization_endpoint", "http://as.example/x", "is not encrypted"),
    ] {
        refused(endpoint(key, value), &format!("{key} of the authorization server, {value:?}, {why}"));
    }
    refused(endpoint("authorization_endpoint", "javascript:alert('\u{1b}[2J')"), "javascript:alert('[2J')");
}

#[test]
fn authorization_servers_are_at_web_addresses() {
    for (value, why) in [
        (json!(["javascript:alert(1)"]), "is not a web address"),
        (json!(["http://as.example"]), "is not encrypted"),
        (json!(["not an address"]), "is not a valid address"),
        (json!([]), "does not name an authorization server"),
        (json!("http://127.0.0.1"), "does not name an authorization server"),
    ] {
        refused(Bent::default().resource(move |_, resource| resource["authorization_servers"] = value.clone()), why);
    }
}

#[test]
fn metadata_is_about_what_it_was_asked_for() {
    let resource = |edit: fn(&str) -> Value| {
        Bent::default().resource(move |base, document| {
            document["resource"] = edit(base);
        })
    };
    for edit in [
        (|_| json!("https://evil.example/mcp")) as fn(&str) -> Value,
        |base| json!(format!("{base}/mcp/deeper")),
        |base| json!(format!("{base}/m")),
        |base| json!(base.replace("http:", "https:")),
        |_| Value::Null,
    ] {
        refused(resource(edit), "the server's metadata is for another resource");
    }
    let issuer = |value: &'static str| Bent::default().metadata(move |_, metadata| metadata["issuer"] = json!(value));
    refused(
        issuer("https://accounts.example.com"),
        "is for another authorization server, \"https://accounts.example.com\"",
    );
    refused(issuer(""), "is for another authorization server");
}

#[test]
fn codes_have_to_be_protected() {
    for methods in [json!(["plain"]), json!([]), Value::Null] {
        let bent =
            Bent::default().metadata(move |_, metadata| metadata["code_challenge_methods_supported"] = methods.clone());
        refused(bent, "PKCE with S256");
    }
}

#[test]
fn a_document_that_leads_elsewhere_is_not_followed() {
    let places = ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server"];
    for place in places {
        let other = World::new();
        let to = other.server.url(place);
        let bent = Bent::default().special(move |request, reply| {
            let leads = request.path == place;
            if leads {
                reply.respond(302, &format!("Location: {to}\r\n"), b"");
            }
            leads
        });
        refused(bent, "redirects to another host");
        assert_eq!(other.server.seen().len(), 0);
    }
}

#[test]
fn a_token_endpoint_that_leads_elsewhere_gets_only_the_code() {
    let other = World::new();
    let to = other.server.url("/token");
    let world = Bent::default()
        .special(move |request, reply| {
            let leads = request.path == "/token";
            if leads {
                reply.respond(307, &format!("Location: {to}\r\n"), b"");
            }
            leads
        })
        .start();
    let running = world.start(&["login", "URL"]);
    running.visit();
    assert!(running.end(5).stderr.contains("redirects to another host"));
    assert_eq!(other.server.seen().len(), 0);
}

#[test]
fn documents_are_of_a_bounded_size() {
    for place in ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server", "/register"] {
        let bent = Bent::default().special(move |request, reply| {
            let is_it = request.path == place;
            if is_it {
                reply.respond(200, "Content-Type: application/json\r\n", &b" ".repeat(10 << 20));
            }
            is_it
        });
        refused(bent, "is larger than 1048576 bytes");
    }
}

#[test]
fn documents_that_are_nonsense_are_told() {
    for body in ["", "[{\"issuer\": 1", "{\"issuer\": {\"a\": []}}"] {
        for place in ["/.well-known/oauth-authorization-server", "/register"] {
            let bent = Bent::default().special(move |request, reply| {
                let is_it = request.path == place;
                if is_it {
                    reply.respond(200, "", body.as_bytes());
                }
                is_it
            });
            refused(bent, "error: ");
        }
    }
}

/// A server whose metadata is in another place, according to its refusals.
fn elsewhere(place: String) -> Bent {
    Bent::default().challenge(move |_| format!("Bearer resource_metadata=\"{place}\""))
}

#[test]
fn metadata_at_another_origin_counts_when_it_is_about_this_server() {
    // RFC 9728 (section 5.1): it may be anywhere, as long as it is about the requested address.
    let mcp = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
    let about = std::sync::Arc::clone(&mcp);
    let other = Bent::default()
        .resource(move |_, document| {
            document["resource"] = json!(*about.lock().expect("not poisoned"));
        })
        .start();
    let world = elsewhere(other.server.url("/elsewhere/metadata")).start();
    *mcp.lock().expect("not poisoned") = world.mcp();
    let running = world.start(&["login", "URL"]);
    let link = world.opened();
    assert_eq!(link.of("resource"), world.mcp());
    assert_eq!(link.0.port(), Some(other.server.address().port()), "its own authorization server");
    link.visit();
    // The token is the other server's, and this world does not know it; the point is that it was sent only here.
    running.end(5);
    assert!(other.server.seen().iter().all(|request| request.path != "/mcp"));
}

#[test]
fn metadata_at_another_origin_does_not_count_for_others() {
    let other = World::new();
    refused(elsewhere(other.server.url("/elsewhere/metadata")), "is for another resource");
    for (place, why) in [
        ("http://far.example/metadata", "is not encrypted"),
        ("javascript:alert(1)", "is not a web address"),
        ("file:///etc/passwd", "is not a web address"),
    ] {
        refused(elsewhere(place.to_owned()), why);
    }
}

#[test]
fn a_server_that_wants_the_token_of_another_gets_none() {
    let (victim, thief) = (World::new(), World::new());
    let (resource, issuer) = (victim.mcp(), victim.server.url(""));
    let bent = Bent::default().resource(move |_, document| {
        document["resource"] = json!(resource);
        document["authorization_servers"] = json!([issuer]);
    });
    refused(bent, "is for another resource");
    // A token is never sent to another server.
    victim.sign_in(&["login", "URL"]);
    victim.test(&["call", &thief.mcp(), "read"]).status(5).run();
    assert!(thief.server.seen().iter().all(|request| request.header("authorization").is_none()));
}

#[test]
fn a_token_does_not_go_where_a_redirection_leads() {
    let thief = World::new();
    let to = thief.mcp();
    let is_bad = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let turn = std::sync::Arc::clone(&is_bad);
    let world = Bent::default()
        .special(move |request, reply| {
            let leads = request.path == "/mcp" && turn.load(std::sync::atomic::Ordering::Relaxed);
            if leads {
                reply.respond(307, &format!("Location: {to}\r\n"), b"");
            }
            leads
        })
        .start();
    world.sign_in(&["login", "URL"]);
    is_bad.store(true, std::sync::atomic::Ordering::Relaxed);
    world.test(&["call", "URL", "read"]).status(5).run();
    assert!(thief.count("/mcp") > 0);
    assert!(thief.server.seen().iter().all(|request| request.header("authorization").is_none()));
}
