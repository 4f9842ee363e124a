//! What other users, other pages and other browsers must not be able to do. Every attack is made on a run whose
//! question is then answered by its person, so that the test sees that it has changed nothing.

use std::{os::unix::process::CommandExt as _, process::Command};

use serde_json::json;

use super::{asks, call};
use crate::harness::{Page, Tab, Test, pages};

const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");

/// A run that asks, is attacked, and is answered by its person.
fn attacked(attack: impl FnOnce(&Tab, &Page)) {
    let run = call("greet").at_browser();
    let (tab, page) = run.asked();
    attack(&tab, &page);
    let page = tab.get("1");
    assert_eq!(page.status, 200, "{}", page.head);
    page.not_see("Mallory");
    let review = tab.send(&page, "review", &[("f0", "Ada")]);
    tab.send(&review, "send", &[]).see("Sent to forms");
    assert_eq!(run.end(0).stdout, "Hello, Ada!\n");
}

/// Refused, without revealing anything about the question.
fn refused(page: &Page) {
    assert!(matches!(page.status, 403 | 404 | 413 | 415), "{}", page.head);
    page.not_see("Welcome").not_see("passport");
}

#[test]
fn a_name_that_was_pointed_at_this_machine_gets_nothing() {
    attacked(|tab, page| {
        for host in ["evil.example", "evil.example:80", "127.0.0.1", "localhost.evil.example:1", ""] {
            refused(&tab.request("", "GET", &[("Host", host)], ""));
            refused(&tab.request("1", "POST", &[("Host", host), FORM], &page.filled("decline", &[])));
            refused(&tab.request("1-news", "GET", &[("Host", host)], ""));
        }
    });
}

#[test]
fn a_form_of_another_site_is_not_taken() {
    attacked(|tab, page| {
        for origin in ["https://evil.example", "null", "http://127.0.0.1", "http://localhost.evil.example", "file://"] {
            for path in ["1", "1-review", "1-check"] {
                let body = page.filled("decline", &[("f0", "Mallory")]);
                refused(&tab.request(path, "POST", &[("Origin", origin), FORM], &body));
            }
        }
        // What a script on another site could send without a preflight request.
        let body = page.filled("decline", &[]);
        refused(&tab.request("1", "POST", &[("Content-Type", "text/plain")], &body));
        refused(&tab.request("1", "POST", &[("Content-Type", "multipart/form-data; boundary=x")], &body));
    });
}

#[test]
fn a_form_needs_the_token_of_its_page_and_counts_once() {
    attacked(|tab, page| {
        refused(&tab.post("1", "do=decline"));
        refused(&tab.post("1", "_token=&do=decline"));
        refused(&tab.post("1", "_token=00000000000000000000000000000000&do=decline"));
        let token = pages::token(&page.body);
        refused(&tab.post("1", &format!("_token={token}&_token={token}&do=decline")));
        let body = page.filled("review", &[("f0", "A")]);
        assert_eq!(tab.post("1", &body).status, 303);
        refused(&tab.post("1", &body.replace("review", "decline")));
    });
}

#[test]
fn the_path_cannot_be_guessed() {
    attacked(|tab, _| {
        let root: String = tab.url.split_inclusive('/').take(3).collect();
        let secret = tab.url[root.len()..].trim_end_matches('/');
        assert!(secret.len() == 32 && secret.bytes().all(|byte| byte.is_ascii_hexdigit()), "{secret}");
        let near = format!("{}/", &secret[..31]);
        let other = secret.chars().rev().collect::<String>() + "/";
        for path in ["", "1", &near, &other, &secret.to_uppercase(), "favicon.ico", "../1", "%2e%2e/"] {
            let page = Tab { url: root.clone(), cookie: tab.cookie.clone() }.get(path);
            refused(&page);
            page.not_see(secret);
        }
    });
}

#[test]
fn a_second_browser_gets_nothing() {
    attacked(|tab, page| {
        let second = Tab { cookie: None, ..tab.clone() };
        for path in ["", "1", "1-review", "1-news"] {
            let page = second.get(path);
            refused(&page);
            assert!(!page.head.to_lowercase().contains("set-cookie"), "{}", page.head);
        }
        refused(&second.post("1", &page.filled("decline", &[])));
        refused(&second.post("1-check", &page.filled("", &[("f0", "Mallory")])));
        let name = tab.cookie.as_deref().and_then(|cookie| cookie.split('=').next()).expect("a name");
        let guess = Tab { cookie: Some(format!("{name}={}", "0".repeat(32))), ..tab.clone() };
        refused(&guess.get(""));
    });
}

#[test]
fn what_is_too_large_is_not_read() {
    attacked(|tab, page| {
        let large = "x".repeat(2 << 20);
        let sent = tab.post("1", &page.filled("review", &[("f0", &large)]));
        // A server that refuses a body does not have to read it.
        assert!(matches!(sent.status, 0 | 413), "{}", sent.head);
        assert!(matches!(tab.get(&"x".repeat(100_000)).status, 0 | 404 | 414 | 431));
    });
}

#[test]
fn methods_and_paths_that_are_none_are_refused() {
    attacked(|tab, page| {
        for method in ["PUT", "DELETE", "OPTIONS", "PATCH"] {
            refused(&tab.request("1", method, &[FORM], &page.filled("decline", &[])));
        }
        for path in ["1-other", "-1", "1/", "x", "1-check", "99999999999999999999999"] {
            assert!(matches!(tab.get(path).status, 404), "{path}");
        }
        assert_eq!(tab.get("7").status, 303);
    });
}

