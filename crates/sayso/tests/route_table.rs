//! Every route of the API, against everybody who should not get in.

#![expect(clippy::unwrap_used, reason = "a failure in a helper fails the test")]

mod expire;
mod support;

use pretty_assertions::assert_eq;
use reqwest::{Client, Method, RequestBuilder, redirect};
use sayso::config::PolicySettings;
use sayso::web::{Need, table};
use sayso_protocol::Scope;
use serde_json::{Value, json};
use support::{TOKEN, TestServer};

const NOBODY: &str = "00000000-0000-4000-8000-000000000000";

struct World {
    server: TestServer,
    client: Client,
    cookie: String,
    revoked_cookie: String,
    revoked: String,
    expired: String,
    expired_cookie: String,
}

impl World {
    async fn new() -> Self {
        let mut world = Self::on(TestServer::start().await);
        let (expired, port) = (world.token(&["admin"]).await, world.server.address.port());
        let expired_cookie = world.let_in().await;
        let folder = world.server.stop().await;
        let database = folder.path().join("data/sayso.db");
        expire::all(&database, jiff::SignedDuration::from_mins(-1)).await;
        let server = TestServer::start_in(folder, PolicySettings::default()).await;
        world = Self::on(server);
        world.expired = expired;
        // Its name holds the port.
        let port_now = world.server.address.port().to_string();
        world.expired_cookie = expired_cookie.replacen(&port.to_string(), &port_now, 1);
        world.cookie = world.let_in().await;
        world.revoked_cookie = world.let_in().await;
        world.revoked = world.token(&["admin"]).await;
        world.revoke_all_but_first().await;
        world
    }

    fn on(server: TestServer) -> Self {
        let client = Client::builder()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .build()
            .unwrap();
        Self {
            server,
            client,
            cookie: String::new(),
            revoked_cookie: String::new(),
            revoked: String::new(),
            expired: String::new(),
            expired_cookie: String::new(),
        }
    }

    async fn let_in(&self) -> String {
        let link = self.server.url(&format!("/?token={TOKEN}"));
        let answer = self.client.get(link).send().await.unwrap();
        let cookie = answer.headers()["set-cookie"].to_str().unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    async fn token(&self, scopes: &[&str]) -> String {
        let request = self.owner(Method::POST, "/api/devices/tokens");
        let body = json!({"name": "a script", "scopes": scopes});
        let answer = request.json(&body).send().await.unwrap();
        let made: Value = answer.json().await.unwrap();
        made["token"].as_str().unwrap().to_owned()
    }

    async fn revoke_all_but_first(&self) {
        let answer = self
            .owner(Method::GET, "/api/devices")
            .send()
            .await
            .unwrap();
        let listed: Value = answer.json().await.unwrap();
        for device in listed["devices"].as_array().unwrap().iter().skip(1) {
            let path = format!("/api/devices/{}", device["device_id"].as_str().unwrap());
            let answer = self.owner(Method::DELETE, &path).send().await.unwrap();
            assert!(answer.status().is_success());
        }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, self.server.url(path))
    }

    fn owner(&self, method: Method, path: &str) -> RequestBuilder {
        self.request(method, path).bearer_auth(TOKEN)
    }
}

/// The status, the code, and that nothing else is said.
async fn refusal(request: RequestBuilder) -> (u16, String) {
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    assert!(
        answer
            .headers()
            .get("access-control-allow-origin")
            .is_none()
    );
    let body: Value = answer.json().await.unwrap_or_default();
    let said: Vec<&String> = body
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name)
        .collect();
    if status >= 400 {
        let known = ["code", "message", "retry_after_seconds"];
        assert!(
            said.iter().all(|name| known.contains(&name.as_str())),
            "{body}"
        );
    }
    (status, body["code"].as_str().unwrap_or_default().to_owned())
}

fn path(route: &sayso::web::Route) -> String {
    let path = route.path.replace("{seq}", "1").replace("{question}", "0");
    let path = path.replace("{option}", "0").replace("{id}", NOBODY);
    path.replace("{dialect}", "twicc")
}

