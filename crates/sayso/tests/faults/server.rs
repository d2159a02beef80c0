//! What the server needs from the system, taken away.

use rustix::process::{Resource, Rlimit, getrlimit, prlimit};
use serde_json::json;

use crate::support::Client;
use crate::world::{Server, World};

fn limit_descriptors(server: &Server, count: Option<u64>) {
    let limit = Rlimit {
        current: count,
        maximum: getrlimit(Resource::Nofile).maximum,
    };
    prlimit(Some(server.pid()), Resource::Nofile, limit).unwrap();
}

#[tokio::test]
async fn without_descriptors_nobody_new_comes_in_and_who_is_there_goes_on() {
    let world = World::new();
    let server = world.start().await;
    let request = world.asked(&server, "descriptors.txt").await;
    let mut client = Client::to(&server.url).await;
    let usual = getrlimit(Resource::Nofile).current;
    limit_descriptors(&server, Some(0));
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
    limit_descriptors(&server, usual);
    let next = world.asked(&server, "more.txt").await;
    world.goes_on(&server, &next, "more.txt").await;
}
