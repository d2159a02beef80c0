//! Web Push from end to end: the message is signed, encrypted, withdrawn, tried again, and given up.

use std::time::Duration;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::{TOKEN, TestServer};
use crate::world::World;

#[tokio::test]
async fn a_closed_tab_is_told_in_the_servers_words_and_told_when_it_is_over() {
    let mut world = World::new().await;
    let mut phone = world.phone(&["answer"], json!({})).await;
    let request = world.ask("echo a-word-of-the-agent").await;
    let received = phone.service.next().await;
    let message = phone.browser.open(&received, &phone.service.url(""));
    assert_eq!(message["type"], "show");
    assert_eq!(message["kind"], "tool");
    assert_eq!(message["title"], "Approval needed");
    assert_eq!(message["request_id"], request["request_id"]);
    assert!(
        message["body"]
            .as_str()
            .unwrap()
            .starts_with("Bash · project · ")
    );
    assert!(message["deadline"].is_string());
    let (session, id) = (&request["session_id"], &request["request_id"]);
    let path = format!(
        "/sessions/{}?request={}",
        session.as_str().unwrap(),
        id.as_str().unwrap()
    );
    assert_eq!(message["path"], path.as_str());
    assert_eq!(received.path, "/push/abc");
    let ttl: u64 = received.header("ttl").parse().unwrap();
    assert!(ttl <= 300, "no longer than the request waits: {ttl}");
    world.deny(&request).await;
    let withdrawn = phone.service.next().await;
    assert_eq!(withdrawn.header("topic"), received.header("topic"));
    let gone = phone.browser.open(&withdrawn, &phone.service.url(""));
    assert_eq!(gone, json!({"type": "withdraw", "tag": message["tag"]}));
    let channels = world.channels().await;
    assert_eq!(channels[0]["last_result"]["delivered"], true);
    assert_eq!(channels[0]["host"], "127.0.0.1");
    let shown = channels[0].to_string();
    assert!(
        !shown.contains("/push/") && !shown.contains("p256dh"),
        "{shown}"
    );
    world.server.stop().await;
}

#[tokio::test]
async fn the_agents_words_come_only_where_they_are_wanted_and_never_as_a_title() {
    let mut world = World::new().await;
    let mut phone = world.phone(&["view"], json!({"detail": true})).await;
    let key = format!("sk-{}", "a".repeat(40));
    world.ask(&format!("echo {key} hello")).await;
    let message = phone.next().await;
    let body = message["body"].as_str().unwrap();
    assert!(
        body.ends_with("hello") && body.contains("[masked]"),
        "{body}"
    );
    assert_eq!(message["title"], "Approval needed");
    assert_eq!(
        message["actions"],
        json!([]),
        "who may only look gets no buttons"
    );
    world.server.stop().await;
}

#[tokio::test]
async fn a_subscription_that_has_ended_is_dropped() {
    for status in [404, 410] {
        let mut world = World::new().await;
        let mut phone = world.phone(&["answer"], json!({})).await;
        phone.service.answer(&[status]);
        let request = world.ask("echo one").await;
        phone.service.next().await;
        while !world.channels().await.is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        world.deny(&request).await;
        world.ask("echo two").await;
        phone.service.nothing_comes().await;
        // For good, too.
        let folder = world.server.stop().await;
        let again = World::on(TestServer::open(folder, |_| {}).await).await;
        assert_eq!(again.channels().await, Vec::<Value>::new());
        again.server.stop().await;
    }
}

#[tokio::test]
async fn a_service_that_fails_is_tried_again_after_longer_and_longer() {
    let mut world = World::new().await;
    let mut phone = world.phone(&["answer"], json!({})).await;
    phone.service.answer(&[503, 500]);
    world.ask("echo one").await;
    let tries = [
        phone.service.next().await,
        phone.service.next().await,
        phone.service.next().await,
    ];
    let waits = [tries[1].at - tries[0].at, tries[2].at - tries[1].at];
    let between =
        |wait: Duration, from: u128, to: u128| (from..to + 1_500).contains(&wait.as_millis());
    assert!(between(waits[0], 1_000, 2_000), "{waits:?}");
    assert!(between(waits[1], 2_000, 4_000), "{waits:?}");
    let opened = tries.map(|message| phone.browser.open(&message, &phone.service.url("")));
    assert_eq!(opened[0], opened[2], "the same, its buttons included");
    phone.service.nothing_comes().await;
    world.server.stop().await;
}

