//! What stands between the server and its agents, taken away.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use crate::puppet::{self, Puppet, ask};
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

/// It lives, and nobody can hear it any more.
#[tokio::test]
async fn an_agent_that_closes_its_output_is_ended_at_once_and_can_be_resumed() {
    let puppet = Puppet::new();
    let server = puppet.server().await;
    let session = puppet.start(&server).await;
    puppet.say(&ask("r1", "t1", "ls"));
    puppet.request(&server).await;
    let agent = puppet.agent();
    let closed = Instant::now();
    puppet.close_output();
    puppet.until_decided(&server, &session, 1).await;
    let noticed = closed.elapsed();
    println!("noticed after {noticed:?}");
    // It used to take fifteen seconds: three patient steps.
    assert!(noticed < Duration::from_secs(5), "{noticed:?}");
    assert!(!puppet::is_running(agent));
    let sessions = puppet.get(&server, "/api/sessions").await;
    assert_eq!(
        (
            &sessions["sessions"][0]["state"],
            &sessions["sessions"][0]["can_resume"]
        ),
        (&json!("dead"), &json!(true))
    );
    let page = format!("/api/sessions/{session}/transcript");
    let page = puppet.get(&server, &page).await;
    let mut entries = page["entries"].as_array().unwrap().iter();
    let decision = entries.find(|entry| entry["kind"] == "decision").unwrap();
    assert_eq!(decision["outcome"]["what"], "withdrawn");
}
