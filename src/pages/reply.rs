use std::convert::Infallible;

use futures_util::{Stream, StreamExt as _, stream::BoxStream};
use http_body_util::{BodyExt as _, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    Response, StatusCode,
    body::{Bytes, Frame},
    header::{self, HeaderName, HeaderValue},
};
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The body of a response.
pub(super) type PageBody = UnsyncBoxBody<Bytes, Infallible>;

const STYLE: &str = include_str!("style.css");

/// A site's answer.
pub enum PageReply {
    /// A page.
    Page(Page),
    /// Go to another page of the site: its path, below the site's own.
    SeeOther(String),
    /// JSON, for a page with a script.
    Json(serde_json::Value),
    /// Events as they happen, for a page with a script.
    Events(BoxStream<'static, ServerSentEvent>),
    /// There is no such page.
    NotFound,
}

crate::text::opaque! { PageReply }

/// A page.
#[derive(Debug)]
pub struct Page {
    /// Its status.
    pub status: StatusCode,
    /// Its title and heading.
    pub title: String,
    /// Its topic, above the heading; may be empty.
    pub topic: String,
    /// The content below the heading.
    pub body: Markup,
    /// A script that improves the page, which also has to work without it.
    pub script: Option<&'static str>,
    /// After how many seconds the page reloads, and to which path below the site, if no script runs.
    pub refresh: Option<(u32, String)>,
}

/// One server-sent event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSentEvent {
    /// Its name, without line ends.
    pub name: &'static str,
    /// Its data.
    pub data: String,
}

impl Page {
    /// A page for a successful request.
    pub fn new(title: impl Into<String>, body: Markup) -> Self {
        Self { status: StatusCode::OK, title: title.into(), topic: String::new(), body, script: None, refresh: None }
    }

    /// A page that says what is wrong with the request.
    pub fn refusal(title: impl Into<String>, body: Markup) -> Self {
        Self { status: StatusCode::BAD_REQUEST, ..Self::new(title, body) }
    }

    fn render(self, base: &str, nonce: &str) -> Response<PageBody> {
        let script = self.script.map(|script| html! { script nonce=(nonce) { (PreEscaped(script)) } });
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    @if let Some((seconds, path)) = &self.refresh {
                        noscript { meta http-equiv="refresh" content={ (seconds) "; url=" (base) (path) }; }
                    }
                    title { (self.title) @if !self.topic.is_empty() { " · " (self.topic) } }
                    style nonce=(nonce) { (PreEscaped(STYLE)) }
                }
                body {
                    main {
                        p .topic { "toolnexus" @if !self.topic.is_empty() { span { (self.topic) } } }
                        h1 { (self.title) }
                        (self.body)
                    }
                    @if let Some(script) = script { (script) }
                }
            }
        };
        let policy = format!(
            "default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; connect-src 'self'; \
             form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
        );
        let mut response = response(self.status, "text/html; charset=utf-8", page.into_string());
        // It consists of digits and ASCII words.
        if let Ok(policy) = HeaderValue::from_str(&policy) {
            response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
        }
        response
    }
}

impl PageReply {
    /// The response; `base` is the path of the site.
    pub(super) fn into_response(self, base: &str, nonce: &str) -> Response<PageBody> {
        match self {
            Self::Page(page) => page.render(base, nonce),
            Self::SeeOther(path) => {
                let mut response = plain(StatusCode::SEE_OTHER, "");
                if let Ok(to) = HeaderValue::from_str(&format!("{base}{path}")) {
                    response.headers_mut().insert(header::LOCATION, to);
                }
                response
            }
            Self::Json(value) => response(StatusCode::OK, "application/json", value.to_string()),
            Self::Events(events) => stream(events),
            Self::NotFound => plain(StatusCode::NOT_FOUND, "There is no such page.\n"),
        }
    }
}

/// A page that says why a request was refused, with a link to try again.
pub(super) fn refusal(title: &str, words: &str, again: &str, nonce: &str) -> Response<PageBody> {
    let body = html! { p { (words) } p { a href=(again) { "Look again" } } };
    Page { status: StatusCode::FORBIDDEN, ..Page::new(title, body) }.render(again, nonce)
}

/// A plain text response.
pub(super) fn plain(status: StatusCode, words: &'static str) -> Response<PageBody> {
    response(status, "text/plain; charset=utf-8", words.to_owned())
}

fn stream(events: impl Stream<Item = ServerSentEvent> + Send + 'static) -> Response<PageBody> {
    let frames = events.map(|event| {
        let data: String = event.data.split('\n').flat_map(|line| ["data: ", line, "\n"]).collect();
        Ok::<_, Infallible>(Frame::data(Bytes::from(format!("event: {}\n{data}\n", event.name).replace('\r', ""))))
    });
    with_headers("text/event-stream", Response::new(StreamBody::new(frames).boxed_unsync()))
}

fn response(status: StatusCode, kind: &'static str, body: String) -> Response<PageBody> {
    let mut response = Response::new(Full::from(body).boxed_unsync());
    *response.status_mut() = status;
    with_headers(kind, response)
}

/// Headers of every response. The referrer stays on the site: without it, browsers would send `Origin: null` with our
/// own forms.
fn with_headers(kind: &'static str, mut response: Response<PageBody>) -> Response<PageBody> {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in headers {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
