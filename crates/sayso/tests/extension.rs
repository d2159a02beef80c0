//! An extension of a browser: paired from its own origin, known from there and from nowhere else.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a failure in a helper fails the test"
)]

mod support;

use futures_util::StreamExt;
use pretty_assertions::assert_eq;
use reqwest::{Client, Method, Response, StatusCode};
use sayso::web::table;
use serde_json::{Value, json};
use support::{TOKEN, TestServer};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};

const OWN: &str = "chrome-extension://abcdefghijklmnopabcdefghijklmnop";
const OTHER: &str = "chrome-extension://ponmlkjihgfedcbaponmlkjihgfedcba";
const FIREFOX: &str = "moz-extension://2c127fa4-62c7-7e4f-90e5-472b45eecfdc";

/// A request from a page with this origin, if it names one.
async fn send(
    server: &TestServer,
    origin: Option<&str>,
    token: Option<&str>,
    method: Method,
    path: &str,
    body: &Value,
) -> Response {
    let client = Client::builder().no_proxy().build().unwrap();
    let mut request = client.request(method, server.url(path)).json(body).header(
        "user-agent",
        "Mozilla/5.0 (X11; Linux x86_64) Chrome/156.0.0.0 Safari/537.36",
    );
    if let Some(origin) = origin {
        request = request.header("origin", origin);
    }
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    request.send().await.unwrap()
}

async fn owner(server: &TestServer, method: Method, path: &str, body: &Value) -> Value {
    let answer = send(server, None, Some(TOKEN), method, path, body).await;
    assert!(answer.status().is_success(), "{path}: {}", answer.status());
    answer.json().await.unwrap()
}

fn secret_of(link: &Value) -> String {
    let (_, secret) = link["url"].as_str().unwrap().split_once("#pair=").unwrap();
    secret.to_owned()
}

async fn pair(server: &TestServer, origin: &str, body: &Value) -> (StatusCode, Value) {
    let answer = send(server, Some(origin), None, Method::POST, "/api/pair", body).await;
    assert!(answer.headers().get("set-cookie").is_none(), "no cookies");
    assert_eq!(answer.headers()["access-control-allow-origin"], origin);
    (answer.status(), answer.json().await.unwrap())
}

/// Pairs an extension with the link of the terminal, and gives its token.
async fn paired(server: &TestServer, origin: &str) -> String {
    let link = owner(
        server,
        Method::POST,
        "/api/devices/printed_link",
        &json!({}),
    )
    .await;
    let (status, answer) = pair(server, origin, &json!({"secret": secret_of(&link)})).await;
    assert_eq!(
        (status, &answer["status"]),
        (StatusCode::OK, &json!("paired"))
    );
    answer["token"].as_str().unwrap().to_owned()
}

async fn me(server: &TestServer, origin: Option<&str>, token: &str) -> u16 {
    let answer = send(
        server,
        origin,
        Some(token),
        Method::GET,
        "/api/me",
        &json!({}),
    )
    .await;
    answer.status().as_u16()
}

type Socket =
    tokio_tungstenite::WebSocketStream<tokio_tungstenite::MaybeTlsStream<tokio::net::TcpStream>>;

/// Opens the native socket as a page of the extension does; the status when it is refused.
async fn socket(server: &TestServer, origin: Option<&str>, protocols: &str) -> Result<Socket, u16> {
    let url = format!("ws://{}/api/ws", server.address);
    let mut request = url.into_client_request().unwrap();
    let headers = request.headers_mut();
    headers.insert("sec-websocket-protocol", protocols.parse().unwrap());
    if let Some(origin) = origin {
        headers.insert("origin", origin.parse().unwrap());
    }
    match tokio_tungstenite::connect_async(request).await {
        Ok((socket, answer)) => {
            let chosen = &answer.headers()["sec-websocket-protocol"];
            assert_eq!(chosen, "sayso", "the token is not said again");
            Ok(socket)
        }
        Err(Error::Http(answer)) => Err(answer.status().as_u16()),
        Err(other) => panic!("{other}"),
    }
}

fn shown(token: &str) -> String {
    format!("sayso, sayso.bearer.{token}")
}

