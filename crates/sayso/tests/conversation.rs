//! What makes a session a conversation: queued messages, names, history in parts, modes that need a restart.

#![expect(clippy::unwrap_used, reason = "a failure in a helper fails the test")]

mod support;

use pretty_assertions::assert_eq;
use sayso::config::PolicySettings;
use serde_json::{Value, json};
use support::{Client, TOKEN, TestServer, bash, tool};

fn text(words: &str) -> Value {
    json!([{"type": "text", "text": words}])
}

async fn send(client: &mut Client, session: &str, words: &str) {
    let message = json!({"type": "send_message", "session_id": session, "content": text(words)});
    let ack = client.call(message).await;
    assert_eq!(ack["type"], "ack", "{ack}");
}

/// Waits until exactly these messages are queued, and gives their ids.
async fn queue(client: &mut Client, session: &str, expected: &[&str]) -> Vec<String> {
    let words = |frame: &Value| -> Vec<Value> {
        let messages = frame["messages"].as_array().into_iter().flatten();
        messages
            .map(|message| message["content"][0]["text"].clone())
            .collect()
    };
    let fits = |frame: &Value| {
        frame["type"] == "queue" && frame["session_id"] == session && words(frame) == expected
    };
    let frame = client.wait_for(fits).await;
    let messages = frame["messages"].as_array().into_iter().flatten();
    messages
        .map(|message| message["message_id"].as_str().unwrap().to_owned())
        .collect()
}

fn user_message(words: &str) -> impl Fn(&Value) -> bool {
    let words = words.to_owned();
    move |entry: &Value| entry["kind"] == "user_message" && entry["content"][0]["text"] == words
}

#[tokio::test]
async fn a_queued_message_can_be_changed_and_taken_back_until_it_is_read() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let session = client.start(&server, &bash("true")).await;
    client.subscribe(&session).await;
    let request = client.opened().await;

    send(&mut client, &session, "first").await;
    send(&mut client, &session, "second").await;
    let ids = queue(&mut client, &session, &["first", "second"]).await;
    let changed = json!({"steps": [{"say": "I read the changed one."}]}).to_string();
    let edit = json!({
        "type": "edit_queued", "session_id": session, "message_id": ids[0], "content": text(&changed),
    });
    assert_eq!(client.call(edit.clone()).await["type"], "ack");
    queue(&mut client, &session, &["second", &changed]).await;
    let remove = json!({"type": "remove_queued", "session_id": session, "message_id": ids[1]});
    assert_eq!(client.call(remove.clone()).await["type"], "ack");
    queue(&mut client, &session, &[&changed]).await;

    for (late, code) in [(edit, "already_sent"), (remove, "already_sent")] {
        assert_eq!(client.call(late).await["code"], code);
    }
    let empty = json!({
        "type": "edit_queued", "session_id": session, "message_id": ids[1], "content": text(" "),
    });
    assert_eq!(client.call(empty).await["code"], "invalid_message");

    client.respond(&request, json!({"behavior": "allow"})).await;
    queue(&mut client, &session, &[]).await;
    let read = client.entry(&session, user_message(&changed)).await;
    assert_eq!(read["queued"], true);
    let said = |entry: &Value| entry["text"] == "I read the changed one.";
    let answer = client.entry(&session, said).await;
    assert!(read["seq"].as_u64() < answer["seq"].as_u64());
    let never = ["first", "second"].map(user_message);
    let seen = client.take_seen();
    let entries = seen.iter().filter_map(|frame| frame["entries"].as_array());
    assert!(
        entries
            .flatten()
            .all(|entry| never.iter().all(|fits| !fits(entry)))
    );
    server.stop().await;
}

#[tokio::test]
async fn what_an_ended_agent_left_unread_waits_for_the_next_one_even_over_a_restart() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let dies = json!({"steps": [{"sleep_ms": 2000}, "crash"]});
    let session = client.start(&server, &dies).await;
    client.subscribe(&session).await;
    client.state(&session, "assistant_turn").await;
    let script = json!({"steps": [{"say": "Here I am."}]}).to_string();
    send(&mut client, &session, &script).await;
    queue(&mut client, &session, &[&script]).await;
    client.state(&session, "dead").await;
    let folder = server.stop().await;

    let server = TestServer::start_in(folder, PolicySettings::default()).await;
    let mut client = server.connect().await;
    client.subscribe(&session).await;
    let ids = queue(&mut client, &session, &[&script]).await;
    let edited = json!({"steps": [{"say": "Here I am, edited."}]}).to_string();
    let edit = json!({
        "type": "edit_queued", "session_id": session, "message_id": ids[0], "content": text(&edited),
    });
    assert_eq!(client.call(edit).await["type"], "ack");
    queue(&mut client, &session, &[&edited]).await;
    let resume = json!({"type": "start_session", "cwd": "", "resume": session});
    let ack = client.call(resume).await;
    assert_eq!(ack["session_id"], json!(session), "{ack}");
    client
        .entry(&session, |entry| entry["text"] == "Here I am, edited.")
        .await;
    queue(&mut client, &session, &[]).await;
    server.stop().await;
}

#[tokio::test]
async fn a_name_and_an_archived_session_stay_so() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let session = client.start(&server, &json!("Hello")).await;
    let rename = json!({"type": "rename_session", "session_id": session, "title": " Login bug "});
    assert_eq!(client.call(rename).await["type"], "ack");
    let archive = json!({"type": "archive_session", "session_id": session, "archived": true});
    assert_eq!(client.call(archive).await["type"], "ack");
    let folder = server.stop().await;

    let server = TestServer::start_in(folder, PolicySettings::default()).await;
    let mut client = server.connect().await;
    let known = client.welcome["sessions"][0].clone();
    assert_eq!(
        (&known["title"], &known["archived"]),
        (&json!("Login bug"), &json!(true))
    );
    // Going on with it brings it back.
    let resume = json!({"type": "start_session", "cwd": "", "resume": session});
    client.call(resume).await;
    let known = client.state(&session, "user_turn").await;
    assert_eq!(known["archived"], false);
    server.stop().await;
}

