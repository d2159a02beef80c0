//! Requests that two readers could understand in two ways, that are too large
//! or that never end: an error and the end of the connection, nothing else.

#![expect(clippy::unwrap_used, reason = "a failure in a helper fails the test")]

mod support;

use pretty_assertions::assert_eq;
use support::raw::Raw;
use support::{TOKEN, TestServer};

/// The status of each answer until the connection ends.
async fn answers(server: &TestServer, request: &str) -> Vec<u16> {
    let request = request
        .replace("HOST", &server.address.to_string())
        .replace("TOKEN", TOKEN);
    let mut raw = Raw::connect(server.address).await;
    // The server may have heard enough before all is sent.
    let _ = raw.send(request.as_bytes()).await;
    statuses(&raw.rest().await)
}

fn statuses(bytes: &[u8]) -> Vec<u16> {
    let text = String::from_utf8_lossy(bytes);
    let statuses = text.split("HTTP/1.1 ").skip(1);
    let with_old = text.split("HTTP/1.0 ").skip(1);
    statuses
        .chain(with_old)
        .map(|rest| rest[..3].parse().unwrap())
        .collect()
}

#[tokio::test]
async fn what_could_be_read_in_two_ways_is_answered_once_and_ends() {
    let server = TestServer::start().await;
    let smuggled =
        "GET /api/sessions HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer TOKEN\r\n\r\n";
    let post = "POST /api/sessions HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer TOKEN\r\n";
    let get = "GET /healthz HTTP/1.1\r\nHost: HOST\r\n";
    let upgrade = "GET /api/ws HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer TOKEN\r\n";
    let huge = "x".repeat(40 * 1024);
    let many: String = (0..200)
        .map(|number| format!("x-{number}: 1\r\n"))
        .collect();
    let cases: Vec<(&str, String, &[u16])> = vec![
        ("length and chunks", format!("{post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{smuggled}"), &[400]),
        ("chunks and length", format!("{post}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n{smuggled}"), &[400]),
        ("two lengths", format!("{post}Content-Length: 0\r\nContent-Length: 80\r\n\r\n{smuggled}"), &[400]),
        ("a list of lengths", format!("{post}Content-Length: 0, 80\r\n\r\n{smuggled}"), &[400]),
        ("a length with a sign", format!("{post}Content-Length: +0\r\n\r\n{smuggled}"), &[400]),
        ("an encoding that is not chunks", format!("{post}Transfer-Encoding: identity\r\n\r\n{smuggled}"), &[400]),
        ("chunks that are not last", format!("{post}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n{smuggled}"), &[400]),
        ("a chunk without a size", format!("{post}Transfer-Encoding: chunked\r\n\r\nxyz\r\n{smuggled}"), &[400]),
        ("a chunk beyond all measure", format!("{post}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{smuggled}"), &[400]),
        ("a folded line", format!("{get}X-A: one\r\n two\r\n\r\n"), &[400]),
        ("a blank before the colon", format!("{get}Transfer-Encoding : chunked\r\n\r\n"), &[400]),
        ("a line without a colon", format!("{get}nonsense\r\n\r\n"), &[400]),
        ("a NUL in a value", format!("{get}X-A: a\0b\r\n\r\n"), &[400]),
        ("a lone CR in a value", format!("{get}X-A: a\rb\r\n\r\n"), &[400]),
        ("a head that is too large", format!("{get}X-A: {huge}\r\n\r\n"), &[431]),
        ("a head of many small parts", format!("{get}{many}\r\n"), &[431]),
        ("an address that is too long", format!("GET /{huge} HTTP/1.1\r\nHost: HOST\r\n\r\n"), &[431]),
        ("HTTP/2 without asking", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(), &[]),
        ("HTTP/1.0 with chunks", "POST /api/sessions HTTP/1.0\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n".to_owned(), &[400]),
        ("HTTP/1.0 is answered once", "GET /healthz HTTP/1.0\r\nHost: HOST\r\n\r\nGET /healthz HTTP/1.0\r\nHost: HOST\r\n\r\n".to_owned(), &[200]),
        ("HTTP/1.0 cannot upgrade", "GET /api/ws HTTP/1.0\r\nHost: HOST\r\nAuthorization: Bearer TOKEN\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".to_owned(), &[426]),
        ("HTTP/0.9", "GET /healthz\r\n\r\n".to_owned(), &[400]),
        ("HTTP/3.0", "GET /healthz HTTP/3.0\r\nHost: HOST\r\n\r\n".to_owned(), &[400]),
        ("TLS where there is none", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}".to_owned() + "\r\n\r\n", &[400]),
        ("an upgrade to h2c", format!("{upgrade}Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n"), &[400]),
        ("an upgrade of an old version", format!("{upgrade}Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 8\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"), &[400]),
        ("a tunnel", "CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n".to_owned(), &[403]),
        ("a whole address of another host", "GET http://evil.example/healthz HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n".to_owned(), &[403]),
        ("a whole address of ours to another host", "GET http://HOST/healthz HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n".to_owned(), &[403]),
        ("a whole address with a user", "GET http://me@HOST/healthz HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n".to_owned(), &[403]),
        ("a whole address of ours", "GET http://HOST/healthz HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n".to_owned(), &[200]),
        ("two hosts", format!("{get}Host: HOST\r\nConnection: close\r\n\r\n"), &[403]),
        ("no host", "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n".to_owned(), &[403]),
        ("pipelined requests come in order", format!("{get}\r\n{post}Content-Length: 1\r\n\r\n{{{get}Connection: close\r\n\r\n{smuggled}"), &[200, 400, 200]),
    ];
    for (name, request, expected) in cases {
        assert_eq!(answers(&server, &request).await, expected, "{name}");
    }
    server.stop().await;
}

