//! What stands between the server and its agents, taken away.

use rustix::process::Signal;
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn an_agent_whose_socket_was_removed_is_found_again() {
    let world = World::new();
    let mut server = world.start().await;
    let request = world.asked(&server, "socket.txt").await;
    server.child.kill().await.unwrap();
    for entry in std::fs::read_dir(world.data().join("agents")).unwrap() {
        std::fs::remove_file(entry.unwrap().path().join("socket")).unwrap();
    }
    let server = world.start().await;
    world.goes_on(&server, &request, "socket.txt").await;
}

#[tokio::test]
async fn an_answer_to_an_agent_whose_input_is_full_arrives_once_it_reads() {
    let world = World::new();
    let server = world.start().await;
    let request = world.asked(&server, "full.txt").await;
    world.signal_agents(Signal::STOP);
    let session = request["session_id"].as_str().unwrap();
    let path = format!("/api/sessions/{session}/messages");
    // Far more than a pipe holds.
    for _ in 0..8 {
        let content = json!([{"type": "text", "text": "x".repeat(200_000)}]);
        let (status, answer) = world
            .post(&server, &path, json!({"content": content}))
            .await;
        assert!([200, 429, 503].contains(&status), "{status} {answer}");
    }
    let allowed = world.allow(&server, &request);
    let read = async {
        // Time enough for the answer to arrive, if it could.
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        assert!(!world.made("full.txt"));
        world.signal_agents(Signal::CONT);
    };
    let ((status, answer), ()) = tokio::join!(allowed, read);
    assert_eq!(status, 200, "{answer}");
    world
        .until("the file is made", || world.made("full.txt"))
        .await;
}
