//! A hundred answers at once: one of them counts, the agent hears that one, and the others are told whose it was.

#![expect(
    clippy::unwrap_used,
    reason = "clippy knows test functions, but not the helpers of an integration test"
)]

mod support;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use futures_util::future::join_all;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use support::{Client, TestServer};

const CLIENTS: usize = 100;
/// More of them with `SAYSO_RACE_ROUNDS`.
const ROUNDS: usize = 1000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i2_of_a_hundred_answers_at_once_one_wins_and_all_others_are_told_who() {
    let rounds = std::env::var("SAYSO_RACE_ROUNDS").ok();
    let rounds = rounds.map_or(ROUNDS, |text| text.parse().unwrap());
    let agent = tempfile::tempdir().unwrap();
    let program = write_agent(agent.path());
    let server = TestServer::start_configured(|config| config.claude = Some(program)).await;
    let mut clients = join_all((0..CLIENTS).map(|_| server.connect())).await;
    let mut watcher = server.connect().await;
    let step = json!({"tool": {"name": "Bash", "input": {"command": "true"}}});
    let steps: Vec<&Value> = std::iter::repeat_n(&step, rounds).collect();
    let session = watcher
        .call(json!({
            "type": "start_session", "cwd": server.project(), "agent": "claude",
            "prompt": json!({"steps": steps}).to_string(),
        }))
        .await;
    let session = session["session_id"].as_str().unwrap().to_owned();
    watcher.subscribe(&session).await;
    for round in 0..rounds {
        let request = watcher.opened().await;
        let answers = join_all(
            clients
                .iter_mut()
                .enumerate()
                .map(|(number, client)| answer(client, &request, number)),
        )
        .await;
        let winners: Vec<usize> = (0..CLIENTS)
            .filter(|number| answers[*number]["type"] == "ack")
            .collect();
        assert_eq!(winners.len(), 1, "round {round}");
        let winner = &clients[winners[0]].welcome["client_id"];
        for answer in answers.iter().filter(|answer| answer["type"] != "ack") {
            assert_eq!(answer["code"], "already_decided", "round {round}");
            assert_eq!(
                &answer["outcome"]["client"]["client_id"], winner,
                "round {round}"
            );
        }
        // The agent heard the winner's words.
        let heard = watcher
            .entry(&session, |entry| {
                entry["kind"] == "tool_result" && entry["tool_use_id"] == request["tool_use_id"]
            })
            .await;
        let words = format!("No, says {}.", winners[0]);
        assert_eq!(heard["content"][0]["text"], words, "round {round}");
        for client in &mut clients {
            client.take_seen();
        }
    }
    server.stop().await;
    let heard = heard(agent.path());
    assert_eq!(heard.len(), rounds, "each request was answered");
    for (request, answers) in heard {
        assert_eq!(answers.len(), 1, "{request} heard {answers:?}");
    }
}

/// The demo agent, with all that it hears in a file.
fn write_agent(folder: &Path) -> std::path::PathBuf {
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 0.0.0; exit; fi\n\
         tee '{}' | '{}' fake-claude -- \"$@\"\n",
        folder.join("heard").display(),
        env!("CARGO_BIN_EXE_sayso"),
    );
    let program = folder.join("agent");
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
    program
}

/// The words of every answer, by the agent's own id of the request.
fn heard(folder: &Path) -> BTreeMap<String, Vec<Value>> {
    let mut heard: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let text = std::fs::read_to_string(folder.join("heard")).unwrap();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let response = &line["response"];
        if line["type"] == "control_response" && response["response"]["behavior"].is_string() {
            let request = response["request_id"].as_str().unwrap().to_owned();
            let answers = heard.entry(request).or_default();
            answers.push(response["response"]["message"].clone());
        }
    }
    heard
}

async fn answer(client: &mut Client, request: &Value, number: usize) -> Value {
    let decision = json!({"behavior": "deny", "message": format!("No, says {number}.")});
    client.respond(request, decision).await
}
