//! Pairing, devices, tokens, scopes and the password, over the real routes.

#![expect(clippy::unwrap_used, reason = "a failure in a helper fails the test")]

mod expire;
mod support;

use pretty_assertions::assert_eq;
use reqwest::{Client, Method, Response, StatusCode};
use serde_json::{Value, json};
use support::{TOKEN, TestServer, bash};

/// A browser with its own cookies, on a page of the server.
struct Browser<'a> {
    server: &'a TestServer,
    client: Client,
    cookies: Vec<String>,
}

impl<'a> Browser<'a> {
    fn of(server: &'a TestServer) -> Self {
        Self {
            server,
            client: Client::builder().no_proxy().build().unwrap(),
            cookies: Vec::new(),
        }
    }

    async fn send(&mut self, method: Method, path: &str, body: &Value) -> Response {
        let origin = format!("http://{}", self.server.address);
        let request = self
            .client
            .request(method, self.server.url(path))
            .header("origin", origin)
            .header("cookie", self.cookies.join("; "))
            .header(
                "user-agent",
                "Mozilla/5.0 (iPhone) Version/19.0 Safari/604.1",
            )
            .json(body);
        let answer = request.send().await.unwrap();
        for cookie in answer.headers().get_all("set-cookie") {
            let pair = cookie.to_str().unwrap().split(';').next().unwrap();
            self.cookies.push(pair.to_owned());
        }
        answer
    }

    async fn pair(&mut self, secret: &str) -> (StatusCode, Value) {
        let body = json!({"secret": secret});
        let answer = self.send(Method::POST, "/api/pair", &body).await;
        (answer.status(), answer.json().await.unwrap())
    }

    async fn is_in(&mut self) -> bool {
        let answer = self.send(Method::GET, "/api/me", &json!({})).await;
        answer.status() == StatusCode::OK
    }
}

/// With a token; the owner's unless it is said otherwise.
async fn api(
    server: &TestServer,
    token: &str,
    method: Method,
    path: &str,
    body: Value,
) -> (StatusCode, Value) {
    let client = Client::builder().no_proxy().build().unwrap();
    let request = client
        .request(method, server.url(path))
        .bearer_auth(token)
        .json(&body);
    let answer = request.send().await.unwrap();
    (answer.status(), answer.json().await.unwrap())
}

async fn post(server: &TestServer, path: &str, body: Value) -> Value {
    let (status, answer) = api(server, TOKEN, Method::POST, path, body).await;
    assert!(status.is_success(), "{path}: {status} {answer}");
    answer
}

fn secret_of(link: &Value) -> String {
    let url = link["url"].as_str().unwrap();
    let (_, secret) = url.split_once("#pair=").unwrap();
    secret.to_owned()
}

async fn token(server: &TestServer, scopes: &[&str]) -> (String, String) {
    let body = json!({"name": "a script", "scopes": scopes});
    let made = post(server, "/api/devices/tokens", body).await;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&made["token"]), text(&made["device"]["device_id"]))
}

async fn devices(server: &TestServer) -> Vec<Value> {
    let (_, answer) = api(server, TOKEN, Method::GET, "/api/devices", json!({})).await;
    answer["devices"].as_array().unwrap().clone()
}

#[tokio::test]
async fn the_printed_link_lets_one_of_two_browsers_in() {
    let server = TestServer::start().await;
    let link = post(&server, "/api/devices/printed_link", json!({})).await;
    let secret = secret_of(&link);
    let (mut one, mut other) = (Browser::of(&server), Browser::of(&server));
    let (first, second) = tokio::join!(one.pair(&secret), other.pair(&secret));
    let mut seen = [first.0.as_u16(), second.0.as_u16()];
    seen.sort_unstable();
    assert_eq!(seen, [200, 410]);
    assert_eq!(
        [one.is_in().await, other.is_in().await]
            .iter()
            .filter(|inside| **inside)
            .count(),
        1
    );
    let names: Vec<Value> = devices(&server)
        .await
        .iter()
        .map(|device| device["name"].clone())
        .collect();
    assert_eq!(names, ["Safari on iPhone"]);
    server.stop().await;
}

