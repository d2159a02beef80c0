//! The wall clock is set while a request is open.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::bash;
use crate::world::{PATIENCE, Server, World};

const HOUR: i64 = 60 * 60 * 1000;
const YEAR: i64 = 365 * 24 * HOUR;

async fn open_requests(world: &World, server: &Server) -> Vec<Value> {
    let (_, shown) = world.get(server, "/api/requests").await;
    shown["pending_requests"]
        .as_array()
        .cloned()
        .unwrap_or_default()
}

#[tokio::test]
async fn a_clock_that_is_set_forward_ends_the_time_and_allows_nothing() {
    for jump in [HOUR, YEAR] {
        let world = World::new();
        let server = world.start().await;
        world.asked(&server, "forward.txt").await;
        world.provoke("clock", &jump.to_string());
        let deadline = Instant::now() + PATIENCE;
        while !open_requests(&world, &server).await.is_empty() {
            assert!(Instant::now() < deadline, "its time is over");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert!(!world.made("forward.txt"));
        let next = world.asked(&server, "after.txt").await;
        world.goes_on(&server, &next, "after.txt").await;
        assert!(!world.made("forward.txt"));
    }
}

#[tokio::test]
async fn a_clock_that_is_set_back_leaves_open_what_is_open() {
    for jump in [-HOUR, -YEAR] {
        let world = World::new();
        let server = world.start().await;
        let request = world.asked(&server, "back.txt").await;
        world.provoke("clock", &jump.to_string());
        let next = world.asked(&server, "later.txt").await;
        world.goes_on(&server, &request, "back.txt").await;
        world.goes_on(&server, &next, "later.txt").await;
    }
}

/// How long the hub waits for something is nobody's clock to set.
#[tokio::test]
async fn a_clock_that_is_set_back_makes_nobody_wait_for_an_hour() {
    let world = World::new();
    let server = world.start().await;
    let request = world.asked(&server, "waiting.txt").await;
    world.signal_agents(Signal::STOP);
    let session = request["session_id"].as_str().unwrap();
    let path = format!("/api/sessions/{session}/permission_mode");
    let change = world.post(&server, &path, json!({"permission_mode": "plan"}));
    let set_back = async {
        // The change is with the agent by then, or has begun at the latest when the clock was set.
        tokio::time::sleep(Duration::from_millis(500)).await;
        world.provoke("clock", &(-HOUR).to_string());
    };
    let ((status, answer), ()) = tokio::join!(change, set_back);
    assert_eq!(
        (status, &answer["code"]),
        (502, &json!("agent_error")),
        "{answer}"
    );
    world.signal_agents(Signal::CONT);
}

/// What a rule allows for some minutes, it does not allow for a year.
#[tokio::test]
async fn a_rule_for_some_minutes_does_not_outlive_them() {
    let world = World::new();
    let server = world.start().await;
    let rule = json!({
        "rule": "Bash(touch allowed.txt)", "effect": "allow", "scope": {"kind": "everywhere"}, "minutes": 10,
    });
    let (status, added) = world.post(&server, "/api/rules", rule).await;
    assert_eq!(status, 200, "{added}");
    world.begin(&server, &bash("touch allowed.txt")).await;
    world
        .until("the rule allows", || world.made("allowed.txt"))
        .await;
    std::fs::remove_file(world.folder.path().join("project/allowed.txt")).unwrap();
    world.provoke("clock", &HOUR.to_string());
    world.asked(&server, "allowed.txt").await;
    assert!(!world.made("allowed.txt"));
    // A server that starts in a year before the rule was made does not know how much of its time is left.
    drop(server);
    world.provoke("clock", &(-YEAR).to_string());
    let server = world.start().await;
    let session = world.begin(&server, &bash("touch allowed.txt")).await;
    world
        .open(&server, |request| request["session_id"] == session)
        .await;
    assert!(!world.made("allowed.txt"));
}