/// Nobody who does not show a credential makes the server read a body.
#[tokio::test]
async fn a_stranger_is_refused_before_its_body() {
    let server = TestServer::start().await;
    let mut raw = Raw::connect(server.address).await;
    let address = server.address;
    let head = format!(
        "POST /api/sessions HTTP/1.1\r\nHost: {address}\r\nContent-Length: 1000000000\r\n\r\n"
    );
    raw.send(head.as_bytes()).await.unwrap();
    assert_eq!(statuses(&raw.rest().await), [401]);
    server.stop().await;
}

/// The one body that a stranger may send does not come for ever.
#[tokio::test]
async fn a_stranger_that_never_ends_its_body_is_dropped() {
    let server = TestServer::start().await;
    let address = server.address;
    let head = |length: &str| {
        format!(
            "POST /api/pair HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n{length}\r\n\r\n"
        )
    };
    let mut silent = Raw::connect(address).await;
    let mut slow = Raw::connect(address).await;
    silent
        .send(head("Content-Length: 100").as_bytes())
        .await
        .unwrap();
    let chunks = head("Transfer-Encoding: chunked");
    slow.send(chunks.as_bytes()).await.unwrap();
    let trickle = async {
        let mut pace = tokio::time::interval(std::time::Duration::from_millis(200));
        loop {
            pace.tick().await;
            if slow.send(b"1\r\n{\r\n").await.is_err() {
                return;
            }
        }
    };
    let (silent, ()) = tokio::join!(silent.rest(), trickle);
    assert_eq!(statuses(&silent), [400]);
    server.stop().await;
}

/// The web app is in the program: there is no folder to climb out of.
#[tokio::test]
async fn no_address_leads_to_a_file_of_the_machine() {
    let server = TestServer::start().await;
    for path in [
        "/../../../../etc/passwd",
        "/..%2f..%2f..%2fetc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/assets/../../../etc/passwd",
        "/assets/..%5c..%5cetc/passwd.x",
        "/.git/config",
        "/.env",
        "/index.html%00.png",
        "/./Cargo.toml",
        "//etc/passwd.x",
        "/file:///etc/passwd.x",
    ] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n");
        let request = request.replace("HOST", &server.address.to_string());
        let mut raw = Raw::connect(server.address).await;
        raw.send(request.as_bytes()).await.unwrap();
        let answer = String::from_utf8(raw.rest().await).unwrap();
        let missing = answer.starts_with("HTTP/1.1 404 ");
        // An address without a dot is one of the app's own.
        let app = answer.contains(r#"<div id="app">"#);
        assert!(missing || app, "{path}: {answer}");
        assert_eq!(missing, path.contains('.'), "{path}");
    }
    server.stop().await;
}

/// What is not unpacked cannot be a bomb, and packed secrets cannot be told by their size.
#[tokio::test]
async fn nothing_is_compressed() {
    let server = TestServer::start().await;
    let address = server.address;
    let mut raw = Raw::connect(address).await;
    let upgrade = format!(
        "GET /api/ws HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {TOKEN}\r\n\
         Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\
         Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    );
    raw.send(upgrade.as_bytes()).await.unwrap();
    let head = raw.head().await.to_ascii_lowercase();
    assert!(head.starts_with("http/1.1 101 "), "{head}");
    assert!(!head.contains("sec-websocket-extensions"), "{head}");
    for path in ["/", "/api/me"] {
        let mut raw = Raw::connect(address).await;
        let ask = format!(
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {TOKEN}\r\n\
             Accept-Encoding: gzip, deflate, br, zstd\r\n\r\n"
        );
        raw.send(ask.as_bytes()).await.unwrap();
        let head = raw.head().await.to_ascii_lowercase();
        assert!(!head.contains("content-encoding"), "{path}: {head}");
    }
    server.stop().await;
}

#[tokio::test]
async fn whoever_never_ends_its_request_is_dropped() {
    let server = TestServer::start().await;
    let mut raw = Raw::connect(server.address).await;
    raw.send(b"GET /api/ws HTTP/1.1\r\nUpgrade: web")
        .await
        .unwrap();
    let mut silent = Raw::connect(server.address).await;
    assert_eq!(raw.rest().await, b"");
    assert_eq!(silent.rest().await, b"");
    server.stop().await;
}

#[tokio::test]
async fn a_half_request_does_not_hold_up_the_end() {
    let server = TestServer::start().await;
    let mut raw = Raw::connect(server.address).await;
    raw.send(b"GET /api/ws HTTP/1.1\r\nUpgrade: web")
        .await
        .unwrap();
    let mut known = Raw::connect(server.address).await;
    let ask = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    known.send(ask.as_bytes()).await.unwrap();
    assert!(known.head().await.starts_with("HTTP/1.1 200 "));
    server.stop().await;
    raw.rest().await;
    known.rest().await;
}
