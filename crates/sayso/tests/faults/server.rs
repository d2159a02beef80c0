//! What the server needs from the system, taken away.

use rustix::process::{Resource, getrlimit};
use serde_json::json;

use crate::support::Client;
use crate::world::World;

#[tokio::test]
async fn without_descriptors_nobody_new_comes_in_and_who_is_there_goes_on() {
    let world = World::new();
    let server = world.start().await;
    let request = world.asked(&server, "descriptors.txt").await;
    let mut client = Client::to(&server.url).await;
    let usual = getrlimit(Resource::Nofile).current;
    server.limit(Resource::Nofile, Some(0));
    let cwd = world.folder.path().join("project");
    let start = json!({"type": "start_session", "cwd": cwd, "agent": "demo", "prompt": "hello"});
    // Which step of the start it is that finds none left is chance.
    let started = client.call(start).await;
    if let Some(session) = started["session_id"].as_str() {
        let dead = client.state(session, "dead").await;
        assert!(dead["error"].is_string(), "nobody is told why: {dead}");
    } else {
        assert_eq!(started["type"], "error", "{started}");
    }
    let ack = client.respond(&request, json!({"behavior": "allow"})).await;
    assert_eq!(ack["type"], "ack", "{ack}");
    world
        .until("the file is made", || world.made("descriptors.txt"))
        .await;
    let newcomer = tokio::net::TcpStream::connect(server.url.trim_start_matches("http://"));
    // The system takes the connection; nobody answers on it.
    drop(newcomer.await);
    server.limit(Resource::Nofile, usual);
    let next = world.asked(&server, "more.txt").await;
    world.goes_on(&server, &next, "more.txt").await;
}