#[tokio::test]
async fn a_phone_waits_until_it_is_confirmed_elsewhere() {
    let server = TestServer::start().await;
    let mut desk = server.connect().await;
    let link = post(
        &server,
        "/api/devices/pairings",
        json!({"scopes": ["view", "answer"]}),
    )
    .await;
    let size = link["qr"]["size"].as_u64().unwrap();
    let modules = link["qr"]["modules"].as_str().unwrap();
    assert_eq!(modules.len() as u64, size * size);
    let secret = secret_of(&link);
    let mut phone = Browser::of(&server);
    let (status, waiting) = phone.pair(&secret).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    let code = waiting["code"].as_str().unwrap();
    assert!(!phone.is_in().await, "not before it is confirmed");
    let claimed = |frame: &Value| {
        frame["type"] == "devices" && frame["pairings"][0]["claim"]["code"] == json!(code)
    };
    let shown = desk.wait_for(claimed).await;
    assert_eq!(shown["pairings"][0]["claim"]["name"], "Safari on iPhone");

    let mut thief = Browser::of(&server);
    let (status, body) = thief.pair(&secret).await;
    assert_eq!(
        (status.as_u16(), &body["code"]),
        (410, &json!("pairing_over"))
    );

    let id = link["pairing"]["pairing_id"].as_str().unwrap();
    let confirm = format!("/api/devices/pairings/{id}/confirm");
    let wanted = |code: &str| json!({"code": code, "name": "My phone", "scopes": ["view"]});
    let other = if code == "000000" { "000001" } else { "000000" };
    let (status, _) = api(&server, TOKEN, Method::POST, &confirm, wanted(other)).await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "another code");
    post(&server, &confirm, wanted(code)).await;
    assert_eq!(thief.pair(&secret).await.0.as_u16(), 410);
    assert_eq!(phone.pair(&secret).await.1["status"], "paired");
    assert!(phone.is_in().await);
    assert_eq!(phone.pair(&secret).await.0.as_u16(), 410, "good once");
    let known = devices(&server).await;
    assert_eq!(known.len(), 1);
    assert_eq!(known[0]["name"], "My phone");
    assert_eq!(known[0]["scopes"], json!(["view"]));
    server.stop().await;
}

#[tokio::test]
async fn a_refused_phone_stays_out() {
    let server = TestServer::start().await;
    let link = post(&server, "/api/devices/pairings", json!({"scopes": []})).await;
    let (secret, mut phone) = (secret_of(&link), Browser::of(&server));
    phone.pair(&secret).await;
    let id = link["pairing"]["pairing_id"].as_str().unwrap();
    let refuse = format!("/api/devices/pairings/{id}/refuse");
    post(&server, &refuse, json!({})).await;
    assert_eq!(phone.pair(&secret).await.1["status"], "refused");
    assert!(!phone.is_in().await);
    assert!(devices(&server).await.is_empty());
    server.stop().await;
}

#[tokio::test]
async fn a_revoked_device_is_out_at_once_and_after_a_restart() {
    let server = TestServer::start().await;
    let (kept, _) = token(&server, &["view"]).await;
    let (lost, id) = token(&server, &["view", "answer"]).await;
    let mut socket = server.connect_with(&lost).await;
    assert_eq!(socket.next().await["me"]["device_id"], json!(id));
    let path = format!("/api/devices/{id}");
    let (status, _) = api(&server, TOKEN, Method::DELETE, &path, json!({})).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(socket.close_code().await, Some(4401));
    let me = async |server: &TestServer, token: &str| {
        let (status, _) = api(server, token, Method::GET, "/api/me", json!({})).await;
        status.as_u16()
    };
    assert_eq!(me(&server, &lost).await, 401);
    let folder = server.stop().await;
    let server = TestServer::start_in(folder, sayso::config::PolicySettings::default()).await;
    assert_eq!(me(&server, &lost).await, 401);
    assert_eq!(me(&server, &kept).await, 200);
    server.stop().await;
}

