//! A client that asked to be told only of the sessions it attends.
#![allow(clippy::unwrap_used, reason = "a failure fails the test")]

mod support;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use support::{TestServer, bash};

fn ids(list: &Value, name: &str) -> Vec<Value> {
    let list = list.as_array().unwrap();
    list.iter().map(|item| item[name].clone()).collect()
}

#[tokio::test]
async fn it_hears_of_a_session_from_the_moment_it_subscribes() {
    let server = TestServer::start().await;
    let mut everything = server.connect().await;
    let session = everything.start(&server, &bash("touch seen.txt")).await;
    let request = everything.opened().await;

    let mut client = server.connect_attending().await;
    assert_eq!(client.welcome["sessions"], json!([]));
    assert_eq!(client.welcome["pending_requests"], json!([]));
    client.subscribe(&session).await;
    client.state(&session, "assistant_turn").await;
    let opened = client.opened().await;
    assert_eq!(opened["request_id"], request["request_id"]);
    client.respond(&opened, json!({"behavior": "allow"})).await;
    assert_eq!(client.closed(&opened).await["what"], "allowed");
    client.turn_over(&session).await;
    assert!(server.project().join("seen.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn it_hears_of_what_it_started_and_of_nothing_else() {
    let server = TestServer::start().await;
    let mut client = server.connect_attending().await;
    let own = client.start(&server, &bash("true")).await;
    let mut everything = server.connect().await;
    let other = everything.start(&server, &bash("true")).await;
    let requests = [everything.opened().await, everything.opened().await];
    let of = |session: &str| {
        let found = requests
            .iter()
            .find(|request| request["session_id"] == session);
        found.unwrap().clone()
    };
    let opened = client.opened().await;
    assert_eq!(opened["request_id"], of(&own)["request_id"]);
    for request in [of(&other), of(&own)] {
        everything
            .respond(&request, json!({"behavior": "deny"}))
            .await;
        everything.closed(&request).await;
    }
    // Everything that was told before is here by now.
    client.closed(&opened).await;
    for frame in client.take_seen() {
        let about = [
            &frame["session_id"],
            &frame["session"]["session_id"],
            &frame["pending_request"]["session_id"],
        ];
        assert!(about.iter().all(|id| **id != json!(other)), "{frame}");
    }
    server.stop().await;
}

#[tokio::test]
async fn everybody_else_hears_of_everything() {
    let server = TestServer::start().await;
    let mut first = server.connect().await;
    let session = first.start(&server, &bash("true")).await;
    first.opened().await;
    let second = server.connect().await;
    assert_eq!(
        ids(&second.welcome["sessions"], "session_id"),
        [json!(session)]
    );
    assert_eq!(
        ids(&second.welcome["pending_requests"], "session_id"),
        [json!(session)]
    );
    server.stop().await;
}
