//! The server with a certificate: everything works as without, and nothing
//! works without it.

#![expect(clippy::unwrap_used, reason = "a failure in a helper fails the test")]

mod support;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use futures_util::StreamExt;
use pretty_assertions::assert_eq;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use sayso::config::TlsMode;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use support::raw::Raw;
use support::{TOKEN, TestServer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

async fn server() -> TestServer {
    TestServer::start_configured(|config| {
        config.tls = Some(TlsMode::SelfSigned);
        config.allow_hosts = vec!["sayso.test".to_owned()];
    })
    .await
}

/// Trusts the certificate in this file and nothing else.
fn connector(file: &Path) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_file(file).unwrap())
        .unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    TlsConnector::from(Arc::new(config))
}

async fn connect(server: &TestServer, name: &'static str) -> std::io::Result<TlsStream<TcpStream>> {
    let file = server.folder.path().join("data/tls.pem");
    connect_to(server, name, &file).await
}

async fn connect_to(
    server: &TestServer,
    name: &'static str,
    certificate: &Path,
) -> std::io::Result<TlsStream<TcpStream>> {
    let stream = TcpStream::connect(server.address).await.unwrap();
    let name = ServerName::try_from(name).unwrap();
    connector(certificate).connect(name, stream).await
}

async fn get(server: &TestServer, host: &str) -> String {
    let mut stream = connect(server, "sayso.test").await.unwrap();
    let request = format!(
        "GET /api/me HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn requests_and_sockets_are_encrypted() {
    let server = server().await;
    let port = server.address.port();
    for host in [format!("sayso.test:{port}"), "sayso.test".to_owned()] {
        let answer = get(&server, &host).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        assert!(
            answer.contains("strict-transport-security: max-age="),
            "{answer}"
        );
    }
    let answer = get(&server, &format!("localhost:{port}")).await;
    assert!(
        !answer.contains("strict-transport-security"),
        "other ports of localhost are not ours"
    );
    let url = format!("wss://sayso.test:{port}/api/ws");
    let mut request = url.into_client_request().unwrap();
    let bearer = format!("Bearer {TOKEN}").parse().unwrap();
    request.headers_mut().insert("authorization", bearer);
    let stream = connect(&server, "127.0.0.1").await.unwrap();
    let (mut socket, _) = tokio_tungstenite::client_async(request, stream)
        .await
        .unwrap();
    let welcome = socket.next().await.unwrap().unwrap().into_text().unwrap();
    assert!(welcome.contains(r#""type":"welcome""#), "{welcome}");
    drop(socket);
    assert!(
        connect(&server, "other.test").await.is_err(),
        "the certificate names its hosts"
    );
    server.stop().await;
}

/// The command line knows the certificate from the data folder; another one does not do.
#[tokio::test]
async fn the_command_line_finds_its_server_and_no_other() {
    let server = server().await;
    let run = |data: std::path::PathBuf| {
        tokio::process::Command::new(env!("CARGO_BIN_EXE_sayso"))
            .args(["rules", "--tls", "self-signed", "--token", TOKEN])
            .args(["--listen", &server.address.to_string()])
            .arg("--data-dir")
            .arg(data)
            .arg("list")
            .env_clear()
            .env("HOME", server.folder.path())
            .output()
    };
    let output = run(server.folder.path().join("data")).await.unwrap();
    assert!(output.status.success(), "{output:?}");
    let other = TestServer::start_configured(|config| config.tls = Some(TlsMode::SelfSigned)).await;
    let output = run(other.folder.path().join("data")).await.unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        told.contains("No Sayso answers") && told.contains("certificate"),
        "{told}"
    );
    other.stop().await;
    server.stop().await;
}

/// What a phone compares is what a browser gets, with either kind of certificate.
#[tokio::test]
async fn the_link_and_its_code_hold_the_fingerprint_of_the_certificate_that_is_served() {
    let own = tempfile::tempdir().unwrap();
    let (certificate, key) = (own.path().join("own.pem"), own.path().join("own.key"));
    let names = vec!["sayso.test".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let with_own = TestServer::start_configured(|config| {
        config.tls_cert = Some(certificate.clone());
        config.tls_key = Some(key);
        config.allow_hosts = vec!["sayso.test".to_owned()];
    });
    let self_signed = server().await;
    let kept = self_signed.folder.path().join("data/tls.pem");
    for (server, file) in [(with_own.await, certificate), (self_signed, kept)] {
        let mut stream = connect_to(&server, "sayso.test", &file).await.unwrap();
        let served = stream.get_ref().1.peer_certificates().unwrap()[0].clone();
        let fingerprint = Sha256::digest(&served)
            .iter()
            .map(|byte| format!("{byte:02X}"))
            .collect::<Vec<_>>()
            .join(":");
        let host = format!("sayso.test:{}", server.address.port());
        let body = r#"{"scopes":["view"]}"#;
        let request = format!(
            "POST /api/devices/pairings HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let link: Value = serde_json::from_str(body).unwrap();
        assert_eq!(link["fingerprint"], json!(fingerprint));
        let url = link["url"].as_str().unwrap();
        assert!(url.starts_with(&format!("https://{host}/#pair=")), "{url}");
        assert!(url.ends_with(&format!("&fp={fingerprint}")), "{url}");
        let drawn = qrcode::QrCode::new(url).unwrap().to_colors().into_iter();
        let drawn: String = drawn.map(|color| color.select('1', '0')).collect();
        assert_eq!(
            link["qr"]["modules"],
            json!(drawn),
            "the code is the link's"
        );
        server.stop().await;
    }
}

#[tokio::test]
async fn plain_text_gets_nothing() {
    let server = server().await;
    let mut raw = Raw::connect(server.address).await;
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    raw.send(request.as_bytes()).await.unwrap();
    let answer = raw.rest().await;
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    let mut silent = Raw::connect(server.address).await;
    assert_eq!(
        silent.rest().await,
        b"",
        "a handshake that never begins has its time"
    );
    server.stop().await;
}

#[tokio::test]
async fn without_tls_nothing_is_said_about_it() {
    let server = TestServer::start().await;
    let answer = reqwest::get(server.url("/healthz")).await.unwrap();
    assert!(answer.headers().get("strict-transport-security").is_none());
    server.stop().await;
}