#[test]
fn nothing_may_frame_keep_or_read_a_page() {
    attacked(|tab, page| {
        for page in [page, &tab.get("1"), &tab.get("nothing")] {
            let head = page.head.to_lowercase();
            for line in [
                "cache-control: no-store",
                "x-frame-options: deny",
                "x-content-type-options: nosniff",
                "referrer-policy: same-origin",
                "frame-ancestors 'none'",
                "default-src 'none'",
                "cross-origin-resource-policy: same-origin",
            ] {
                assert!(head.contains(line), "{line} is not in {head}");
            }
            assert!(!head.contains("unsafe") && !head.contains("access-control"), "{head}");
        }
        let head = page.head.to_lowercase();
        assert!(head.contains("httponly; samesite=strict") && head.contains("form-action 'self'"), "{head}");
        // Nothing that the policy would have to allow, and nothing from elsewhere.
        for word in [" style=", " onclick", " onload", " onsubmit", "javascript:", "src=", "@import", "url("] {
            page.not_see(word);
        }
    });
}

#[test]
fn text_of_a_server_is_text() {
    let nasty = r#""><script>alert(1)</script><img src=x onerror=alert(1)>'</textarea></select>"#;
    let properties = json!({
        nasty: {"type": "string", "title": nasty, "description": nasty, "default": nasty},
        "long": {"type": "string", "maxLength": 1000, "default": nasty, "title": format!("a\u{202e}b")},
        "one": {"type": "string", "oneOf": [{"const": nasty, "title": nasty, "description": nasty}], "default": nasty},
        "many": {"type": "array", "items": {"enum": [nasty, "x"]}, "default": [nasty]},
        "select": {"enum": [nasty, "1", "2", "3", "4", "5", "6", "7"]},
        "fixed": {"const": nasty},
        "json": {"type": "object", "default": {nasty: nasty}},
        "keys": {"type": "object", "properties": {nasty: {"type": "string", "default": nasty}}},
        "list": {"type": "array", "items": {"type": "string"}, "default": [nasty]},
        "format": {"type": "string", "format": nasty, "pattern": format!("{nasty}(")},
        "odd": {"type": nasty},
    });
    let run = asks(&properties, &json!(["select"])).at_browser();
    let (tab, page) = run.asked();
    let check = |page: &Page| {
        let (main, script) = page.body.rsplit_once("</main>").expect("a page");
        for word in ["<script", "<img", "onerror=alert(1)>'<", "</textarea></select>", "\u{202e}"] {
            assert!(!main.contains(word), "{word} in {main}");
        }
        assert_eq!(script.matches("<script").count(), 1);
    };
    check(&page);
    let page = tab.send(&page, "review", &[("f0", nasty), ("f5", nasty)]);
    check(&page);
    let review =
        tab.send(&page, "review", &[("f0", nasty), ("f1", nasty), ("f4", "0"), ("f7-on", "on"), ("f7.0", nasty)]);
    assert_eq!(review.path, "1-review", "{}", review.text());
    check(&review);
    review.see("<script>alert(1)</script>");
    tab.send(&review, "send", &[]);
    let content = run.end(0).reply("s", &json!(1))["content"].clone();
    assert_eq!(
        (&content[nasty], &content["keys"][nasty], &content["select"]),
        (&json!(nasty), &json!(nasty), &json!(nasty))
    );
}

#[test]
fn names_and_messages_of_a_server_are_text() {
    let nasty = "<script>alert(1)</script>\u{202e}\u{1b}[2J";
    let params = json!({"message": nasty, "requestedSchema": {"type": "object", "properties": {}}});
    let steps = [super::ask(&params), crate::harness::Step::Expect(json!({"id": 1})), super::done()];
    let fake = crate::harness::Fake::new().tool("<b>t</b>").on_call(steps);
    let test = Test::new().server("s<i>x", &fake);
    let args = ["call", "s<i>x", "<b>t</b>", "<u>a</u>=<s>b</s>", "--elicit", "browser", "--no-browser"];
    let run = test.args(args).at_browser();
    let (tab, page) = run.asked();
    page.see("s<i>x asks").see("<b>t</b>").see("<u>a</u> <s>b</s>").see("<script>alert(1)</script>\\u{202e}\\u{1b}[2J");
    page.not_see("<b>t").not_see("<i>x").not_see("<u>a").not_see("<s>b").not_see("<script>alert");
    page.see("There is nothing to fill in");
    tab.send(&page, "send", &[]).see("You agreed");
    run.end(0);
}

/// Only root can be another user.
#[test]
fn another_user_of_the_machine_gets_nothing() {
    if !nix::unistd::geteuid().is_root() || !cfg!(target_os = "linux") {
        return;
    }
    attacked(|tab, _| {
        let rest = tab.url.trim_start_matches("http://");
        let (host, path) = rest.split_once('/').expect("a path");
        let (address, port) = host.split_once(':').expect("a port");
        let cookie = tab.cookie.as_deref().unwrap_or_default();
        let request =
            format!("GET /{path} HTTP/1.1\\r\\nHost: {host}\\r\\nCookie: {cookie}\\r\\nConnection: close\\r\\n\\r\\n");
        let script = format!("exec 3<>/dev/tcp/{address}/{port} && printf '{request}' >&3 && cat <&3");
        let look = |user: Option<u32>| {
            let mut bash = Command::new("bash");
            bash.args(["-c", &script]).current_dir("/");
            if let Some(user) = user {
                bash.uid(user).gid(user);
            }
            String::from_utf8_lossy(&bash.output().expect("bash").stdout).into_owned()
        };
        assert!(look(None).contains("Welcome!"), "the same user sees the page");
        assert_eq!(look(Some(65534)), "");
    });
}