fn is_socket(path: &str) -> bool {
    path.ends_with("/ws")
}

/// What a handshake needs; without it the refusal would be about that.
fn as_socket(request: RequestBuilder, path: &str) -> RequestBuilder {
    if !is_socket(path) {
        return request;
    }
    request
        .header("connection", "upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==")
}

fn refused(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

#[tokio::test]
async fn every_route_refuses_whoever_shows_no_valid_credential() {
    for case in [
        "none",
        "wrong",
        "revoked",
        "expired",
        "revoked cookie",
        "expired cookie",
        "in the address",
    ] {
        // A server each, since wrong tokens are slowed down.
        let world = World::new().await;
        for route in table() {
            let path = path(&route);
            if route.need == Need::Nothing {
                continue;
            }
            let request = world.request(route.method.clone(), &path);
            let request = as_socket(request, &path);
            let request = match case {
                "none" => request,
                "wrong" => request.bearer_auth("wrong"),
                "revoked" => request.bearer_auth(&world.revoked),
                "expired" => request.bearer_auth(&world.expired),
                "revoked cookie" => request
                    .header("cookie", &world.revoked_cookie)
                    .header("origin", format!("http://{}", world.server.address)),
                "expired cookie" => request
                    .header("cookie", &world.expired_cookie)
                    .header("origin", format!("http://{}", world.server.address)),
                // The only place where the address may hold a token.
                _ if path.starts_with("/compat/") => request.query(&[("token", "wrong")]),
                _ => request.query(&[("token", TOKEN)]),
            };
            let seen = refusal(request).await;
            let name = format!("{} {path}: {case}", route.method);
            assert_eq!(seen, refused(401, "unauthorized"), "{name}");
        }
        world.server.stop().await;
    }
}

#[tokio::test]
async fn every_route_refuses_other_names_and_other_pages() {
    let world = World::new().await;
    let own = format!("http://{}", world.server.address);
    for route in table() {
        let path = path(&route);
        let socket = is_socket(&path);
        let reads = route.method == Method::GET && !socket;
        let ask = || as_socket(world.request(route.method.clone(), &path), &path);
        let cookie = || ask().header("cookie", &world.cookie);
        let mut cases = vec![
            (
                "another name",
                ask().bearer_auth(TOKEN).header("host", "evil.example"),
            ),
            (
                "another page",
                ask()
                    .bearer_auth(TOKEN)
                    .header("origin", "https://evil.example"),
            ),
            ("no page", cookie().header("origin", "null")),
            (
                "another port",
                cookie().header("origin", "http://127.0.0.1:1"),
            ),
        ];
        if route.need != Need::Nothing {
            let foreign = cookie().header("sec-fetch-site", "cross-site");
            cases.push(("a foreign site", foreign));
            let beside = cookie()
                .header("origin", &own)
                .header("sec-fetch-site", "same-site");
            cases.push(("a site beside", beside));
            if !reads {
                cases.push(("a cookie without an origin", cookie()));
            }
        }
        for (name, request) in cases {
            let name = format!("{} {path}: {name}", route.method);
            assert_eq!(refusal(request).await, refused(403, "forbidden"), "{name}");
        }
    }
    world.server.stop().await;
}

#[tokio::test]
async fn no_form_of_another_site_changes_anything() {
    let world = World::new().await;
    for route in table() {
        if route.method == Method::GET {
            continue;
        }
        let path = path(&route);
        for kind in [
            "application/x-www-form-urlencoded",
            "text/plain",
            "multipart/form-data",
        ] {
            let request = world
                .request(route.method.clone(), &path)
                .header("cookie", &world.cookie)
                .header("origin", "https://evil.example")
                .header("content-type", kind)
                .body(r#"{"secret": "x"}"#);
            let name = format!("{} {path} {kind}", route.method);
            assert_eq!(refusal(request).await, refused(403, "forbidden"), "{name}");
        }
    }
    world.server.stop().await;
}

/// What is not in the table: pages, the sign of life, and addresses that nobody has.
#[tokio::test]
async fn what_is_no_route_of_the_api_refuses_other_names_and_pages_as_well() {
    let world = World::new().await;
    let link = format!("/?token={TOKEN}");
    for path in ["/", "/settings", "/healthz", &link, "/api/nothing", "/api"] {
        let ask = || world.owner(Method::GET, path);
        let cases = [
            ("another name", ask().header("host", "evil.example")),
            (
                "another page",
                ask().header("origin", "https://evil.example"),
            ),
            ("no page", ask().header("origin", "null")),
        ];
        for (name, request) in cases {
            let answer = request.send().await.unwrap();
            assert!(answer.headers().get("set-cookie").is_none(), "{path}");
            assert_eq!(answer.status().as_u16(), 403, "{path}: {name}");
        }
    }
    for path in ["/api/nothing", "/api/devices/nothing/at/all"] {
        for method in [Method::GET, Method::POST, Method::DELETE] {
            let stranger = world.request(method.clone(), path);
            assert_eq!(refusal(stranger).await, refused(401, "unauthorized"));
            let owner = world.owner(method, path);
            assert_eq!(refusal(owner).await, refused(404, "not_found"), "{path}");
        }
    }
    world.server.stop().await;
}

/// A form of another site can send text, but not JSON. Nothing else is wrong with these.
#[tokio::test]
async fn every_body_must_say_that_it_is_json() {
    const WITHOUT_BODY: [&str; 9] = [
        "/api/notifications/push/test",
        "/api/notifications/channels/{id}/test",
        "/api/sign_out",
        "/api/sessions/{id}/interrupt",
        "/api/sessions/{id}/stop",
        "/api/requests/{id}/hold",
        "/api/requests/{id}/resume_clock",
        "/api/devices/printed_link",
        "/api/devices/pairings/{id}/refuse",
    ];
    let world = World::new().await;
    for route in table() {
        let path = path(&route);
        if route.method == Method::GET || route.method == Method::DELETE {
            continue;
        }
        for kind in [
            None,
            Some("text/plain"),
            Some("application/x-www-form-urlencoded"),
        ] {
            let mut request = world.owner(route.method.clone(), &path).body("{}");
            if let Some(kind) = kind {
                request = request.header("content-type", kind);
            }
            let answer = request.send().await.unwrap();
            let body: Value = answer.json().await.unwrap();
            let refused = body["message"]
                .as_str()
                .is_some_and(|text| text.contains("Content-Type: application/json"));
            let has_body = !WITHOUT_BODY.contains(&route.path);
            assert_eq!(refused, has_body, "{} {path}: {body}", route.method);
        }
    }
    world.server.stop().await;
}

#[tokio::test]
async fn where_a_password_is_set_the_routes_that_want_it_ask_for_it() {
    let world = World::new().await;
    let set = world.owner(Method::POST, "/api/password");
    let set = set.json(&json!({"new": "correct horse"}));
    assert!(set.send().await.unwrap().status().is_success());
    let mut asked = 0;
    for route in table() {
        if !matches!(route.need, Need::Proof(_)) {
            continue;
        }
        let path = path(&route);
        let request = world.owner(route.method.clone(), &path).json(&json!({}));
        let seen = refusal(request).await;
        assert_eq!(seen, refused(403, "proof_required"), "{path}");
        asked += 1;
    }
    assert!(asked >= 4, "{asked}");
    world.server.stop().await;
}

#[tokio::test]
async fn every_route_wants_its_scope() {
    let world = World::new().await;
    for missing in Scope::ALL {
        if missing == Scope::View {
            continue;
        }
        let others = Scope::ALL.into_iter().filter(|scope| *scope != missing);
        let others: Vec<&str> = others.map(Scope::as_str).collect();
        let token = world.token(&others).await;
        for route in table() {
            let path = path(&route);
            let (Need::Scope(scope) | Need::Proof(scope)) = route.need else {
                continue;
            };
            // What it changes must still be there for the next.
            if scope != missing {
                continue;
            }
            let request = world.request(route.method.clone(), &path);
            let seen = refusal(request.bearer_auth(&token).json(&json!({}))).await;
            let name = format!("{} {path} without {}", route.method, missing.as_str());
            assert_eq!(seen, refused(403, "forbidden"), "{name}");
        }
    }
    let everything = Scope::ALL.map(Scope::as_str);
    let token = world.token(&everything).await;
    for route in table() {
        if route.need == Need::Owner {
            let request = world.request(route.method.clone(), route.path);
            let seen = refusal(request.bearer_auth(&token).json(&json!({}))).await;
            assert_eq!(
                seen,
                refused(403, "forbidden"),
                "{} is not the owner",
                route.path
            );
        }
    }
    world.server.stop().await;
}

#[tokio::test]
async fn the_owner_is_refused_nothing_for_want_of_rights() {
    let world = World::new().await;
    for route in table() {
        let path = path(&route);
        let request = world.owner(route.method.clone(), &path).json(&json!({}));
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        let allowed = route.need == Need::Nothing || (status != 401 && status != 403);
        assert!(allowed, "{} {path}: {status}", route.method);
    }
    world.server.stop().await;
}

#[tokio::test]
async fn nothing_is_changed_by_reading() {
    let changing: Vec<&str> = table()
        .iter()
        .filter(|route| route.method == Method::GET)
        .map(|route| route.path)
        .filter(|path| {
            let words = [
                "decision", "hold", "extend", "stop", "pair", "sign_out", "tokens", "prove",
            ];
            words
                .iter()
                .any(|word| path.split('/').any(|part| part == *word))
        })
        .collect();
    assert!(changing.is_empty(), "{changing:?}");
    let world = World::new().await;
    for route in table() {
        if route.method == Method::GET {
            continue;
        }
        let path = path(&route);
        let twin = table()
            .iter()
            .any(|other| other.method == Method::GET && other.path == route.path);
        if twin {
            continue;
        }
        let answer = world.owner(Method::GET, &path).send().await.unwrap();
        let status = answer.status().as_u16();
        assert!(status == 405 || status == 404, "GET {path}: {status}");
    }
    world.server.stop().await;
}

/// A page that is not ours may use the sockets for other front ends, if the operator named it, and nothing else.
#[tokio::test]
async fn a_front_end_of_another_origin_comes_in_with_a_token_where_it_is_named() {
    let named = "http://localhost:5173";
    let server = TestServer::start_configured(|config| {
        config.allow_origins = vec![named.to_owned()];
    });
    let world = World::on(server.await);
    let cookie = world.let_in().await;
    let ask = |path: &str, origin: &str| {
        as_socket(world.request(Method::GET, path), path).header("origin", origin)
    };
    let token = [("token", TOKEN)];
    let compat = "/compat/twicc/ws";
    let answer = ask(compat, named).query(&token).send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 101);
    let cases = [
        (
            "another page",
            ask(compat, "http://localhost:5174").query(&token),
        ),
        (
            "a page below it",
            ask(compat, "http://a.localhost:5173").query(&token),
        ),
        ("no page", ask(compat, "null").query(&token)),
        (
            "with a cookie",
            ask(compat, named)
                .header("cookie", &cookie)
                .header("sec-fetch-site", "same-site"),
        ),
        (
            "with a cookie, from an old browser",
            ask(compat, named).header("cookie", &cookie),
        ),
        ("another socket", ask("/api/ws", named).bearer_auth(TOKEN)),
        (
            "a route of the API",
            ask("/api/sessions", named).bearer_auth(TOKEN),
        ),
        (
            "another name",
            ask(compat, named)
                .query(&token)
                .header("host", "evil.example"),
        ),
    ];
    for (name, request) in cases {
        assert_eq!(refusal(request).await, refused(403, "forbidden"), "{name}");
    }
    world.server.stop().await;
}
