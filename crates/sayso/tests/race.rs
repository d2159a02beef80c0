//! A hundred answers at once: one of them counts, the agent hears that one, and the others are told whose it was.

mod support;

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
    let server = TestServer::start().await;
    let mut clients = join_all((0..CLIENTS).map(|_| server.connect())).await;
    let mut watcher = server.connect().await;
    let step = json!({"tool": {"name": "Bash", "input": {"command": "true"}}});
    let steps: Vec<&Value> = std::iter::repeat_n(&step, rounds).collect();
    let session = watcher.start(&server, &json!({"steps": steps})).await;
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
}

async fn answer(client: &mut Client, request: &Value, number: usize) -> Value {
    let decision = json!({"behavior": "deny", "message": format!("No, says {number}.")});
    client.respond(request, decision).await
}