/// In each dialect, a yes that is on its way while the device is shown the door.
#[tokio::test]
async fn a_revoked_device_decides_nothing_any_more() {
    let server = TestServer::start().await;
    let mut owner = server.connect().await;
    let session = owner.start(&server, &bash("touch here")).await;
    let request = owner.opened().await;
    let native = json!({"type": "respond", "request_id": request["request_id"],
        "input_digest": request["input_digest"], "decision": {"behavior": "allow"}});
    let compat = json!({"type": "pending_request_response", "session_id": session,
        "request_id": request["request_id"], "request_type": "tool_approval",
        "decision": "allow"});
    for (dialect, frame) in [(None, native), (Some("twicc"), compat)] {
        let (script, id) = token(&server, &["view", "answer", "approve"]).await;
        let mut socket = match dialect {
            None => server.connect_with(&script).await,
            Some(dialect) => server.connect_compat(dialect, &script).await,
        };
        socket.next().await;
        let path = format!("/api/devices/{id}");
        let (status, _) = api(&server, TOKEN, Method::DELETE, &path, json!({})).await;
        assert_eq!(status, StatusCode::OK);
        socket.send_text_ignoring_errors(&frame.to_string()).await;
        assert_eq!(socket.close_code().await, Some(4401), "{dialect:?}");
        let open = api(&server, TOKEN, Method::GET, "/api/requests", json!({})).await;
        let still = &open.1["pending_requests"][0]["request_id"];
        assert_eq!(still, &request["request_id"], "{dialect:?}");
    }
    server.stop().await;
}

/// The end of a token ends its sockets, too, though nobody revokes it and they say nothing.
#[tokio::test]
async fn a_token_that_expires_loses_its_open_sockets() {
    let mut server = TestServer::start().await;
    let (script, _) = token(&server, &["view"]).await;
    // On a slow machine the first one may be over before the sockets are open.
    for seconds in [4, 20, 40] {
        let folder = server.stop().await;
        let database = folder.path().join("data/sayso.db");
        expire::all(&database, jiff::SignedDuration::from_secs(seconds)).await;
        server = TestServer::start_in(folder, sayso::config::PolicySettings::default()).await;
        let socket = |path: &str| {
            let url = format!("ws://{}{path}", server.address);
            let script = script.clone();
            async move { support::Client::try_at(&url, &script).await }
        };
        let (native, compat) = (socket("/api/ws").await, socket("/compat/twicc/ws").await);
        let (Ok(mut native), Ok(mut compat)) = (native, compat) else {
            continue;
        };
        assert_eq!(native.close_code().await, Some(4401));
        assert_eq!(compat.close_code().await, Some(4401));
        let (status, _) = api(&server, &script, Method::GET, "/api/me", json!({})).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED);
        server.stop().await;
        return;
    }
    panic!("the machine is too slow for this");
}

#[tokio::test]
async fn other_scopes_hold_at_once() {
    let server = TestServer::start().await;
    let (script, id) = token(&server, &["view", "answer", "approve"]).await;
    let mut socket = server.connect_with(&script).await;
    socket.next().await;
    let path = format!("/api/devices/{id}");
    post(&server, &path, json!({"scopes": ["view"]})).await;
    assert_eq!(socket.close_code().await, Some(4100), "it connects again");
    let mut socket = server.connect_with(&script).await;
    assert_eq!(socket.next().await["me"]["scopes"], json!(["view"]));
    server.stop().await;
}

