//! The buttons of notifications: good once, for one thing, and for as long as it waits.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::TOKEN;
use crate::world::{Phone, World, button};

const ALL: [&str; 3] = ["answer", "approve", "admin"];

fn over(answer: &(u16, Value)) -> bool {
    answer.0 == 410 && answer.1["code"] == "action_over"
}

async fn world() -> (World, Phone) {
    let world = World::new().await;
    let phone = world.phone(&ALL, json!({"allow_button": true})).await;
    (world, phone)
}

#[tokio::test]
async fn allow_runs_what_was_told_and_is_recorded_as_the_devices() {
    let (mut world, mut phone) = world().await;
    let request = world.ask("echo one").await;
    let message = phone.next().await;
    let allow = button(&message, "allow").unwrap();
    assert_eq!(world.act(&allow).await, (200, json!({})));
    let outcome = world.human.closed(&request).await;
    assert_eq!(
        (&outcome["what"], &outcome["by"]),
        (&json!("allowed"), &json!("human"))
    );
    assert_eq!(outcome["client"]["label"], "The phone, from a notification");
    assert!(over(&world.act(&allow).await), "twice");
    let deny = button(&message, "deny").unwrap();
    assert!(over(&world.act(&deny).await), "late");
    world.server.stop().await;
}

#[tokio::test]
async fn a_button_ends_with_its_request() {
    let (mut world, mut phone) = world().await;
    let first = world.ask("echo one").await;
    let allow = button(&phone.next().await, "allow").unwrap();
    world.deny(&first).await;
    world.human.closed(&first).await;
    assert!(over(&world.act(&allow).await), "late");
    // The same input again is another request with another button.
    let second = world.ask("echo one").await;
    assert_eq!(first["input_digest"], second["input_digest"]);
    assert!(over(&world.act(&allow).await), "for another request");
    let (id, _) = allow.split_once('.').unwrap();
    assert_eq!(phone.next().await["type"], "withdraw");
    let other = button(&phone.next().await, "allow").unwrap();
    let (_, secret) = other.split_once('.').unwrap();
    assert!(
        over(&world.act(&format!("{id}.{secret}")).await),
        "made of two"
    );
    assert!(over(&world.act("").await));
    assert_eq!(world.act(&other).await.0, 200);
    world.server.stop().await;
}

#[tokio::test]
async fn what_is_risky_or_not_switched_on_has_no_button_to_allow() {
    let (mut world, mut phone) = world().await;
    let mut plain = world.phone(&ALL, json!({})).await;
    let mut answers = world.phone(&["answer"], json!({})).await;
    for (command, harmless) in [
        ("echo one", true),
        ("rm -rf build", false),
        ("curl https://example.org", false),
    ] {
        world.ask(command).await;
        let message = phone.next().await;
        assert_eq!(button(&message, "allow").is_some(), harmless, "{command}");
        assert!(button(&message, "deny").is_some(), "{command}");
        for other in [&mut plain, &mut answers] {
            let message = other.next().await;
            assert_eq!(button(&message, "allow"), None, "{command}");
        }
    }
    let question = json!({"steps": [{"tool": {"name": "AskUserQuestion", "input": {"questions": [
        {"question": "Which?", "header": "x", "multiSelect": false,
         "options": [{"label": "A", "description": ""}, {"label": "B", "description": ""}]}]}}}]});
    world.human.start(&world.server, &question).await;
    let message = phone.next().await;
    assert_eq!(
        (&message["kind"], &message["actions"]),
        (&json!("question"), &json!([]))
    );
    let body = message["body"].as_str().unwrap();
    assert!(body.starts_with("Question · project"), "{body}");
    world.server.stop().await;
}

#[tokio::test]
async fn a_button_does_not_outlive_what_its_device_may_do() {
    let (mut world, mut phone) = world().await;
    world.ask("echo one").await;
    let message = phone.next().await;
    let (allow, deny) = (
        button(&message, "allow").unwrap(),
        button(&message, "deny").unwrap(),
    );
    let scopes = json!({"scopes": ["answer"]});
    let path = format!("/api/devices/{}", phone.id);
    world.post(&path, TOKEN, scopes).await;
    let (status, refused) = world.act(&allow).await;
    assert_eq!((status, &refused["code"]), (403, &json!("forbidden")));
    assert!(over(&world.act(&allow).await), "it was good for one try");
    world.delete(&path, TOKEN).await;
    assert!(over(&world.act(&deny).await));
    assert_eq!(
        world.get("/api/requests", TOKEN).await["pending_requests"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    world.server.stop().await;
}

#[tokio::test]
async fn a_button_that_was_switched_off_does_nothing() {
    let (mut world, mut phone) = world().await;
    world.ask("echo one").await;
    let allow = button(&phone.next().await, "allow").unwrap();
    let body = json!({"settings": {"allow_button": false}});
    world
        .put("/api/notifications/push", &phone.token, body)
        .await;
    assert!(over(&world.act(&allow).await));
    world.server.stop().await;
}

#[tokio::test]
async fn whoever_guesses_is_slowed_down_and_a_link_presses_no_button() {
    let (mut world, mut phone) = world().await;
    world.ask("echo one").await;
    let allow = button(&phone.next().await, "allow").unwrap();
    let path = format!("/api/notifications/act?token={allow}");
    let read = world
        .request(reqwest::Method::GET, &path, TOKEN)
        .send()
        .await;
    assert_eq!(read.unwrap().status().as_u16(), 405);
    let mut last = 0;
    for _ in 0..70 {
        last = world.act("0123.guess").await.0;
    }
    assert_eq!(last, 429);
    assert_eq!(
        world.act(&allow).await.0,
        200,
        "whoever is right is not held up"
    );
    world.server.stop().await;
}
