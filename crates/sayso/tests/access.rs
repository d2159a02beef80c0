//! Who gets in: token, cookie, Host and Origin, on HTTP and on the socket.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a failure in a helper fails the test"
)]

mod support;

use pretty_assertions::assert_eq;
use reqwest::header::{COOKIE, HOST, LOCATION, ORIGIN, SET_COOKIE};
use reqwest::{Client, StatusCode, redirect};
use support::{TOKEN, TestServer};
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

fn browser() -> Client {
    Client::builder()
        .redirect(redirect::Policy::none())
        .no_proxy()
        .build()
        .unwrap()
}

/// Follows the printed link and gives the cookie back.
async fn cookie(server: &TestServer) -> String {
    let link = server.url(&format!("/sessions/x?token={TOKEN}"));
    let answer = browser().get(link).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    assert_eq!(
        answer.headers()[LOCATION],
        "/sessions/x",
        "the token leaves the address bar"
    );
    let cookie = answer.headers()[SET_COOKIE].to_str().unwrap().to_owned();
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"),
        "{cookie}"
    );
    assert!(!cookie.contains(TOKEN));
    cookie.split(';').next().unwrap().to_owned()
}

/// The status of an upgrade with these headers; 101 when it is let in.
async fn upgrade(server: &TestServer, headers: &[(&'static str, &str)]) -> u16 {
    let url = format!("ws://{}/api/ws", server.address);
    let mut request = url.into_client_request().unwrap();
    for (name, value) in headers {
        request.headers_mut().append(*name, value.parse().unwrap());
    }
    match tokio_tungstenite::connect_async(request).await {
        Ok((_, answer)) => answer.status().as_u16(),
        Err(Error::Http(answer)) => answer.status().as_u16(),
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test]
async fn nothing_under_api_is_open_without_the_token() {
    let server = TestServer::start().await;
    let wrong = format!("Bearer {TOKEN}x");
    for path in ["/api/me", "/api/sessions", "/api/requests", "/api/nothing"] {
        let answer = browser().get(server.url(path)).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "{path}");
        let request = browser()
            .get(server.url(path))
            .header("authorization", &wrong);
        assert_eq!(
            request.send().await.unwrap().status(),
            StatusCode::UNAUTHORIZED,
            "{path}"
        );
    }
    let link = server.url("/?token=wrong");
    let answer = browser().get(link).send().await.unwrap();
    assert!(
        answer.headers().get(SET_COOKIE).is_none(),
        "a wrong token gives no cookie"
    );
    assert_eq!(upgrade(&server, &[]).await, 401);
    assert_eq!(upgrade(&server, &[("authorization", &wrong)]).await, 401);
    let bearer = format!("Bearer {TOKEN}");
    assert_eq!(upgrade(&server, &[("authorization", &bearer)]).await, 101);
    let health = browser().get(server.url("/healthz")).send().await.unwrap();
    assert_eq!(health.status(), StatusCode::OK);
    server.stop().await;
}

#[tokio::test]
async fn odd_origins_are_refused_with_a_cookie_and_with_a_token() {
    let server = TestServer::start().await;
    let (cookie, bearer) = (cookie(&server).await, format!("Bearer {TOKEN}"));
    let (own, port) = (format!("http://{}", server.address), server.address.port());
    let odd: [&[&str]; 9] = [
        &["null"],
        &["https://evil.example"],
        &[&format!("http://localhost.evil.com:{port}")],
        &["http://127.0.0.1:1"],
        &[&format!("{own}@evil.example")],
        &[&format!("http://localhost.:{port}")],
        &[&format!("https://127.0.0.1:{port}")],
        &[&own, "https://evil.example"],
        &[&own, &own],
    ];
    for origins in odd {
        for (name, value) in [("cookie", &cookie), ("authorization", &bearer)] {
            let mut headers = vec![(name, value.as_str())];
            headers.extend(origins.iter().map(|origin| ("origin", *origin)));
            assert_eq!(upgrade(&server, &headers).await, 403, "{headers:?}");
        }
    }
    let headers = [("cookie", cookie.as_str()), ("origin", own.as_str())];
    assert_eq!(upgrade(&server, &headers).await, 101);
    server.stop().await;
}

#[tokio::test]
async fn a_cookie_counts_only_for_our_own_pages() {
    let server = TestServer::start().await;
    let cookie = cookie(&server).await;
    let own = format!("http://{}", server.address);
    let cases: [(&[(&'static str, &str)], u16); 5] = [
        (&[("cookie", &cookie), ("origin", &own)], 101),
        (&[("cookie", &cookie)], 403),
        (
            &[("cookie", &cookie), ("origin", "https://evil.example")],
            403,
        ),
        (&[("cookie", &cookie), ("origin", "null")], 403),
        (
            &[
                ("cookie", &cookie),
                ("origin", &own),
                ("sec-fetch-site", "same-site"),
            ],
            403,
        ),
    ];
    for (headers, status) in cases {
        assert_eq!(upgrade(&server, headers).await, status, "{headers:?}");
    }
    let read = browser()
        .get(server.url("/api/sessions"))
        .header(COOKIE, &cookie);
    assert_eq!(read.send().await.unwrap().status(), StatusCode::OK);
    let write = |headers: Vec<(&'static str, String)>| {
        let mut request = browser()
            .post(server.url("/api/sessions"))
            .json(&serde_json::json!({}));
        for (name, value) in headers {
            request = request.header(name, value);
        }
        request.send()
    };
    let without_origin = write(vec![("cookie", cookie.clone())]).await.unwrap();
    assert_eq!(without_origin.status(), StatusCode::FORBIDDEN);
    let with_origin = write(vec![("cookie", cookie.clone()), ("origin", own)])
        .await
        .unwrap();
    assert_eq!(
        with_origin.status(),
        StatusCode::BAD_REQUEST,
        "let in, and refused for its fields"
    );
    server.stop().await;
}

#[tokio::test]
async fn other_names_and_other_sites_are_refused() {
    let server = TestServer::start().await;
    let port = server.address.port();
    for host in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        "127.0.0.1".to_owned(),
    ] {
        for path in ["/", "/healthz", "/api/me"] {
            let request = browser().get(server.url(path)).header(HOST, &host);
            assert_eq!(
                request.send().await.unwrap().status(),
                StatusCode::FORBIDDEN,
                "{host} {path}"
            );
        }
    }
    let named = browser()
        .get(server.url("/healthz"))
        .header(HOST, format!("LOCALHOST:{port}"));
    assert_eq!(named.send().await.unwrap().status(), StatusCode::OK);
    let other = browser()
        .get(server.url("/api/me"))
        .bearer_auth(TOKEN)
        .header(ORIGIN, "http://localhost:1");
    assert_eq!(other.send().await.unwrap().status(), StatusCode::FORBIDDEN);
    server.stop().await;
}

#[tokio::test]
async fn every_answer_carries_the_headers_that_keep_a_page_in_its_place() {
    let server = TestServer::start().await;
    for path in ["/", "/api/me", "/nothing.js"] {
        let answer = browser().get(server.url(path)).send().await.unwrap();
        let policy = answer.headers()["content-security-policy"]
            .to_str()
            .unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
        assert!(!policy.contains("unsafe"), "{policy}");
        assert!(
            policy.ends_with("trusted-types dompurify vue worker"),
            "a policy that is not used could be made by somebody else: {policy}"
        );
        assert_eq!(
            answer.headers()["x-content-type-options"],
            "nosniff",
            "{path}"
        );
        assert_eq!(answer.headers()["referrer-policy"], "no-referrer", "{path}");
        for (name, value) in [
            ("x-frame-options", "DENY"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cross-origin-embedder-policy", "require-corp"),
        ] {
            assert_eq!(answer.headers()[name], value, "{name} of {path}");
        }
        let permissions = answer.headers()["permissions-policy"].to_str().unwrap();
        let granted = permissions.split(", ").filter(|one| !one.ends_with("=()"));
        assert_eq!(
            granted.collect::<Vec<_>>(),
            ["autoplay=(self)", "clipboard-write=(self)"]
        );
        assert!(
            answer
                .headers()
                .get("access-control-allow-origin")
                .is_none()
        );
    }
    server.stop().await;
}

#[tokio::test]
async fn the_link_leads_nowhere_else() {
    let server = TestServer::start().await;
    for path in ["//evil.example/x", "/%5Cevil.example", "///evil.example"] {
        for token in [TOKEN, "wrong"] {
            let url = format!("{}{path}?token={token}", server.url(""));
            let answer = browser().get(url).send().await.unwrap();
            let location = answer.headers()[LOCATION].to_str().unwrap().to_owned();
            let own = location.starts_with('/') && !location[1..].starts_with(['/', '\\']);
            assert!(own, "{path}: {location}");
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn every_refusal_of_the_api_is_json_with_a_code() {
    let server = TestServer::start().await;
    let nobody = "00000000-0000-4000-8000-000000000000";
    let get = |path: String| browser().get(server.url(&path)).bearer_auth(TOKEN);
    let post = |path: String| browser().post(server.url(&path)).bearer_auth(TOKEN);
    let cases = [
        (get("/api/nothing".to_owned()), 404, "not_found"),
        (
            get("/api/requests/no-uuid".to_owned()),
            400,
            "invalid_message",
        ),
        (
            get(format!("/api/requests/{nobody}")),
            404,
            "unknown_request",
        ),
        (
            get(format!("/api/sessions/{nobody}/transcript")),
            404,
            "unknown_session",
        ),
        (
            get(format!("/api/sessions/{nobody}/transcript?after=x")),
            400,
            "invalid_message",
        ),
        (post("/api/requests".to_owned()), 405, "not_found"),
        (
            post("/api/sessions".to_owned()).body("{}"),
            400,
            "invalid_message",
        ),
        (
            post(format!("/api/sessions/{nobody}/stop")),
            404,
            "unknown_session",
        ),
        (
            post("/api/sessions".to_owned()).body(vec![b' '; 9 << 20]),
            413,
            "message_too_large",
        ),
    ];
    for (request, status, code) in cases {
        let answer = request.send().await.unwrap();
        let url = answer.url().clone();
        assert_eq!(answer.status().as_u16(), status, "{url}");
        let body: serde_json::Value = answer.json().await.unwrap();
        assert_eq!(body["code"], code, "{url}");
    }
    server.stop().await;
}
