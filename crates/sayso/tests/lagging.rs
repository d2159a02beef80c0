//! A client that does not read.
#![allow(clippy::unwrap_used, reason = "a failure fails the test")]

mod support;

use serde_json::{Value, json};
use support::{Client, TestServer};

/// Less than what may wait for a client that reads slowly, and more than what may for one that does not read at all
/// beside what the system keeps for it.
const TEXTS: usize = 7;
const TEXT_BYTES: usize = 900_000;

/// The agent says it, after it was told to: the transcript has it twice.
fn script(number: usize) -> String {
    let text = format!("{number}{}", "x".repeat(TEXT_BYTES));
    json!({"steps": [{"say": text}]}).to_string()
}

async fn said(client: &mut Client, session: &str, number: usize) {
    let start = format!("{number}x");
    let is_it = |entry: &Value| {
        let text = entry["text"].as_str().unwrap_or_default();
        entry["kind"] == "assistant_text" && text.starts_with(&start)
    };
    client.entry(session, is_it).await;
}

#[tokio::test]
async fn little_is_kept_for_one_that_never_reads_and_the_others_get_everything() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let session = client.start(&server, &json!(script(0))).await;
    client.turn_over(&session).await;
    let mut deaf = server.connect().await;
    deaf.subscribe(&session).await;
    for number in 1..TEXTS {
        let content = [json!({"type": "text", "text": script(number)})];
        let message = json!({"type": "send_message", "session_id": session, "content": content});
        assert_eq!(client.call(message).await["type"], "ack");
        said(&mut client, &session, number).await;
    }

    // Now it reads what was kept, and is told how things are.
    let welcome = deaf.wait_for(|frame| frame["type"] == "welcome").await;
    assert_eq!(welcome["sessions"][0]["session_id"], json!(session));
    let kept = deaf.take_seen();
    let last = format!("{}x", TEXTS - 1);
    let kept: Vec<String> = kept.iter().map(Value::to_string).collect();
    assert!(kept.iter().all(|frame| !frame.contains(&last)));
    deaf.subscribe(&session).await;
    said(&mut deaf, &session, TEXTS - 1).await;
    server.stop().await;
}
