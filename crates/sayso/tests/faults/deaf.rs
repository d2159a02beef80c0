//! An agent that does not read for a while, and everything that is kept for it is full.

use std::pin::pin;
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::puppet::{self, Puppet, Server, ask};

/// What is told apart in what the agent heard: an answer by its request, a message by its first word.
fn names(heard: &[Value]) -> Vec<String> {
    let name = |line: &Value| match line["type"].as_str() {
        Some("control_response") => line["response"]["request_id"].as_str().map(str::to_owned),
        Some("user") => {
            let content = &line["message"]["content"];
            let text = content.as_str().or_else(|| content[0]["text"].as_str());
            text.and_then(|text| text.split(' ').next().map(str::to_owned))
        }
        _ => None,
    };
    heard.iter().filter_map(name).collect()
}

async fn send(puppet: &Puppet, server: &Server, session: &str, text: &str) -> Value {
    let path = format!("/api/sessions/{session}/messages");
    let content = json!([{"type": "text", "text": text}]);
    puppet
        .post(server, &path, json!({"content": content}))
        .await
}

fn stop_with(words: &str) -> Value {
    json!({"behavior": "deny", "message": words, "interrupt": true})
}

#[tokio::test]
async fn answers_and_the_words_behind_them_wait_for_room_and_arrive_once_each_in_order() {
    let puppet = Puppet::new();
    let server = puppet.server().await;
    let session = puppet.start(&server).await;
    puppet.say(&ask("r1", "t1", "first"));
    let first = puppet.request(&server).await;
    puppet.say(&ask("r2", "t2", "second"));
    let second = loop {
        let open = puppet.get(&server, "/api/requests").await;
        if let Some(request) = open["pending_requests"].get(1) {
            break request.clone();
        }
    };
    let before = puppet.heard().len();

    puppet.hear_only(1);
    send(&puppet, &server, &session, "heard").await;
    puppet
        .until("it hears one more", || puppet.heard().len() == before + 1)
        .await;
    // More than a pipe holds: what comes now waits behind it.
    let long = "x".repeat(200_000);
    send(&puppet, &server, &session, &format!("long {long}")).await;
    let mut answer = pin!(puppet.decide(&server, &first, stop_with("why-1")));
    let waits = tokio::time::timeout(Duration::from_millis(300), &mut answer).await;
    assert!(waits.is_err(), "{waits:?}");
    // Together more than is given out of hand.
    for name in ["huge-1", "huge-2"] {
        let huge = "x".repeat(900_000);
        send(&puppet, &server, &session, &format!("{name} {huge}")).await;
    }
    let mut taken = Vec::new();
    loop {
        let name = format!("small-{}", taken.len());
        let answer = send(&puppet, &server, &session, &name).await;
        if answer["code"] == "overloaded" {
            break;
        }
        assert!(answer["code"].is_null(), "{answer}");
        assert!(taken.len() < 2000, "there is no limit");
        taken.push(name);
    }
    let mut late = pin!(puppet.decide(&server, &second, stop_with("why-2")));
    let waits = tokio::time::timeout(Duration::from_millis(300), &mut late).await;
    assert!(waits.is_err(), "{waits:?}");

    // The first answer gets through, and finds no room for the words behind it.
    puppet.hear_only(1);
    let closed = answer.await;
    assert!(closed["code"].is_null(), "{closed}");
    let full = send(&puppet, &server, &session, "one-too-many").await;
    assert_eq!(full["code"], "overloaded");

    puppet.hear_all();
    let closed = late.await;
    assert!(closed["code"].is_null(), "{closed}");
    puppet
        .until("all is heard", || {
            let heard = names(&puppet.heard());
            heard.contains(&"why-1".to_owned()) && heard.contains(&"why-2".to_owned())
        })
        .await;
    let heard = names(&puppet.heard()[before..]);
    let place = |name: &str| {
        let mut places = heard.iter().enumerate().filter(|(_, heard)| *heard == name);
        let place = places.next().map(|(place, _)| place);
        assert!(places.next().is_none(), "{name} twice");
        place
    };
    assert!(place("r1") < place("why-1"), "{heard:?}");
    assert!(place("r2") < place("why-2"), "{heard:?}");
    let late = ["r2", "why-1", "why-2"].map(str::to_owned);
    let in_order: Vec<&String> = heard.iter().filter(|name| !late.contains(name)).collect();
    let sent = ["heard", "long", "r1", "huge-1", "huge-2"].map(str::to_owned);
    let sent: Vec<&String> = sent.iter().chain(&taken).collect();
    assert_eq!(in_order, sent);

    let page = format!("/api/sessions/{session}/transcript?limit=500");
    let page = puppet.get(&server, &page).await;
    let told = page["entries"].as_array().unwrap().iter();
    let told = told.filter(|entry| entry["kind"] == "user_message");
    let told: Vec<&str> = told
        .filter_map(|entry| entry["content"][0]["text"].as_str())
        .filter(|text| text.starts_with("why-"))
        .collect();
    assert_eq!(told, ["why-1", "why-2"]);
}

/// What it is owed would grow without end. That it does not read would be noticed after half a minute.
#[tokio::test]
async fn an_agent_that_asks_on_and_on_without_reading_is_ended_at_once() {
    let puppet = Puppet::new();
    let server = puppet.server().await;
    puppet.start(&server).await;
    puppet.hear_only(0);
    let agent = puppet.agent();
    let begun = Instant::now();
    let requests = (0..3000).map(|number| {
        let request = match number % 2 {
            0 => json!({"subtype": "mcp_message", "server_name": "none", "message": {}}),
            _ => json!({"subtype": "hook_callback", "callback_id": "sayso-before-tool",
                "tool_use_id": format!("t{number}"), "input": {"hook_event_name": "PreToolUse",
                "tool_name": "Bash", "tool_input": {"command": "ls"}}}),
        };
        json!({"type": "control_request", "request_id": format!("q{number}"), "request": request})
    });
    let requests: Vec<String> = requests.map(|request| request.to_string()).collect();
    puppet.say_exactly(&requests.join("\n"));
    puppet
        .until("it is ended", || !puppet::is_running(agent))
        .await;
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
    let dead = loop {
        let sessions = puppet.get(&server, "/api/sessions").await;
        let session = sessions["sessions"][0].clone();
        if session["state"] == "dead" {
            break session;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{session}");
    };
    let error = dead["error"].as_str().unwrap_or_default();
    assert!(error.contains("reads its input"), "{dead}");
}
