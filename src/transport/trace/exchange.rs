use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    time::Duration,
};

use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use url::Url;

use super::Trace;
use crate::transport::mask::{REDACTED, address};

impl Trace {
    /// Writes an HTTP exchange: `outcome` is the status and headers of the response, or why there is none.
    pub(in crate::transport) fn exchange(
        &self,
        method: &str,
        url: &Url,
        request: &HeaderMap,
        outcome: Result<(u16, &HeaderMap), &str>,
        took: Duration,
    ) {
        let mut line = json!({"method": method, "url": address(url), "request": headers(request)});
        match outcome {
            Ok((status, response)) => {
                line["status"] = json!(status);
                line["response"] = headers(response);
            }
            Err(error) => line["error"] = json!(error),
        }
        line["ms"] = json!(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        self.note("http", &line);
    }
}

fn headers(map: &HeaderMap) -> Value {
    let shown = map.iter().map(|(name, value)| (name.to_string(), json!(header(name.as_str(), value))));
    Value::Object(shown.collect())
}

fn header(name: &str, value: &HeaderValue) -> String {
    match name {
        "mcp-session-id" => {
            let mut hasher = DefaultHasher::new();
            value.as_bytes().hash(&mut hasher);
            format!("[session {:08x}]", hasher.finish() & 0xffff_ffff)
        }
        "authorization" | "proxy-authorization" | "cookie" | "set-cookie" => REDACTED.to_owned(),
        _ if value.is_sensitive() => REDACTED.to_owned(),
        // An address may contain a credential.
        "location" | "content-location" | "link" | "referer" => {
            let text = String::from_utf8_lossy(value.as_bytes());
            match Url::parse(&text) {
                Ok(url) => address(&url),
                Err(_) => match text.split_once(['?', '#']) {
                    Some((path, _)) => format!("{path}?{REDACTED}"),
                    None => text.into_owned(),
                },
            }
        }
        _ => String::from_utf8_lossy(value.as_bytes()).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::trace::tests::traced;

    #[test]
    fn credentials_are_left_out() {
        let lines = traced(|trace| {
            let mut request = HeaderMap::new();
            let mut key = HeaderValue::from_static("s3cret");
            key.set_sensitive(true);
            request.insert("x-key", key);
            request.insert("authorization", HeaderValue::from_static("Bearer s3cret"));
            let mut response = HeaderMap::new();
            response.insert("mcp-session-id", HeaderValue::from_static("s3cret"));
            response.insert("set-cookie", HeaderValue::from_static("s3cret"));
            response.insert("location", HeaderValue::from_static("/there?token=s3cret"));
            let url = Url::parse("https://me:s3cret@mcp.example/x?token=s3cret").expect("an address");
            trace.exchange("POST", &url, &request, Ok((200, &response)), Duration::from_millis(5));
            trace.exchange("GET", &url, &request, Err("connection refused"), Duration::ZERO);
        });
        assert!(!format!("{lines:?}").contains("s3cret"), "{lines:?}");
        assert_eq!(lines[0]["http"]["url"], "https://mcp.example/x?token=[redacted]");
        assert_eq!((&lines[0]["http"]["status"], &lines[0]["http"]["ms"]), (&json!(200), &json!(5)));
        assert_eq!(lines[1]["http"]["error"], "connection refused");
    }
}
