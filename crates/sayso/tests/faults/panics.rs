//! Faults in Sayso's own code.

use serde_json::json;

use crate::support::{Client, bash};
use crate::world::{PATIENCE, World};

#[tokio::test]
async fn a_panic_in_a_handler_is_one_refused_request() {
    let world = World::new();
    let server = world.start().await;
    let request = world.asked(&server, "handler.txt").await;
    let mut client = Client::to(&server.url).await;
    world.provoke("handler", "");
    let (status, answer) = world.get(&server, "/api/sessions").await;
    assert_eq!(
        (status, &answer["code"]),
        (500, &json!("internal")),
        "{answer}"
    );
    assert!(
        !answer.to_string().contains("provoked"),
        "what went wrong is for the log"
    );
    let answer = client.call(json!({"type": "ping"})).await;
    assert_eq!(answer["type"], "ack", "whoever was connected still is");
    world.over("handler");
    let (status, _) = world.get(&server, "/api/sessions").await;
    assert_eq!(status, 200);
    world.goes_on(&server, &request, "handler.txt").await;
}

#[tokio::test]
async fn a_panic_on_a_socket_ends_that_socket_and_the_hub_knows() {
    let world = World::new();
    let server = world.start().await;
    let mut client = Client::to(&server.url).await;
    // What nobody looks at is refused after a second: that nobody looks is what the hub has to hear.
    let policies = json!({"when_unattended": "deny"});
    let cwd = world.folder.path().join("project");
    let start = json!({
        "type": "start_session", "cwd": cwd, "agent": "demo",
        "prompt": bash("touch socket.txt").to_string(), "policies": policies,
    });
    let started = client.call(start).await;
    assert_eq!(started["type"], "ack", "{started}");
    let request = client.opened().await;
    world.provoke("socket", "");
    client
        .send_text_ignoring_errors("{\"type\":\"ping\"}")
        .await;
    assert!(client.ended().await);
    world.over("socket");
    let id = request["request_id"].as_str().unwrap();
    let path = format!("/api/requests/{id}");
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        let (_, shown) = world.get(&server, "/api/requests").await;
        if shown["pending_requests"] == json!([]) {
            break;
        }
        assert!(
            tokio::time::Instant::now() < deadline,
            "{path} is still open"
        );
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert!(!world.made("socket.txt"));
}

#[tokio::test]
async fn a_panic_in_the_hub_ends_the_server_and_the_next_one_goes_on() {
    let world = World::new();
    let mut server = world.start().await;
    let request = world.asked(&server, "hub.txt").await;
    world.provoke("hub", "");
    let mut client = Client::to_unwelcoming(&server.url).await;
    assert!(
        client.ended().await,
        "no socket stays open on a server that is dead inside"
    );
    let ended = tokio::time::timeout(PATIENCE, server.child.wait()).await;
    let status = ended.expect("the server ends by itself").unwrap();
    assert_eq!(status.code(), Some(1));
    let log = world.log();
    assert!(log.contains("A fault inside Sayso has ended it"), "{log}");
    world.over("hub");
    let server = world.start().await;
    world.goes_on(&server, &request, "hub.txt").await;
}
