//! The browser's side of the program's pages: requests a page, and sends its form.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

/// Sends a request as written, with `Host` and the end of the head added; returns the response's head and body.
pub(crate) fn request(url: &str, method: &str, headers: &[(&str, &str)], body: &str) -> (String, String) {
    let rest = url.strip_prefix("http://").expect("a local address");
    let (host, path) = rest.split_once('/').expect("a path");
    let mut stream = TcpStream::connect(host).expect("the page is served");
    let mut head = format!("{method} /{path} HTTP/1.1\r\nContent-Length: {}\r\n", body.len());
    let own_host = [("Host", host)];
    let has_host = headers.iter().any(|(name, _)| *name == "Host");
    for (name, value) in own_host.iter().filter(|_| !has_host).chain(headers) {
        head.extend([*name, ": ", *value, "\r\n"]);
    }
    // A server that refuses a request may close the connection before reading all of it.
    let _ = write!(stream, "{head}\r\n{body}");
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8(answer).expect("UTF-8");
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    (head.to_owned(), body.to_owned())
}

/// The page at `url`.
pub(crate) fn get(url: &str) -> (String, String) {
    request(url, "GET", &[], "")
}

/// Sends the form on a page, as a browser would.
pub(crate) fn send_form(url: &str, head: &str, page: &str, fields: &[(&str, &str)]) -> (String, String) {
    let cookie = cookie(head);
    let origin = url.match_indices('/').nth(2).map_or(url, |(end, _)| &url[..end]);
    let token = token(page);
    let mut pairs = vec![("_token", token.as_str())];
    pairs.extend(fields);
    let body: Vec<String> = pairs.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let kind = ("Content-Type", "application/x-www-form-urlencoded");
    request(url, "POST", &[("Cookie", &cookie), ("Origin", origin), kind], &body.join("&"))
}

/// The cookie that a response sets, as it is sent back.
pub(crate) fn cookie(head: &str) -> String {
    let line = head.lines().find(|line| line.to_lowercase().starts_with("set-cookie:")).expect("a cookie");
    line["set-cookie:".len()..].split(';').next().unwrap_or_default().trim().to_owned()
}

/// The token of the form on a page.
pub(crate) fn token(page: &str) -> String {
    let rest = page.split_once(r#"name="_token" value=""#).expect("a form with a token").1;
    rest.split('"').next().unwrap_or_default().to_owned()
}
