//! ntfy, webhooks and Slack; who may change what; one channel after another.

use figment::Figment;
use figment::providers::{Format, Toml};
use hmac::{Hmac, KeyInit, Mac};
use pretty_assertions::assert_eq;
use reqwest::Method;
use sayso::config::{OnShutdown, TlsMode};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::receiver::{Received, Receiver};
use crate::support::{TOKEN, TestServer, bash};
use crate::world::{World, button};

#[tokio::test]
async fn ntfy_gets_a_message_with_buttons_and_is_told_to_take_it_back() {
    let mut world = World::new().await;
    let mut ntfy = Receiver::start().await;
    let target =
        json!({"kind": "ntfy", "server": ntfy.url("/"), "topic": "agents", "token": "tk_secret"});
    world.channel(target, json!({})).await;
    let request = world.ask("echo one").await;
    let received = ntfy.next().await;
    assert_eq!(
        (&received.method, received.path.as_str()),
        (&Method::POST, "/")
    );
    assert_eq!(received.header("authorization"), "Bearer tk_secret");
    let message = received.json();
    assert_eq!(message["topic"], "agents");
    assert_eq!(message["title"], "Approval needed");
    let labels: Vec<&Value> = message["actions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|action| &action["label"])
        .collect();
    assert_eq!(
        labels,
        ["Open", "Deny"],
        "nothing to allow unless it is switched on"
    );
    let deny = &message["actions"][1];
    assert_eq!(
        (&deny["action"], &deny["method"]),
        (&json!("http"), &json!("POST"))
    );
    // The phone does what the message says.
    let press = reqwest::Client::new()
        .post(deny["url"].as_str().unwrap())
        .header(
            "content-type",
            deny["headers"]["Content-Type"].as_str().unwrap(),
        )
        .body(deny["body"].as_str().unwrap().to_owned());
    assert_eq!(press.send().await.unwrap().status().as_u16(), 200);
    let outcome = world.human.closed(&request).await;
    assert_eq!(
        (&outcome["what"], &outcome["by"]),
        (&json!("denied"), &json!("human"))
    );
    assert_eq!(outcome["client"]["label"], "Ops, from a notification");
    let withdrawn = ntfy.next().await;
    assert_eq!(withdrawn.method, Method::DELETE);
    let tag = message["sequence_id"].as_str().unwrap();
    assert_eq!(withdrawn.path, format!("/agents/{tag}"));
    assert_eq!(withdrawn.header("authorization"), "Bearer tk_secret");
    let history = world.get("/api/history?kind=decision", TOKEN).await;
    assert_eq!(history["entries"][0]["by_name"], "Ops, from a notification");
    let shown = world.channels().await[0].to_string();
    assert!(!shown.contains("tk_secret"), "{shown}");
    world.server.stop().await;
}

fn check_signature(received: &Received, secret: &str) {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(received.header("x-sayso-timestamp").as_bytes());
    mac.update(b".");
    mac.update(&received.body);
    let shown = received.header("x-sayso-signature");
    let digits = shown.strip_prefix("sha256=").unwrap();
    let bytes: Vec<u8> = (0..digits.len() / 2)
        .map(|index| u8::from_str_radix(&digits[2 * index..2 * index + 2], 16).unwrap())
        .collect();
    mac.verify_slice(&bytes).unwrap();
    let at: i64 = received.header("x-sayso-timestamp").parse().unwrap();
    assert!((jiff::Timestamp::now().as_second() - at).abs() < 60);
}

#[tokio::test]
async fn a_webhook_is_signed_and_tried_again_under_the_same_name() {
    let mut world = World::new().await;
    let mut hook = Receiver::start().await;
    let target = json!({"kind": "webhook", "url": hook.url("/hook")});
    let (_, secret) = world.channel(target, json!({})).await;
    let secret = secret.as_str().unwrap().to_owned();
    assert!(secret.len() >= 40, "one was made");
    hook.answer(&[502]);
    let request = world.ask("echo one").await;
    let (first, second) = (hook.next().await, hook.next().await);
    for received in [&first, &second] {
        check_signature(received, &secret);
        assert_eq!(received.path, "/hook");
    }
    let name = first.header("x-sayso-delivery");
    assert_eq!(second.header("x-sayso-delivery"), name);
    let body = second.json();
    assert_eq!((&body["type"], &body["id"]), (&json!("show"), &json!(name)));
    assert!(
        body["url"]
            .as_str()
            .unwrap()
            .starts_with("http://127.0.0.1:")
    );
    world.deny(&request).await;
    let closed = hook.next().await;
    check_signature(&closed, &secret);
    assert_eq!(closed.json()["type"], "withdraw");
    assert_eq!(closed.json()["tag"], body["tag"]);
    world.server.stop().await;
}

#[tokio::test]
async fn slack_gets_a_text_and_nothing_that_could_mislead_it() {
    let mut world = World::new().await;
    let mut slack = Receiver::start().await;
    let target = json!({"kind": "webhook", "url": slack.url("/services/x"), "format": "slack"});
    world.channel(target, json!({"detail": true})).await;
    let request = world
        .ask("echo '<!channel> & <https://evil.example|Allow>'")
        .await;
    let message = slack.next().await.json();
    let text = message["text"].as_str().unwrap();
    assert!(
        text.starts_with("*Approval needed*\nBash · project"),
        "{text}"
    );
    assert!(
        !text.contains('<') && text.contains("&lt;!channel&gt; &amp;"),
        "{text}"
    );
    assert_eq!(message.as_object().unwrap().len(), 1);
    world.deny(&request).await;
    slack.nothing_comes().await;
    world.server.stop().await;
}

#[tokio::test]
async fn what_nobody_answers_goes_on_to_the_next_and_a_reminder_follows() {
    let mut world = World::new().await;
    let (mut first, mut second) = (Receiver::start().await, Receiver::start().await);
    let hook = |receiver: &Receiver| json!({"kind": "webhook", "url": receiver.url("/")});
    // The limit is five minutes, and all but a second of it is left to remind of.
    world
        .channel(hook(&first), json!({"remind_seconds": 298}))
        .await;
    world
        .channel(hook(&second), json!({"after_seconds": 1}))
        .await;
    let request = world.ask("echo one").await;
    assert_eq!(first.next().await.json()["reminder"], false);
    let late = second.next().await.json();
    assert_eq!(
        (&late["type"], &late["reminder"]),
        (&json!("show"), &json!(false))
    );
    let reminder = first.next().await.json();
    assert_eq!(
        (&reminder["reminder"], &reminder["title"]),
        (&json!(true), &json!("Time is running out"))
    );
    world.deny(&request).await;
    assert_eq!(first.next().await.json()["type"], "withdraw");
    assert_eq!(second.next().await.json()["type"], "withdraw");
    world.server.stop().await;
}

/// It would have listened, and nobody vouches for it.
#[tokio::test]
async fn a_server_that_nobody_vouches_for_is_told_nothing() {
    let stranger =
        TestServer::start_configured(|config| config.tls = Some(TlsMode::SelfSigned)).await;
    let world = World::new().await;
    let url = format!("https://localhost:{}/", stranger.address.port());
    let (id, _) = world
        .channel(json!({"kind": "webhook", "url": url}), json!({}))
        .await;
    let path = format!("/api/notifications/channels/{id}/test");
    let (_, result) = world.post(&path, TOKEN, json!({})).await;
    assert_eq!(result["delivered"], false);
    let text = result["text"].as_str().unwrap();
    assert!(
        text.starts_with("No encrypted connection came about"),
        "{text}"
    );
    assert_eq!(world.channels().await[0]["last_result"], result);
    world.server.stop().await;
    stranger.stop().await;
}

/// Whoever is told is not there yet.
#[tokio::test]
async fn a_channel_is_nobody_who_could_answer() {
    let server = TestServer::start_configured(|config| {
        let policies = "when_unattended = \"deny\"";
        config.policies = Figment::from(Toml::string(policies)).extract().unwrap();
    });
    let world = World::on(server.await).await;
    let mut hook = Receiver::start().await;
    let target = json!({"kind": "webhook", "url": hook.url("/")});
    world
        .channel(target, json!({"kinds": ["turn_finished"]}))
        .await;
    let World { server, human, api } = world;
    human.close().await;
    let prompt = bash("echo one").to_string();
    let start = json!({"cwd": server.project().display().to_string(), "prompt": prompt});
    let started = api.post(server.url("/api/sessions")).bearer_auth(TOKEN);
    assert!(
        started
            .json(&start)
            .send()
            .await
            .unwrap()
            .status()
            .is_success()
    );
    assert_eq!(hook.next().await.json()["kind"], "turn_finished");
    let history = api.get(server.url("/api/history?kind=decision"));
    let history = history.bearer_auth(TOKEN).send().await.unwrap();
    let history: Value = history.json().await.unwrap();
    let (outcome, by) = (
        &history["entries"][0]["outcome"],
        &history["entries"][0]["by"],
    );
    assert_eq!((outcome, by), (&json!("denied"), &json!("policy")));
    server.stop().await;
}

/// A killed server cannot know what arrived.
#[tokio::test]
async fn after_a_restart_what_still_waits_is_told_again_with_new_buttons() {
    let server = TestServer::start_configured(|config| config.on_shutdown = OnShutdown::Keep);
    let mut world = World::on(server.await).await;
    let mut hook = Receiver::start().await;
    let target = json!({"kind": "webhook", "url": hook.url("/")});
    world.channel(target, json!({})).await;
    let request = world.ask("echo one").await;
    let before = hook.next().await.json();
    let folder = world.server.stop().await;
    let server = TestServer::open(folder, |_| {}).await;
    let mut world = World::on(server).await;
    let again = hook.next().await.json();
    assert_eq!(again["request_id"], request["request_id"]);
    assert_eq!(again["tag"], before["tag"]);
    let old = button(&before, "deny").unwrap();
    assert_eq!(world.act(&old).await.0, 410);
    let new = button(&again, "deny").unwrap();
    assert_eq!(world.act(&new).await.0, 200);
    let request = json!({"request_id": request["request_id"]});
    assert_eq!(world.human.closed(&request).await["what"], "denied");
    world.server.stop().await;
}

#[tokio::test]
async fn a_finished_turn_is_told_to_those_who_want_it() {
    let mut world = World::new().await;
    let mut hook = Receiver::start().await;
    let target = json!({"kind": "webhook", "url": hook.url("/")});
    world
        .channel(target, json!({"kinds": ["turn_finished"]}))
        .await;
    let request = world.ask("echo one").await;
    world.deny(&request).await;
    let told = hook.next().await.json();
    assert_eq!(
        (&told["kind"], &told["title"]),
        (&json!("turn_finished"), &json!("Turn finished"))
    );
    assert_eq!(told["session_id"], request["session_id"]);
    world.server.stop().await;
}

#[tokio::test]
async fn everybody_sets_what_they_are_told_and_only_who_administers_the_rest() {
    let world = World::new().await;
    let phone = world.phone(&["answer", "approve"], json!({})).await;
    let own = "/api/notifications/push";
    let set = |settings: Value| json!({"settings": settings});
    let (status, channel) = world
        .put(own, &phone.token, set(json!({"kinds": ["plan"]})))
        .await;
    assert_eq!(
        (status, &channel["settings"]["kinds"]),
        (200, &json!(["plan"]))
    );
    let (status, refused) = world
        .put(own, &phone.token, set(json!({"allow_button": true})))
        .await;
    assert_eq!((status, &refused["code"]), (403, &json!("forbidden")));
    for wrong in [
        json!({"after_seconds": 100_000}),
        json!({"quiet_hours": {"from": "25:00", "until": "07:00", "time_zone": "UTC"}}),
        json!({"kinds": ["everything"]}),
        json!({"unknown": 1}),
    ] {
        let (status, refused) = world.put(own, &phone.token, set(wrong.clone())).await;
        assert_eq!(
            (status, &refused["code"]),
            (400, &json!("invalid_message")),
            "{wrong}"
        );
    }
    for wrong in [
        json!({"kind": "ntfy", "server": "file:///etc/passwd", "topic": "x"}),
        json!({"kind": "ntfy", "server": "https://ntfy.sh", "topic": "a/b"}),
        json!({"kind": "webhook", "url": "https://h.example", "secret": "short"}),
        json!({"kind": "pigeon"}),
    ] {
        let body = json!({"name": "x", "target": wrong});
        let (status, _) = world.post("/api/notifications/channels", TOKEN, body).await;
        assert_eq!(status, 400, "{wrong}");
    }
    let target = json!({"kind": "webhook", "url": "https://h.example/secret-part"});
    let (id, _) = world.channel(target, json!({})).await;
    assert_eq!(world.channels().await.len(), 2);
    let seen = world.get("/api/notifications", &phone.token).await;
    assert_eq!(
        seen["channels"].as_array().unwrap().len(),
        1,
        "only its own"
    );
    let path = format!("/api/notifications/channels/{id}");
    let rename = json!({"name": "Renamed", "settings": {"allow_button": true}});
    let (status, changed) = world.put(&path, TOKEN, rename).await;
    assert_eq!(
        (status, &changed["channel"]["name"]),
        (200, &json!("Renamed"))
    );
    assert!(!changed.to_string().contains("secret-part"));
    let other =
        json!({"name": "x", "target": {"kind": "ntfy", "server": "https://ntfy.sh", "topic": "x"}});
    assert_eq!(world.put(&path, TOKEN, other).await.0, 400);
    assert_eq!(world.delete(&path, TOKEN).await.0, 200);
    assert_eq!(world.delete(&path, TOKEN).await.0, 404);
    let (status, refused) = world
        .post(
            own,
            TOKEN,
            json!({"subscription": phone.browser.subscription("https://p.example/")}),
        )
        .await;
    assert_eq!(status, 400, "the owner's token is no device: {refused}");
    world.server.stop().await;
}
