//! A message of the human is in the transcript and with the agent, once each, whenever the server is killed.

#![expect(
    clippy::unwrap_used,
    reason = "clippy knows test functions, but not the helpers of an integration test"
)]

mod puppet;
mod support;

use std::collections::BTreeSet;
use std::time::Duration;

use pretty_assertions::assert_eq;
use puppet::{Puppet, Server};
use sayso_store::{EntryRow, MessageId, QueuedRow, SessionId, Store, UnixMillis};
use sayso_store::{Write, WriteJob, Writer};
use serde_json::{Value, json};
use uuid::Uuid;

/// What runs as the agent: this test binary, called by a script.
#[test]
#[ignore = "is the agent of the tests here"]
fn puppet_agent() {
    puppet::run();
}

fn turn_ends(puppet: &Puppet) {
    puppet.say(
        &json!({"type": "result", "subtype": "success", "is_error": false, "result": "",
        "num_turns": 1, "duration_ms": 0, "duration_api_ms": 0, "total_cost_usd": 0,
        "usage": {"input_tokens": 0, "output_tokens": 0}, "modelUsage": {},
        "permission_denials": [], "session_id": "6c1a5fd2-7f0f-4f0e-8a55-3ad39cc0a1b7"}),
    );
}

fn content(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

/// The words of all messages that begin so, in order.
fn heard(puppet: &Puppet, beginning: &str) -> Vec<String> {
    let heard = puppet.heard().into_iter();
    let users = heard.filter(|line| line["type"] == "user");
    let texts = users.filter_map(|line| text_of(&line["message"]["content"]));
    texts.filter(|text| text.starts_with(beginning)).collect()
}

async fn told(puppet: &Puppet, server: &Server, session: &str, beginning: &str) -> Vec<String> {
    let page = format!("/api/sessions/{session}/transcript?limit=500");
    let page = puppet.get(server, &page).await;
    let entries = page["entries"].as_array().unwrap().iter();
    let messages = entries.filter(|entry| entry["kind"] == "user_message");
    let texts = messages.filter_map(|entry| text_of(&entry["content"]));
    texts.filter(|text| text.starts_with(beginning)).collect()
}

fn text_of(content: &Value) -> Option<String> {
    let text = content.as_str().or_else(|| content[0]["text"].as_str());
    text.map(str::to_owned)
}

async fn until_state(puppet: &Puppet, server: &Server, state: &str) {
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    loop {
        let sessions = puppet.get(server, "/api/sessions").await;
        if sessions["sessions"][0]["state"] == state {
            return;
        }
        assert!(std::time::Instant::now() < deadline, "{sessions}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// As if the server had been killed after it wrote the message down and before the agent got it.
async fn write_down(puppet: &Puppet, session: &str, text: &str) {
    let store = Store::open(&puppet.data().join("sayso.db")).await.unwrap();
    let (completed, mut completions) = tokio::sync::mpsc::channel(2);
    let writer = Writer::start(store.clone(), completed, 1).unwrap();
    let session_id = SessionId(session.parse().unwrap());
    let seq = store.last_seq(session_id).await.unwrap() + 1;
    let (at, id) = (UnixMillis(1), Uuid::new_v4());
    let entry = json!({"seq": seq, "at": "2026-01-02T03:04:05Z", "kind": "user_message",
        "message_id": id, "content": content(text), "queued": false});
    let writes = vec![
        Write::PutQueued(QueuedRow {
            message_id: MessageId(id),
            session_id,
            at,
            content: content(text).to_string(),
        }),
        Write::AppendEntry(EntryRow {
            session_id,
            seq,
            at,
            body: entry.to_string(),
            line: None,
            part: None,
        }),
    ];
    writer.submit(WriteJob { token: 1, writes }).unwrap();
    completions.recv().await.unwrap().result.unwrap();
    writer.close().await;
    store.close().await;
}

#[tokio::test]
async fn a_message_that_is_in_the_transcript_and_was_not_sent_is_sent_once() {
    let puppet = Puppet::new();
    let server = puppet.server().await;
    let session = puppet.start(&server).await;
    turn_ends(&puppet);
    until_state(&puppet, &server, "user_turn").await;
    puppet.kill(server).await;
    write_down(&puppet, &session, "word").await;

    let server = puppet.server().await;
    puppet
        .until("the agent has it", || !heard(&puppet, "word").is_empty())
        .await;
    turn_ends(&puppet);
    until_state(&puppet, &server, "user_turn").await;
    puppet.kill(server).await;
    // Nor does the next server send it again.
    let server = puppet.server().await;
    until_state(&puppet, &server, "user_turn").await;
    let last = json!({"content": content("last")});
    let path = format!("/api/sessions/{session}/messages");
    puppet.post(&server, &path, last).await;
    puppet
        .until("the agent has the last", || {
            !heard(&puppet, "last").is_empty()
        })
        .await;
    assert_eq!(heard(&puppet, "word"), ["word"]);
    assert_eq!(told(&puppet, &server, &session, "word").await, ["word"]);
}

/// The server is killed while messages are on their way, a little later each time.
#[tokio::test]
async fn no_kill_loses_or_doubles_a_message() {
    let puppet = Puppet::new();
    let server = puppet.server().await;
    let session = puppet.start(&server).await;
    turn_ends(&puppet);
    until_state(&puppet, &server, "user_turn").await;
    puppet.kill(server).await;
    let path = format!("/api/sessions/{session}/messages");
    let mut taken = BTreeSet::new();
    for round in 0..12_u64 {
        let server = puppet.server().await;
        let word = format!("word {round}.");
        let body = json!({"content": content(&word)});
        let pause = tokio::time::sleep(Duration::from_micros(round * 700));
        tokio::select! {
            answer = puppet.try_post(&server, &path, body) => {
                if answer.is_some_and(|answer| answer["code"].is_null()) {
                    taken.insert(word);
                }
            }
            () = pause => {}
        }
        puppet.kill(server).await;
        turn_ends(&puppet);
    }
    let server = puppet.server().await;
    let last = json!({"content": content("last")});
    puppet.post(&server, &path, last).await;
    puppet
        .until("the agent has the last", || {
            !heard(&puppet, "last").is_empty()
        })
        .await;
    turn_ends(&puppet);
    until_state(&puppet, &server, "user_turn").await;
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    let told = loop {
        let told = told(&puppet, &server, &session, "").await;
        if told.last().is_some_and(|text| text == "last") {
            break told;
        }
        assert!(std::time::Instant::now() < deadline, "{told:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert_eq!(told, heard(&puppet, ""), "in the transcript and heard");
    let once: BTreeSet<String> = told.iter().cloned().collect();
    assert_eq!(once.len(), told.len(), "once each: {told:?}");
    assert!(once.is_superset(&taken), "{taken:?} of {told:?}");
}