#[tokio::test]
async fn what_is_closed_before_it_arrived_is_not_announced_any_more() {
    let mut world = World::new().await;
    let mut phone = world.phone(&["answer"], json!({})).await;
    phone.service.answer(&[503]);
    let request = world.ask("echo one").await;
    phone.service.next().await;
    world.deny(&request).await;
    // The first may have arrived although it was called a failure.
    assert_eq!(phone.next().await["type"], "withdraw");
    phone.service.nothing_comes().await;
    world.server.stop().await;
}

#[tokio::test]
async fn a_device_whose_human_looks_is_told_when_they_look_away() {
    let mut world = World::new().await;
    let mut phone = world.phone(&["answer"], json!({})).await;
    let mut other = world.phone(&["answer"], json!({})).await;
    let mut page = world.server.connect_with(&phone.token).await;
    let ack = page
        .call(json!({"type": "presence", "visible": true}))
        .await;
    assert_eq!(ack["type"], "ack");
    world.ask("echo one").await;
    assert_eq!(other.next().await["type"], "show");
    phone.service.nothing_comes().await;
    page.call(json!({"type": "presence", "visible": false}))
        .await;
    assert_eq!(phone.next().await["type"], "show");
    // And one whose page is gone without a word.
    page.call(json!({"type": "presence", "visible": true}))
        .await;
    world.ask("echo two").await;
    phone.service.nothing_comes().await;
    page.close().await;
    assert_eq!(phone.next().await["type"], "show");
    world.server.stop().await;
}

#[tokio::test]
async fn a_device_that_is_shown_the_door_is_told_nothing() {
    let mut world = World::new().await;
    let mut phone = world.phone(&["answer"], json!({})).await;
    world
        .delete(&format!("/api/devices/{}", phone.id), TOKEN)
        .await;
    world.ask("echo one").await;
    phone.service.nothing_comes().await;
    assert_eq!(world.channels().await, Vec::<Value>::new());
    world.server.stop().await;
}

#[tokio::test]
async fn a_test_says_what_became_of_it() {
    let world = World::new().await;
    let mut phone = world.phone(&["view"], json!({"enabled": false})).await;
    let path = "/api/notifications/push/test";
    let (_, result) = world.post(path, &phone.token, json!({})).await;
    assert_eq!(result["delivered"], true, "{result}");
    assert_eq!(phone.next().await["title"], "Sayso");
    for (status, words) in [(302, "not followed"), (403, "403"), (500, "tried again")] {
        phone.service.answer(&[status]);
        let (_, result) = world.post(path, &phone.token, json!({})).await;
        assert_eq!(result["delivered"], false);
        assert!(result["text"].as_str().unwrap().contains(words), "{result}");
        phone.service.next().await;
        phone.service.nothing_comes().await;
    }
    let (status, _) = world.delete("/api/notifications/push", &phone.token).await;
    assert_eq!(status, 200);
    let (status, refused) = world.post(path, &phone.token, json!({})).await;
    assert_eq!((status, &refused["code"]), (404, &json!("unknown_channel")));
    world.server.stop().await;
}

#[tokio::test]
async fn a_browser_cannot_make_the_server_look_around_at_home() {
    let world = World::on(TestServer::start().await).await;
    let (token, _) = world.device(&["view"]).await;
    let listed = world.get("/api/notifications", &token).await;
    assert_eq!(listed["contact_set"], false, "nobody has named one");
    let key = listed["public_key"].clone();
    let browser = crate::browser::Browser::new(key.as_str().unwrap());
    for endpoint in [
        "http://push.example/x",
        "ftp://push.example/x",
        "https://u:p@push.example/",
        "x",
    ] {
        let body = json!({"subscription": browser.subscription(endpoint)});
        let (status, refused) = world.post("/api/notifications/push", &token, body).await;
        assert_eq!(status, 400, "{endpoint}: {refused}");
    }
    for endpoint in [
        "https://127.0.0.1:1/x",
        "https://localhost:1/x",
        "https://[::1]:1/",
        "https://169.254.169.254/",
    ] {
        let body = json!({"subscription": browser.subscription(endpoint)});
        let (status, _) = world.post("/api/notifications/push", &token, body).await;
        assert_eq!(status, 200);
        let (_, result) = world
            .post("/api/notifications/push/test", &token, json!({}))
            .await;
        assert!(
            result["text"].as_str().unwrap().contains("private network"),
            "{result}"
        );
    }
    let mut broken = browser.subscription("https://push.example/x");
    broken["keys"]["p256dh"] = json!("AAAA");
    let body = json!({"subscription": broken});
    let (status, _) = world.post("/api/notifications/push", &token, body).await;
    assert_eq!(status, 400);
    world.server.stop().await;
}