#[tokio::test]
async fn a_long_transcript_is_opened_at_its_end_and_read_backwards() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let steps: Vec<Value> = (0..20)
        .map(|number| json!({"say": format!("line {number}")}))
        .collect();
    let session = client.start(&server, &json!({"steps": steps})).await;
    client.subscribe(&session).await;
    client
        .entry(&session, |entry| entry["kind"] == "turn_ended")
        .await;
    let mut client = server.connect().await;
    let last = client.welcome["sessions"][0]["last_seq"].as_u64().unwrap();
    assert!(last >= 20, "{last} entries");
    let subscribe = json!({"type": "subscribe", "session_id": session, "last": 5});
    client.call(subscribe).await;
    let numbers = |entries: &Value| -> Vec<u64> {
        let entries = entries.as_array().into_iter().flatten();
        entries
            .map(|entry| entry["seq"].as_u64().unwrap())
            .collect()
    };
    let frame = client.wait_for(|frame| frame["type"] == "transcript").await;
    assert_eq!(
        numbers(&frame["entries"]),
        (last - 4..=last).collect::<Vec<_>>()
    );
    let api = reqwest::Client::new();
    let path = format!(
        "/api/sessions/{session}/transcript?before={}&limit=3",
        last - 4
    );
    let page = api.get(server.url(&path)).bearer_auth(TOKEN).send().await;
    let page: Value = page.unwrap().json().await.unwrap();
    assert_eq!(
        numbers(&page["entries"]),
        (last - 7..=last - 5).collect::<Vec<_>>()
    );
    server.stop().await;
}

#[tokio::test]
async fn a_mode_that_needs_another_start_refuses_what_is_open_and_goes_on() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let session = client.start(&server, &bash("touch asked.txt")).await;
    client.subscribe(&session).await;
    let request = client.opened().await;
    let mode = "bypassPermissions";
    let set =
        json!({"type": "set_permission_mode", "session_id": session, "permission_mode": mode});
    let ack = client.call(set).await;
    assert_eq!(ack["type"], "ack", "{ack}");
    let outcome = client.closed(&request).await;
    assert_eq!(
        (&outcome["what"], &outcome["by"]),
        (&json!("denied"), &json!("mode"))
    );
    client
        .wait_for(|frame| {
            frame["session"]["state"] == "user_turn" && frame["session"]["permission_mode"] == mode
        })
        .await;
    assert!(!server.project().join("asked.txt").exists());
    let script = json!({"steps": [tool("Bash", json!({"command": "touch unasked.txt"}))]});
    send(&mut client, &session, &script.to_string()).await;
    client
        .entry(&session, |entry| {
            entry["kind"] == "tool_result" && entry["is_error"] == false
        })
        .await;
    assert!(server.project().join("unasked.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn those_who_watch_hear_what_the_agent_can_do() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let session = client.start(&server, &json!("Hello")).await;
    client.subscribe(&session).await;
    let features = client
        .wait_for(|frame| {
            frame["type"] == "session_features" && frame["commands"][0]["name"] == "clear"
        })
        .await;
    assert_eq!(features["models"][0]["label"], "Demo agent");
    let agents = client.wait_for(|frame| frame["type"] == "agents").await;
    let demo = agents["agents"].as_array().unwrap().iter();
    let mut demo = demo.filter(|agent| agent["agent"] == "demo");
    assert_eq!(
        demo.next().unwrap()["models"][0]["label"],
        json!("Demo agent")
    );
    server.stop().await;
}

#[tokio::test]
async fn older_names_of_modes_are_understood_with_a_note() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let start = json!({
        "type": "start_session", "agent": "demo", "cwd": server.project(), "permission_mode": "delegate",
    });
    let ack = client.call(start).await;
    let session = ack["session_id"].as_str().unwrap().to_owned();
    client.subscribe(&session).await;
    let note = client
        .entry(&session, |entry| entry["kind"] == "notice")
        .await;
    assert_eq!(
        note["text"],
        "The mode `delegate` is called `default` here."
    );
    let unknown =
        json!({"type": "set_permission_mode", "session_id": session, "permission_mode": "yolo"});
    assert_eq!(client.call(unknown).await["code"], "invalid_message");
    server.stop().await;
}

#[tokio::test]
async fn the_mode_that_asks_nothing_ends_when_its_time_is_over() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let start = json!({
        "type": "start_session", "agent": "demo", "cwd": server.project(),
        "permission_mode": "bypassPermissions", "policies": {"bypass_expiry": "1s"},
    });
    let ack = client.call(start).await;
    assert_eq!(ack["type"], "ack", "{ack}");
    let session = ack["session_id"].as_str().unwrap().to_owned();
    client.subscribe(&session).await;
    client
        .wait_for(|frame| frame["session"]["permission_mode"] == "bypassPermissions")
        .await;
    client
        .wait_for(|frame| frame["session"]["permission_mode"] == "default")
        .await;
    let note = client
        .entry(&session, |entry| entry["kind"] == "notice")
        .await;
    assert!(
        note["text"].as_str().unwrap().contains("asks again"),
        "{note}"
    );
    let script = json!({"steps": [tool("Bash", json!({"command": "touch asked.txt"}))]});
    send(&mut client, &session, &script.to_string()).await;
    client.opened().await;
    assert!(!server.project().join("asked.txt").exists());
    server.stop().await;
}
