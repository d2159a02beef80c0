//! Limits that a client can run into: each has a name, and whoever keeps
//! within them notices nothing.

mod support;

use pretty_assertions::assert_eq;
use serde_json::json;
use support::{TestServer, bash};

#[tokio::test]
async fn a_client_that_sends_too_fast_is_told_so_and_loses_nothing() {
    let server = TestServer::start().await;
    let (mut fast, mut other) = (server.connect().await, server.connect().await);
    for number in 0..600 {
        let message = json!({"type": "ping", "id": format!("n{number}")});
        fast.send_text(&message.to_string()).await;
    }
    let error = fast.wait_for(|frame| frame["type"] == "error").await;
    assert_eq!(error["code"], "overloaded", "{error}");
    fast.wait_for(|frame| frame["id"] == "n599").await;
    let seen = fast.take_seen();
    let acks = seen.iter().filter(|frame| frame["type"] == "ack").count();
    let errors = seen.iter().filter(|frame| frame["type"] == "error").count();
    assert_eq!(
        (acks, errors),
        (599, 0),
        "all are answered, and it is told once"
    );
    let ack = other.call(json!({"type": "ping"})).await;
    assert_eq!(ack["type"], "ack");
    server.stop().await;
}

#[tokio::test]
async fn there_are_only_so_many_agents_at_once() {
    let server = TestServer::start_configured(|config| config.max_sessions = 2).await;
    let mut client = server.connect().await;
    let first = client.start(&server, &bash("true")).await;
    client.start(&server, &bash("true")).await;
    let third = json!({"type": "start_session", "cwd": server.project()});
    let error = client.call(third.clone()).await;
    assert_eq!(error["code"], "overloaded", "{error}");
    let sessions = server.connect().await.welcome["sessions"].clone();
    assert_eq!(
        sessions.as_array().map(Vec::len),
        Some(2),
        "nothing is left of it"
    );
    client
        .call(json!({"type": "stop_session", "session_id": first}))
        .await;
    client.state(&first, "dead").await;
    let ack = client.call(third).await;
    assert_eq!(ack["type"], "ack", "{ack}");
    let error = client
        .call(json!({"type": "start_session", "cwd": server.project(), "resume": first}))
        .await;
    assert_eq!(
        error["code"], "overloaded",
        "one that goes on counts, too: {error}"
    );
    server.stop().await;
}
