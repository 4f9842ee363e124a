//! TLS and proxies.

use std::{
    net::SocketAddr,
    sync::{Arc, LazyLock},
    thread,
};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::{
    awkward::{answer, done, modern},
    server::Server,
};
use crate::harness::Test;

/// The certificates for the tests: created in each run, so that no key is stored.
struct Certificates {
    /// The authority's certificate, PEM.
    authority: String,
    /// A certificate for `localhost` that the authority signed.
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
}

static CERTIFICATES: LazyLock<Certificates> = LazyLock::new(|| {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority");
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(["localhost".to_owned()]).expect("a name");
    let certificate = params.signed_by(&key, &authority).expect("a certificate").der().clone();
    Certificates { authority: authority.pem(), certificate, key: PrivateKeyDer::Pkcs8(key.serialize_der().into()) }
});

/// Puts TLS in front of a server, with the certificate for `localhost`.
fn secure(server: SocketAddr) -> String {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let Certificates { certificate, key, .. } = &*CERTIFICATES;
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key.clone_key())
        .expect("a configuration");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a socket");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let listener = TcpListener::from_std(listener).expect("a listener");
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    let (Ok(mut inside), Ok(mut outside)) =
                        (TcpStream::connect(server).await, acceptor.accept(stream).await)
                    else {
                        return;
                    };
                    let _ = tokio::io::copy_bidirectional(&mut outside, &mut inside).await;
                });
            }
        });
    });
    format!("https://localhost:{port}/mcp")
}

fn server() -> Server {
    modern(|request, reply| answer(request, reply, &done()))
}

fn call(url: &str, more: &Value) -> Test {
    let mut entry = json!({"url": url});
    entry.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    Test::new().file("ca.pem", &CERTIFICATES.authority).entry("s", entry).args(["call", "s", "t"])
}

#[test]
fn certificates_are_checked_against_the_authorities_one_names() {
    let server = server();
    let url = secure(server.address());
    let unknown = call(&url, &json!({})).status(4).stderr_contains("an authority that this machine does not trust");
    unknown.stderr_contains("caFile").run();
    assert!(server.seen().is_empty());
    call(&url, &json!({"caFile": "ca.pem"})).stdout("done\n").stderr("").run();
    let test = call(&url, &json!({}));
    let path = test.folder().join("ca.pem").display().to_string();
    test.env("SSL_CERT_FILE", &path).stdout("done\n").run();
    call(&url, &json!({"insecure": true})).stdout("done\n").stderr_contains("its certificate is not checked").run();
    call(&url, &json!({"caFile": "missing.pem"})).status(4).stderr_contains("missing.pem").run();
}

#[test]
fn proxies_come_from_the_environment() {
    let proxy = server();
    let url = "http://mcp.example/mcp";
    call(url, &json!({})).env("HTTP_PROXY", &proxy.url("")).stdout("done\n").run();
    assert!(proxy.seen().iter().all(|request| request.path == url), "{:?}", proxy.seen());
    let direct = server();
    call(&direct.url("/mcp"), &json!({}))
        .env("HTTP_PROXY", "http://127.0.0.1:9")
        .env("NO_PROXY", "127.0.0.1")
        .stdout("done\n")
        .run();
}