#[tokio::test]
async fn a_device_does_what_its_scopes_say_and_no_more() {
    let server = TestServer::start().await;
    let mut owner = server.connect().await;
    owner.start(&server, &bash("touch here")).await;
    let request = owner.opened().await;
    let decide = |behavior: &str| {
        json!({"type": "respond", "request_id": request["request_id"],
            "input_digest": request["input_digest"], "decision": {"behavior": behavior}})
    };
    let path = format!(
        "/api/requests/{}/decision",
        request["request_id"].as_str().unwrap()
    );
    let body = json!({"input_digest": request["input_digest"], "decision": {"behavior": "allow"}});
    let rule = json!({"type": "add_rule", "rule": "Bash(ls:*)", "effect": "allow",
        "scope": {"kind": "everywhere"}});
    let cases: [(&[&str], bool); 4] = [
        (&["view"], false),
        (&["view", "answer"], false),
        (&["view", "rules", "admin"], false),
        (&["view", "answer", "approve"], true),
    ];
    for (scopes, may) in cases {
        let (script, _) = token(&server, scopes).await;
        let mut socket = server.connect_with(&script).await;
        socket.next().await;
        let ruled = socket.call(rule.clone()).await;
        let may_rule = scopes.contains(&"rules");
        assert_eq!(
            ruled["code"] == "forbidden",
            !may_rule,
            "{scopes:?} {ruled}"
        );
        if !may {
            let refused = socket.call(decide("allow")).await;
            assert_eq!(refused["code"], "forbidden", "{scopes:?}");
            let (status, _) = api(&server, &script, Method::POST, &path, body.clone()).await;
            assert_eq!(status, StatusCode::FORBIDDEN, "{scopes:?} over REST");
        } else {
            let done = socket.call(decide("allow")).await;
            assert_eq!(done["type"], "ack", "{scopes:?} {done}");
        }
    }
    assert_eq!(owner.closed(&request).await["what"], "allowed");
    server.stop().await;
}

#[tokio::test]
async fn saying_no_needs_the_scope_to_answer_only() {
    let server = TestServer::start().await;
    let mut owner = server.connect().await;
    owner.start(&server, &bash("touch here")).await;
    let request = owner.opened().await;
    let (script, _) = token(&server, &["answer"]).await;
    let mut socket = server.connect_with(&script).await;
    socket.next().await;
    let done = socket.respond(&request, json!({"behavior": "deny"})).await;
    assert_eq!(done["type"], "ack", "{done}");
    let outcome = owner.closed(&request).await;
    assert_eq!(outcome["client"]["label"], "a script", "{outcome}");
    server.stop().await;
}

#[tokio::test]
async fn nobody_gives_away_more_than_they_have() {
    let server = TestServer::start().await;
    let (manager, _) = token(&server, &["admin"]).await;
    let body = json!({"name": "more", "scopes": ["approve"]});
    let tokens = "/api/devices/tokens";
    let (status, answer) = api(&server, &manager, Method::POST, tokens, body).await;
    assert_eq!(status, StatusCode::FORBIDDEN, "{answer}");
    let bad = [
        json!({"name": "", "scopes": ["view"]}),
        json!({"name": "x".repeat(200), "scopes": ["view"]}),
        json!({"name": "x", "scopes": ["root"]}),
        json!({"name": "x", "scopes": ["view"], "expires_in_days": 0}),
        json!({"name": "x", "scopes": ["view"], "role": "admin"}),
    ];
    for body in bad {
        let (status, answer) = api(&server, TOKEN, Method::POST, tokens, body.clone()).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{body} {answer}");
        assert_eq!(answer["code"], "invalid_message");
    }
    server.stop().await;
}

