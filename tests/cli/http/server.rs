//! A web server on loopback that does exactly what a test says, right or wrong.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use serde_json::Value;

/// One HTTP request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// The first header of this name, given in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON; `Value::Null` if it is not JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The method of the JSON-RPC message in the body.
    pub(crate) fn rpc(&self) -> String {
        self.json()["method"].as_str().unwrap_or_default().to_owned()
    }
}

/// Writes the response to one request.
pub(crate) struct Reply {
    stream: TcpStream,
    open: bool,
}

impl Reply {
    /// Bytes unchanged. Errors are ignored: the client may be gone.
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
        let _ = self.stream.flush();
    }

    /// A whole response; `head` contains further header lines.
    pub(crate) fn respond(&mut self, status: u16, head: &str, body: &[u8]) {
        let length = body.len();
        self.raw(format!("HTTP/1.1 {status} Status\r\nContent-Length: {length}\r\n{head}\r\n").as_bytes());
        self.raw(body);
    }

    pub(crate) fn json(&mut self, status: u16, value: &Value) {
        self.respond(status, "Content-Type: application/json\r\n", value.to_string().as_bytes());
    }

    pub(crate) fn empty(&mut self, status: u16) {
        self.respond(status, "", b"");
    }

    /// The head of an event stream that ends with the connection.
    pub(crate) fn stream(&mut self, head: &str) {
        self.open = false;
        self.raw(
            format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n{head}\r\n").as_bytes(),
        );
    }

    pub(crate) fn event(&mut self, message: &Value) {
        self.raw(format!("data: {message}\n\n").as_bytes());
    }

    /// Another handle on the same response.
    pub(crate) fn another(&self) -> Self {
        Self { stream: self.stream.try_clone().expect("a handle"), open: self.open }
    }

    /// Whether the client has closed the connection.
    pub(crate) fn is_gone(&self) -> bool {
        self.stream.set_nonblocking(true).expect("a socket");
        let gone = matches!(self.stream.peek(&mut [0; 1]), Ok(0));
        self.stream.set_nonblocking(false).expect("a socket");
        gone
    }

    /// Ends the connection now.
    pub(crate) fn end(&self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Closes the connection after this response.
    pub(crate) fn close(&mut self) {
        self.open = false;
    }

    /// Waits until the client closes the connection; `false` if it has not done so after 10 s.
    pub(crate) fn wait_for_close(&mut self) -> bool {
        self.stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
        matches!(self.stream.read(&mut [0; 1]), Ok(0)) || self.stream.take_error().is_ok_and(|error| error.is_some())
    }
}

/// The server. It ends with the test.
pub(crate) struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Answers every request with `answer`, each connection in a separate thread.
    pub(crate) fn start(answer: impl Fn(&Request, &mut Reply) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (answer, log) = (Arc::new(answer), Arc::clone(&seen));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, log) = (Arc::clone(&answer), Arc::clone(&log));
                thread::spawn(move || serve(&stream, &*answer, &log));
            }
        });
        Self { address, seen }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The requests so far.
    pub(crate) fn seen(&self) -> Vec<Request> {
        self.seen.lock().expect("not poisoned").clone()
    }

    /// Waits for the first request that `wanted` accepts.
    pub(crate) fn wait_for(&self, wanted: impl Fn(&Request) -> bool) -> Request {
        for _ in 0..1000 {
            if let Some(request) = self.seen().into_iter().find(&wanted) {
                return request;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("never came; seen: {:#?}", self.seen());
    }
}

fn serve(stream: &TcpStream, answer: &dyn Fn(&Request, &mut Reply), log: &Mutex<Vec<Request>>) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader) {
        log.lock().expect("not poisoned").push(request.clone());
        let mut reply = Reply { stream: stream.try_clone().expect("a handle"), open: true };
        answer(&request, &mut reply);
        if !reply.open || request.header("connection") == Some("close") {
            break;
        }
    }
    let _ = stream.shutdown(Shutdown::Both);
}

fn read(reader: &mut BufReader<&TcpStream>) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|&length| length > 0)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|&length| length > 0)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, length)| length.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    Some(Request { method, path, headers, body })
}
