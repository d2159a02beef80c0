//! What the forms of requests are made from, and what they send beside yes and no.

#![expect(clippy::unwrap_used, reason = "a failure in a helper fails the test")]

mod support;

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use support::{Client, TOKEN, TestServer, bash, tool, tool_result};

async fn baseline(server: &TestServer, request: &Value) -> (u16, Value) {
    let id = request["request_id"].as_str().unwrap();
    let url = server.url(&format!("/api/requests/{id}/baseline"));
    let answer = reqwest::Client::new().get(url).bearer_auth(TOKEN);
    let answer = answer.send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

fn steps(steps: Value) -> Value {
    json!({ "steps": steps })
}

#[tokio::test]
async fn a_change_is_measured_against_the_file_as_it_is_now() {
    let server = TestServer::start().await;
    let file = server.project().join("notes.txt");
    let mut client = server.connect().await;
    let write = json!({"file_path": file, "content": "new\n"});
    client
        .start(&server, &steps(json!([tool("Write", write)])))
        .await;
    let request = client.opened().await;

    let (status, before) = baseline(&server, &request).await;
    assert_eq!(status, 200);
    assert_eq!(
        (&before["kind"], &before["state"]),
        (&json!("file"), &json!("missing"))
    );
    // Somebody else is quicker than the human.
    fs::write(&file, "old\n").unwrap();
    let (_, now) = baseline(&server, &request).await;
    assert_eq!(now["state"], "text");
    assert_eq!(now["text"], "old\n");
    assert_eq!(now["size"], 4);

    client.respond(&request, json!({"behavior": "deny"})).await;
    client.closed(&request).await;
    // Only what an open request names can be read this way.
    let (status, error) = baseline(&server, &request).await;
    assert_eq!((status, &error["code"]), (404, &json!("unknown_request")));
    server.stop().await;
}

#[tokio::test]
async fn a_command_has_nothing_to_be_measured_against() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    client.start(&server, &bash("cat /etc/hostname")).await;
    let request = client.opened().await;
    assert_eq!(baseline(&server, &request).await.1, json!({"kind": "none"}));
    server.stop().await;
}

async fn start_planning(client: &mut Client, server: &TestServer, script: &Value) {
    let ack = client
        .call(json!({
            "type": "start_session", "agent": "demo", "cwd": server.project(),
            "permission_mode": "plan", "prompt": script.to_string(),
        }))
        .await;
    assert_eq!(ack["type"], "ack", "{ack}");
}

#[tokio::test]
async fn a_plan_is_measured_against_the_one_before_and_leads_to_the_chosen_mode() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let script = steps(json!([{"plan": "1. First\n"}, {"plan": "1. Second\n"}]));
    start_planning(&mut client, &server, &script).await;

    let first = client.opened().await;
    let none = json!({"kind": "plan", "text": null});
    assert_eq!(baseline(&server, &first).await.1, none);
    let reason = json!({"behavior": "deny", "message": "Better, please."});
    client.respond(&first, reason).await;

    let second = client.opened().await;
    let before = json!({"kind": "plan", "text": "1. First\n"});
    assert_eq!(baseline(&server, &second).await.1, before);
    let bypass = json!({"behavior": "allow", "permission_mode": "bypassPermissions"});
    let error = client.respond(&second, bypass).await;
    assert_eq!(error["code"], "invalid_answer", "{error}");
    let accept = json!({"behavior": "allow", "permission_mode": "acceptEdits"});
    let ack = client.respond(&second, accept).await;
    assert_eq!(ack["type"], "ack", "{ack}");
    client
        .wait_for(|frame| frame["session"]["permission_mode"] == "acceptEdits")
        .await;
    server.stop().await;
}

#[tokio::test]
async fn a_note_reaches_the_agent_and_the_transcript() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let question = json!({"questions": [{
        "question": "Which layout?", "header": "Layout", "multiSelect": false,
        "options": [
            {"label": "Wide", "description": "", "preview": "| a | b |"},
            {"label": "Tall", "description": ""},
        ],
    }]});
    let script = steps(json!([{ "question": question }]));
    let session = client.start(&server, &script).await;
    client.subscribe(&session).await;
    let request = client.opened().await;
    let answer = json!({
        "behavior": "answer",
        "answers": {"Which layout?": "Wide"},
        "notes": {"Which layout?": "but not too wide"},
    });
    let ack = client.respond(&request, answer).await;
    assert_eq!(ack["type"], "ack", "{ack}");
    let result = tool_result(&mut client, &session).await;
    assert!(result.contains("but not too wide"), "{result}");
    assert!(result.contains("| a | b |"), "{result}");
    let decision = client
        .entry(&session, |entry| entry["kind"] == "decision")
        .await;
    assert_eq!(
        decision["notes"],
        json!({"Which layout?": "but not too wide"})
    );
    server.stop().await;
}

#[tokio::test]
async fn a_preview_in_html_is_a_document_without_rights() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let html = "<style>p{color:red}</style><p>Look</p><script>alert(1)</script>";
    let question = json!({"questions": [{
        "question": "Which?", "header": "Look", "multiSelect": false,
        "options": [{"label": "A", "preview": html}, {"label": "B"}],
    }]});
    let script = steps(json!([{ "question": question }]));
    client.start(&server, &script).await;
    let request = client.opened().await;
    let id = request["request_id"].as_str().unwrap();
    let get = async |option: u32| {
        let url = server.url(&format!("/api/requests/{id}/preview/0/{option}"));
        let ask = reqwest::Client::new().get(url).bearer_auth(TOKEN);
        ask.send().await.unwrap()
    };
    let answer = get(0).await;
    let policy = answer.headers()["content-security-policy"]
        .to_str()
        .unwrap();
    assert!(
        policy.starts_with("sandbox; default-src 'none'"),
        "{policy}"
    );
    assert!(!policy.contains("script"), "{policy}");
    assert_eq!(answer.headers()["x-content-type-options"], "nosniff");
    assert_eq!(answer.headers()["content-type"], "text/html; charset=utf-8");
    assert_eq!(answer.text().await.unwrap(), html);
    assert_eq!(get(1).await.status(), 404);
    assert_eq!(get(7).await.status(), 404);
    server.stop().await;
}
