//! The trivial server on HTTPS, with its own certificate.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::Arc,
    thread,
};

use rustls::{ServerConfig, ServerConnection, StreamOwned, pki_types::PrivateKeyDer};
use serde_json::{Value, json};

use super::trivial::{self, Result};

pub(super) struct Secure {
    pub(super) url: String,
    /// The certificate that a client has to trust, PEM.
    pub(super) authority: String,
}

/// Serves on a loopback port while this process lives.
pub(super) fn serve() -> Result<Secure> {
    let rcgen::CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], PrivateKeyDer::Pkcs8(signing_key.serialize_der().into()))?;
    let config = Arc::new(config);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let url = format!("https://localhost:{}/mcp", listener.local_addr()?.port());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let config = Arc::clone(&config);
            // A client that disconnects ends its connection with an error.
            thread::spawn(move || drop(answer_all(stream, config)));
        }
    });
    Ok(Secure { url, authority: cert.pem() })
}

fn answer_all(stream: TcpStream, config: Arc<ServerConfig>) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut connection = BufReader::new(StreamOwned::new(ServerConnection::new(config)?, stream));
    loop {
        let (mut line, mut length) = (String::new(), 0);
        while connection.read_line(&mut line)? > 2 {
            if let Some(("content-length", value)) = line.to_lowercase().trim().split_once(": ") {
                length = value.parse()?;
            }
            line.clear();
        }
        if line.is_empty() {
            return Ok(());
        }
        let mut body = vec![0; length];
        connection.read_exact(&mut body)?;
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let result = message["method"].as_str().and_then(trivial::result);
        let (status, body) = match (message.get("id"), result) {
            (None, _) => ("202 Accepted", String::new()),
            (Some(id), Some(result)) => ("200 OK", json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()),
            (Some(id), None) => {
                let error = json!({"code": -32601, "message": "Method not found"});
                ("200 OK", json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string())
            }
        };
        let head =
            format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
        connection.get_mut().write_all((head + &body).as_bytes())?;
    }
}