/// It lets a browser in that may do everything, and nobody confirms it.
#[tokio::test]
async fn a_link_like_the_printed_one_is_made_by_the_owner_alone() {
    let server = TestServer::start().await;
    let path = "/api/devices/printed_link";
    let all: &[&str] = &["view", "answer", "approve", "rules", "admin"];
    for scopes in [&["admin"], all] {
        let (script, _) = token(&server, scopes).await;
        let (status, answer) = api(&server, &script, Method::POST, path, json!({})).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{scopes:?} {answer}");
        assert_eq!(answer["url"], Value::Null);
    }
    let secret = secret_of(&post(&server, path, json!({})).await);
    let mut browser = Browser::of(&server);
    browser.pair(&secret).await;
    assert!(browser.is_in().await);
    let answer = browser.send(Method::POST, path, &json!({})).await;
    assert_eq!(answer.status(), StatusCode::FORBIDDEN, "a browser is none");
    server.stop().await;
}

#[tokio::test]
async fn the_password_is_asked_for_before_risky_actions() {
    let server = TestServer::start().await;
    let password = |body: Value| post(&server, "/api/password", body);
    password(json!({"new": "correct horse"})).await;
    let mut owner = server.connect().await;
    let rule = json!({"type": "add_rule", "rule": "Bash(ls:*)", "effect": "allow",
        "scope": {"kind": "everywhere"}});
    let refused = owner.call(rule.clone()).await;
    assert_eq!(refused["code"], "proof_required");
    owner.start(&server, &bash("rm -rf build")).await;
    let request = owner.opened().await;
    assert_eq!(request["destructive"], true, "{request}");
    let refused = owner.respond(&request, json!({"behavior": "allow"})).await;
    assert_eq!(refused["code"], "proof_required");
    let (status, answer) = api(
        &server,
        TOKEN,
        Method::POST,
        "/api/devices/tokens",
        json!({"name": "x", "scopes": ["view"]}),
    )
    .await;
    assert_eq!(
        (status.as_u16(), &answer["code"]),
        (403, &json!("proof_required"))
    );

    let prove = |text: &str| {
        let body = json!({"password": text});
        api(&server, TOKEN, Method::POST, "/api/prove", body)
    };
    assert_eq!(prove("wrong").await.0, StatusCode::FORBIDDEN);
    assert_eq!(prove("correct horse").await.0, StatusCode::OK);
    let added = owner.call(rule).await;
    assert_eq!(added["type"], "ack", "{added}");
    let done = owner.respond(&request, json!({"behavior": "deny"})).await;
    assert_eq!(done["type"], "ack", "{done}");

    for _ in 0..3 {
        assert_eq!(prove("wrong").await.0, StatusCode::FORBIDDEN);
    }
    let (status, slowed) = prove("correct horse").await;
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS, "{slowed}");
    assert!(slowed["retry_after_seconds"].as_u64().unwrap() <= 600);
    let (status, _) = api(&server, TOKEN, Method::GET, "/api/me", json!({})).await;
    assert_eq!(status, StatusCode::OK, "whoever is in stays in");
    server.stop().await;
}

/// What would run counts, and not what was asked for.
#[tokio::test]
async fn an_edit_that_cannot_be_taken_back_wants_the_password_as_well() {
    let server = TestServer::start().await;
    post(&server, "/api/password", json!({"new": "correct horse"})).await;
    let mut owner = server.connect().await;
    owner.start(&server, &bash("touch here")).await;
    let request = owner.opened().await;
    assert_eq!(request["destructive"], false, "{request}");
    let edit = json!({"behavior": "allow", "updated_input": {"command": "rm -rf build"}});
    let refused = owner.respond(&request, edit.clone()).await;
    assert_eq!(refused["code"], "proof_required", "{refused}");
    let proof = json!({"password": "correct horse"});
    post(&server, "/api/prove", proof).await;
    let done = owner.respond(&request, edit).await;
    assert_eq!(done["type"], "ack", "{done}");
    assert_eq!(owner.closed(&request).await["edited"], true);
    server.stop().await;
}