#[tokio::test]
async fn the_token_of_an_extension_is_good_from_its_origin_alone() {
    let server = TestServer::start().await;
    let token = paired(&server, OWN).await;
    let page = format!("http://{}", server.address);
    let cases = [
        (Some(OWN), 200),
        (Some(OTHER), 401),
        (Some(FIREFOX), 401),
        (None, 401),
        (Some(page.as_str()), 401),
        (Some("https://evil.example"), 403),
        (Some("null"), 403),
    ];
    for (origin, status) in cases {
        assert_eq!(me(&server, origin, &token).await, status, "{origin:?}");
        let opened = socket(&server, origin, &shown(&token)).await;
        // A page of ours shows its cookie; protocols are not looked at.
        let expected = (status == 200).then_some(()).ok_or(status);
        assert_eq!(opened.map(drop), expected, "{origin:?}");
    }
    let devices = owner(&server, Method::GET, "/api/devices", &json!({})).await;
    let device = &devices["devices"][0];
    assert_eq!(
        [&device["kind"], &device["origin"], &device["name"]],
        [
            &json!("extension"),
            &json!(OWN),
            &json!("Extension in Chrome on Linux")
        ]
    );
    server.stop().await;
}

#[tokio::test]
async fn no_other_secret_counts_for_an_extension() {
    let server = TestServer::start().await;
    let wanted = json!({"name": "a script", "scopes": ["view"]});
    let made = owner(&server, Method::POST, "/api/devices/tokens", &wanted).await;
    let script = made["token"].as_str().unwrap();
    let link = server.url(&format!("/?token={TOKEN}"));
    let client = Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap();
    let entered = client.get(link).send().await.unwrap();
    let cookie = entered.headers()["set-cookie"].to_str().unwrap();
    let cookie = cookie.split(';').next().unwrap();
    for token in [TOKEN, script] {
        assert_eq!(me(&server, Some(OWN), token).await, 401);
        let opened = socket(&server, Some(OWN), &shown(token)).await;
        assert_eq!(opened.map(drop), Err(401));
    }
    let with_cookie = client
        .get(server.url("/api/me"))
        .header("origin", OWN)
        .header("cookie", cookie);
    assert_eq!(with_cookie.send().await.unwrap().status(), 401);
    server.stop().await;
}

#[tokio::test]
async fn an_extension_that_is_not_paired_can_do_nothing_but_pair() {
    let server = TestServer::start().await;
    let nobody = "00000000-0000-4000-8000-000000000000";
    for route in table() {
        let path = route
            .path
            .replace("{id}", nobody)
            .replace("{seq}", "1")
            .replace("{question}", "0")
            .replace("{option}", "0")
            .replace("{dialect}", "ui-chatter");
        let method = route.method.clone();
        let answer = send(&server, Some(OWN), None, method, &path, &json!({})).await;
        let expected: &[u16] = match route.path {
            // It may, but a body without a secret is none.
            "/api/pair" => &[400],
            _ => &[401, 403],
        };
        let status = answer.status().as_u16();
        assert!(expected.contains(&status), "{path}: {status}");
    }
    for path in ["/", "/healthz", "/sessions", "/assets/none.js"] {
        let answer = send(&server, Some(OWN), None, Method::GET, path, &json!({})).await;
        assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{path}");
    }
    server.stop().await;
}

