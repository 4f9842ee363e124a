use std::{
    collections::HashMap,
    hash::{BuildHasher, Hasher, RandomState},
    io,
    sync::{Arc, LazyLock, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
    time::timeout,
};

/// A web page on this machine on which a person presses *Approve*. It is served until the process ends.
#[derive(Debug)]
pub(super) struct Page {
    /// Unguessable; stands in the address.
    pub(super) id: String,
    /// The address.
    pub(super) url: String,
    approved: watch::Sender<bool>,
}

static PAGES: LazyLock<Mutex<HashMap<String, Arc<Page>>>> = LazyLock::new(Mutex::default);

/// The page with this id, if this process serves it.
pub(super) fn find(id: &str) -> Option<Arc<Page>> {
    PAGES.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
}

/// Serves a new page.
pub(super) async fn open() -> io::Result<Arc<Page>> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let random = || RandomState::new().build_hasher().finish();
    let id = format!("{:016x}{:016x}", random(), random());
    let url = format!("http://{}/approve/{id}", listener.local_addr()?);
    let page = Arc::new(Page { id: id.clone(), url, approved: watch::Sender::new(false) });
    PAGES.lock().unwrap_or_else(PoisonError::into_inner).insert(id, Arc::clone(&page));
    tokio::spawn(serve(listener, Arc::clone(&page)));
    Ok(page)
}

impl Page {
    /// Waits until somebody approves.
    pub(super) async fn approved(&self) {
        // The sender lives as long as the page.
        drop(self.approved.subscribe().wait_for(|approved| *approved).await);
    }

    /// Whether somebody approves within `time`.
    pub(super) async fn approved_within(&self, time: Duration) -> bool {
        timeout(time, self.approved()).await.is_ok()
    }
}

async fn serve(listener: TcpListener, page: Arc<Page>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { return };
        let page = Arc::clone(&page);
        tokio::spawn(async move {
            // A browser that goes away, or says nothing, is its own loss.
            drop(timeout(Duration::from_secs(10), answer(stream, &page)).await);
        });
    }
}

async fn answer(mut stream: TcpStream, page: &Page) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|window| window == b"\r\n\r\n") && head.len() < 16_384 {
        if stream.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    let head = String::from_utf8_lossy(&head);
    let mut words = head.split_whitespace();
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_ours = path.strip_prefix("/approve/") == Some(&page.id);
    let (status, title, body) = match method {
        _ if !is_ours => ("404 Not Found", "Not found", ""),
        "GET" => {
            ("200 OK", "Connect the demo server?", r#"<form method="post"><button autofocus>Approve</button></form>"#)
        }
        "POST" => {
            page.approved.send_replace(true);
            ("200 OK", "Approved", "<p>You can close this page and go back to the terminal.</p>")
        }
        _ => ("405 Method Not Allowed", "Not allowed", ""),
    };
    let html = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>\
         <style>body{{font:1.2rem system-ui;margin:20vh auto;max-width:30rem}}button{{font:inherit}}</style>\
         <h1>{title}</h1>{body}</html>\n"
    );
    let length = html.len();
    let response = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {length}\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n{html}"
    );
    stream.write_all(response.as_bytes()).await?;
    stream.shutdown().await
}