/// Anybody can write these headers. Without `--behind-proxy` there is not even a proxy that could.
#[tokio::test]
async fn what_is_said_of_other_hosts_and_addresses_is_not_believed() {
    let server = TestServer::start().await;
    let client = Client::builder().no_proxy().build().unwrap();
    let forwarded = |request: reqwest::RequestBuilder, host: &str, address: &str| {
        request
            .header("x-forwarded-host", host)
            .header("x-forwarded-proto", "https")
            .header("x-forwarded-for", address)
            .header("x-real-ip", address)
            .header(
                "forwarded",
                format!("for={address};host={host};proto=https"),
            )
    };
    let own = server.address.to_string();
    let ask = client.get(server.url("/api/me")).bearer_auth(TOKEN);
    let ask = forwarded(ask.header("host", "evil.example"), &own, "127.0.0.1");
    assert_eq!(ask.send().await.unwrap().status(), StatusCode::FORBIDDEN);
    let link = client.post(server.url("/api/devices/pairings"));
    let link = link.bearer_auth(TOKEN).json(&json!({"scopes": ["view"]}));
    let link = forwarded(link, "evil.example", "203.0.113.9").send().await;
    let link: Value = link.unwrap().json().await.unwrap();
    let url = link["url"].as_str().unwrap();
    assert!(url.starts_with(&format!("http://{own}/")), "{url}");
    let pair = client.post(server.url("/api/pair"));
    let pair = pair.json(&json!({"secret": secret_of(&link)}));
    let pair = forwarded(pair, "evil.example", "203.0.113.9").send().await;
    assert_eq!(pair.unwrap().status(), StatusCode::ACCEPTED);
    let (_, seen) = api(&server, TOKEN, Method::GET, "/api/devices", json!({})).await;
    assert_eq!(seen["pairings"][0]["claim"]["address"], "127.0.0.1");
    let mut statuses = Vec::new();
    for number in 0..70 {
        let wrong = client.get(server.url("/api/me")).bearer_auth("wrong");
        let wrong = forwarded(wrong, &own, &format!("203.0.113.{number}"));
        statuses.push(wrong.send().await.unwrap().status().as_u16());
    }
    assert_eq!(statuses.last(), Some(&429), "another address for each try");
    server.stop().await;
}

#[tokio::test]
async fn wrong_tokens_are_slowed_down_and_the_right_one_is_not() {
    let server = TestServer::start().await;
    let me = |token: &'static str| api(&server, token, Method::GET, "/api/me", json!({}));
    let mut seen = Vec::new();
    for _ in 0..70 {
        seen.push(me("wrong").await.0.as_u16());
    }
    assert_eq!(seen[0], 401);
    assert_eq!(*seen.last().unwrap(), 429);
    assert_eq!(me(TOKEN).await.0, StatusCode::OK);
    let mut browser = Browser::of(&server);
    assert_eq!(browser.pair("wrong").await.0.as_u16(), 429);
    let page = async |token: &str| {
        let client = Client::builder().no_proxy();
        let client = client.redirect(reqwest::redirect::Policy::none());
        let page = server.url(&format!("/?token={token}"));
        let answer = client.build().unwrap().get(page).send().await.unwrap();
        answer.status().as_u16()
    };
    assert_eq!([page("wrong").await, page(TOKEN).await], [429, 303]);
    let link = post(&server, "/api/devices/printed_link", json!({})).await;
    let (status, entered) = browser.pair(&secret_of(&link)).await;
    assert_eq!(status, StatusCode::OK, "{entered}");
    server.stop().await;
}

/// Any page can make a browser ask for a picture, and a picture's address can hold a token.
#[tokio::test]
async fn the_tries_of_other_pages_count_for_nothing() {
    let server = TestServer::start().await;
    let client = Client::builder().no_proxy();
    let client = client.redirect(reqwest::redirect::Policy::none());
    let client = client.build().unwrap();
    let picture = async |path: String| {
        let request = client.get(server.url(&path));
        let request = request.header("sec-fetch-site", "cross-site");
        let answer = request.send().await.unwrap();
        let cookie = answer.headers().contains_key("set-cookie");
        assert!(!cookie, "{path} lets nobody in");
        answer.status().as_u16()
    };
    for _ in 0..80 {
        assert_eq!(picture("/?token=wrong".to_owned()).await, 303);
        let socket = "/compat/twicc/ws?token=wrong".to_owned();
        assert_eq!(picture(socket).await, 403);
    }
    assert_eq!(picture(format!("/?token={TOKEN}")).await, 303);
    let (status, _) = api(&server, "wrong", Method::GET, "/api/me", json!({})).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED, "the first that counts");
    server.stop().await;
}

