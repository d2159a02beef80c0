//! More is to be written than may wait for a disk that does not keep up.

#![expect(clippy::unwrap_used, reason = "a failure in a helper fails the test")]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, SqliteConnection};
use tokio::process::Command;
use tokio::task::JoinSet;

use crate::puppet::{Puppet, Server, ask, text};
use crate::support::Client;

/// Together more than the queue of writes holds, and each less than a socket is read at once.
const WRITERS: usize = 16;
const MESSAGES: usize = 900;
const ASKS: usize = 40;
const TEXTS: usize = 100;

/// Nobody else can write until it is [unlocked](unlock).
async fn lock(puppet: &Puppet) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(puppet.data().join("sayso.db"));
    let options = options.busy_timeout(Duration::from_secs(30));
    let mut other = options.connect().await.unwrap();
    let begin = sqlx::query("BEGIN IMMEDIATE").execute(&mut other);
    begin.await.unwrap();
    other
}

async fn unlock(mut other: SqliteConnection) {
    let rollback = sqlx::query("ROLLBACK").execute(&mut other);
    rollback.await.unwrap();
}

/// What one human's messages were answered with, in their order.
async fn write(url: String, session: String, number: usize, full: Arc<AtomicUsize>) -> Vec<Value> {
    let mut client = Client::to(&url).await;
    for message in 0..MESSAGES {
        let words = format!("m{number}-{message}");
        let content = json!([{"type": "text", "text": words}]);
        let message =
            json!({"type": "send_message", "id": words, "session_id": session, "content": content});
        client.send_text(&message.to_string()).await;
    }
    let mut answers = Vec::new();
    while answers.len() < MESSAGES {
        let frame = client.next().await;
        let id = frame["id"].as_str().unwrap_or_default();
        if id.starts_with('m') {
            let too_much = frame["message"] == "Too much is waiting to be written.";
            full.fetch_add(usize::from(too_much), Ordering::Relaxed);
            answers.push(frame);
        }
    }
    answers
}

async fn open_requests(puppet: &Puppet, server: &Server) -> Vec<Value> {
    let open = puppet.get(server, "/api/requests").await;
    open["pending_requests"].as_array().unwrap().clone()
}

/// The words of all messages that were heard, and the requests that were answered, in order.
fn heard(puppet: &Puppet) -> (Vec<String>, Vec<String>) {
    let lines = puppet.heard();
    let words = |line: &Value| {
        let content = &line["message"]["content"];
        let text = content.as_str().or_else(|| content[0]["text"].as_str());
        text.map(str::to_owned)
    };
    let users = lines.iter().filter(|line| line["type"] == "user");
    let responses = lines
        .iter()
        .filter(|line| line["type"] == "control_response");
    let answered = responses.filter_map(|line| line["response"]["request_id"].as_str());
    (
        users
            .filter_map(words)
            .filter(|text| text.starts_with('m'))
            .collect(),
        answered.map(str::to_owned).collect(),
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_finds_no_room_to_be_written_is_refused_or_kept_and_nothing_is_allowed() {
    let puppet = Puppet::new();
    let server = puppet.server().await;
    let session = puppet.start(&server).await;
    puppet.say(&ask("r0", "t0", "ls"));
    let first = puppet.request(&server).await;
    let locked = lock(&puppet).await;

    let ask_more = |asks: std::ops::Range<usize>| {
        for number in asks {
            puppet.say(&ask(&format!("r{number}"), &format!("t{number}"), "ls"));
        }
    };
    ask_more(1..ASKS / 2);
    for number in 0..TEXTS {
        puppet.say(&text(&format!("said-{number}"), &format!("said-{number}")));
    }
    let full = Arc::new(AtomicUsize::new(0));
    let mut writers = JoinSet::new();
    for number in 0..WRITERS {
        let (url, session) = (server.url().to_owned(), session.clone());
        writers.spawn(write(url, session, number, Arc::clone(&full)));
    }
    puppet
        .until("there is no room", || full.load(Ordering::Relaxed) > 0)
        .await;
    // From here on the agent is held back.
    ask_more(ASKS / 2..ASKS);
    let refused = puppet
        .decide(&server, &first, json!({"behavior": "allow"}))
        .await;
    assert_eq!(refused["code"], "store_unavailable", "{refused}");
    // Nobody is shown what is not on record, if only in the log, and nobody hears what is not.
    let shown = open_requests(&puppet, &server).await.len();
    assert!((1..=ASKS / 2).contains(&shown), "{shown}");
    assert_eq!(heard(&puppet), (Vec::new(), Vec::new()));

    unlock(locked).await;
    let answers: Vec<Value> = writers.join_all().await.into_iter().flatten().collect();
    let ids: BTreeSet<&str> = answers
        .iter()
        .filter_map(|answer| answer["id"].as_str())
        .collect();
    assert_eq!(ids.len(), WRITERS * MESSAGES, "one answer for each");
    let taken = answers.iter().filter(|answer| answer["type"] == "ack");
    let taken: BTreeSet<String> = taken
        .filter_map(|answer| answer["id"].as_str().map(str::to_owned))
        .collect();
    println!(
        "{} of {} were taken, {} found no room",
        taken.len(),
        ids.len(),
        full.load(Ordering::Relaxed)
    );

    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    let open = loop {
        let open = open_requests(&puppet, &server).await;
        if open.len() == ASKS {
            break open;
        }
        assert!(
            std::time::Instant::now() < deadline,
            "{} are open",
            open.len()
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(heard(&puppet).1, Vec::<String>::new());
    for request in &open {
        let allowed = puppet
            .decide(&server, request, json!({"behavior": "allow"}))
            .await;
        assert!(allowed["code"].is_null(), "{allowed}");
    }
    puppet
        .until("all that was taken is heard", || {
            heard(&puppet).0.len() >= taken.len()
        })
        .await;
    let (words, answered) = heard(&puppet);
    assert_eq!(words.len(), taken.len(), "once each");
    assert_eq!(words.into_iter().collect::<BTreeSet<_>>(), taken);
    let asked: Vec<String> = (0..ASKS).map(|number| format!("r{number}")).collect();
    assert_eq!(answered, asked);

    let page = format!("/api/sessions/{session}/transcript?limit=500");
    let page = puppet.get(&server, &page).await;
    let said = page["entries"].as_array().unwrap().iter();
    let said = said.filter(|entry| entry["kind"] == "assistant_text");
    let said: Vec<&str> = said.filter_map(|entry| entry["text"].as_str()).collect();
    let all: Vec<String> = (0..TEXTS).map(|number| format!("said-{number}")).collect();
    assert_eq!(said, all);
    puppet.kill(server).await;
    let verified = Command::new(env!("CARGO_BIN_EXE_sayso"))
        .args(["audit", "verify", "--data-dir"])
        .arg(puppet.data())
        .output()
        .await
        .unwrap();
    assert!(verified.status.success(), "{verified:?}");
}