#[tokio::test]
async fn the_one_that_waits_keeps_its_place_by_a_ticket() {
    let server = TestServer::start().await;
    let wanted = json!({"scopes": ["view", "answer"]});
    let link = owner(&server, Method::POST, "/api/devices/pairings", &wanted).await;
    let secret = secret_of(&link);
    let (status, waiting) = pair(&server, OWN, &json!({"secret": secret})).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    let ticket = waiting["ticket"].as_str().unwrap();
    for wrong in [
        json!({"secret": secret}),
        json!({"secret": secret, "ticket": "x"}),
    ] {
        let (status, _) = pair(&server, OTHER, &wrong).await;
        assert_eq!(status, StatusCode::GONE, "{wrong}");
    }
    let devices = owner(&server, Method::GET, "/api/devices", &json!({})).await;
    let waits = &devices["pairings"][0];
    assert_eq!(waits["claim"]["name"], "Extension in Chrome on Linux");
    let confirmed = json!({"code": waiting["code"], "name": "My panel", "scopes": ["view"]});
    let id = waits["pairing_id"].as_str().unwrap();
    let path = format!("/api/devices/pairings/{id}/confirm");
    owner(&server, Method::POST, &path, &confirmed).await;
    let again = json!({"secret": secret, "ticket": ticket});
    let (status, answer) = pair(&server, OWN, &again).await;
    assert_eq!(status, StatusCode::OK);
    let token = answer["token"].as_str().unwrap();
    let answer = send(
        &server,
        Some(OWN),
        Some(token),
        Method::GET,
        "/api/me",
        &json!({}),
    )
    .await;
    let me: Value = answer.json().await.unwrap();
    assert_eq!(me["me"]["name"], "My panel");
    assert_eq!(me["me"]["scopes"], json!(["view"]));
    server.stop().await;
}

#[tokio::test]
async fn an_extension_that_is_shown_the_door_loses_its_socket_and_stays_out() {
    let server = TestServer::start().await;
    let token = paired(&server, OWN).await;
    let mut open = socket(&server, Some(OWN), &shown(&token)).await.unwrap();
    let welcome = open.next().await.unwrap().unwrap();
    assert!(welcome.to_text().unwrap().contains("\"welcome\""));
    let devices = owner(&server, Method::GET, "/api/devices", &json!({})).await;
    let id = devices["devices"][0]["device_id"].as_str().unwrap();
    let path = format!("/api/devices/{id}");
    owner(&server, Method::DELETE, &path, &json!({})).await;
    let code = loop {
        match open.next().await.unwrap().unwrap() {
            Message::Close(frame) => break u16::from(frame.unwrap().code),
            _ => continue,
        }
    };
    assert_eq!(code, 4401);
    assert_eq!(me(&server, Some(OWN), &token).await, 401);
    let again = socket(&server, Some(OWN), &shown(&token)).await;
    assert_eq!(again.map(drop), Err(401));
    server.stop().await;
}

#[tokio::test]
async fn the_binding_is_kept_across_a_restart() {
    let server = TestServer::start().await;
    let token = paired(&server, FIREFOX).await;
    let folder = server.stop().await;
    let server = TestServer::start_in(folder, sayso::config::PolicySettings::default()).await;
    assert_eq!(me(&server, Some(FIREFOX), &token).await, 200);
    assert_eq!(me(&server, Some(OWN), &token).await, 401);
    server.stop().await;
}

#[tokio::test]
async fn only_extensions_may_ask_from_elsewhere_and_read_the_answer() {
    let server = TestServer::start().await;
    let client = Client::builder().no_proxy().build().unwrap();
    let ask = async |origin: &str| {
        let request = client
            .request(Method::OPTIONS, server.url("/api/requests"))
            .header("origin", origin)
            .header("access-control-request-method", "GET")
            .header("access-control-request-headers", "authorization");
        request.send().await.unwrap()
    };
    let answer = ask(OWN).await;
    assert_eq!(answer.status(), StatusCode::NO_CONTENT);
    let headers = answer.headers();
    assert_eq!(headers["access-control-allow-origin"], OWN);
    assert_eq!(
        headers["access-control-allow-headers"],
        "authorization, content-type"
    );
    assert!(headers.get("access-control-allow-credentials").is_none());
    for origin in ["https://evil.example", "null", "chrome-extension://short"] {
        let answer = ask(origin).await;
        assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{origin}");
        let named = answer.headers().get("access-control-allow-origin");
        assert_eq!(named, None, "{origin}");
    }
    // A name of the server that is not known is refused, and the extension can say so.
    let renamed = client
        .get(server.url("/api/me"))
        .header("host", "elsewhere.example")
        .header("origin", OWN);
    let answer = renamed.send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::FORBIDDEN);
    assert_eq!(answer.headers()["access-control-allow-origin"], OWN);
    server.stop().await;
}