#[tokio::test]
async fn a_device_that_guesses_the_password_holds_up_nobody_else() {
    let server = TestServer::start().await;
    let (script, _) = token(&server, &["view"]).await;
    post(&server, "/api/password", json!({"new": "correct horse"})).await;
    let prove = |token: String, text: &str| {
        let (server, body) = (&server, json!({"password": text}));
        async move {
            api(server, &token, Method::POST, "/api/prove", body)
                .await
                .0
        }
    };
    let mut seen = Vec::new();
    for _ in 0..5 {
        seen.push(prove(script.clone(), "wrong").await.as_u16());
    }
    assert_eq!(seen, [403, 403, 403, 429, 429]);
    let owners = prove(TOKEN.to_owned(), "correct horse").await;
    assert_eq!(owners, StatusCode::OK, "at the same address");
    server.stop().await;
}

#[tokio::test]
async fn no_secret_is_kept_and_the_history_tells_who_was_let_in() {
    let server = TestServer::start().await;
    let (script, _) = token(&server, &["view"]).await;
    let link = post(&server, "/api/devices/printed_link", json!({})).await;
    let (pairing, mut browser) = (secret_of(&link), Browser::of(&server));
    browser.pair(&pairing).await;
    let cookie = browser.cookies[0].split_once('=').unwrap().1.to_owned();
    post(&server, "/api/password", json!({"new": "correct horse"})).await;
    let (_, history) = api(
        &server,
        TOKEN,
        Method::GET,
        "/api/history?kind=access",
        json!({}),
    )
    .await;
    let told: Vec<&str> = history["entries"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|entry| entry["outcome"].as_str())
        .collect();
    assert_eq!(told, ["password set", "device let in", "token made"]);
    let folder = server.stop().await;
    let secret = |shown: &str| shown.split_once('.').unwrap().1.to_owned();
    let secrets = [
        secret(&script),
        secret(&cookie),
        pairing,
        "correct horse".to_owned(),
        TOKEN.to_owned(),
    ];
    let mut files = 0;
    for file in std::fs::read_dir(folder.path().join("data")).unwrap() {
        let Ok(content) = std::fs::read(file.unwrap().path()) else {
            continue;
        };
        files += 1;
        for secret in &secrets {
            let mut windows = content.windows(secret.len());
            assert!(!windows.any(|window| window == secret.as_bytes()));
        }
    }
    assert!(files > 0);
}

#[tokio::test]
async fn a_forgotten_password_is_removed_at_the_terminal() {
    let server = TestServer::start().await;
    post(&server, "/api/password", json!({"new": "correct horse"})).await;
    let data = server.folder.path().join("data");
    let remove = async || {
        let command = tokio::process::Command::new(env!("CARGO_BIN_EXE_sayso"))
            .args(["password", "--data-dir"])
            .arg(&data)
            .arg("remove")
            .env_clear()
            .env("HOME", &data)
            .output();
        command.await.unwrap()
    };
    let refused = remove().await;
    assert!(!refused.status.success(), "not while the server runs");
    let folder = server.stop().await;
    let removed = remove().await;
    assert!(removed.status.success(), "{removed:?}");
    let server = TestServer::start_in(folder, sayso::config::PolicySettings::default()).await;
    let (_, me) = api(&server, TOKEN, Method::GET, "/api/me", json!({})).await;
    assert_eq!(me["me"]["password_set"], false, "{me}");
    server.stop().await;
}
