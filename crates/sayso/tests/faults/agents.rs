//! What stands between the server and its agents, taken away.

use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process, kill_process_group};
use serde_json::{Value, json};

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

fn allow() -> Value {
    json!({"behavior": "allow"})
}

/// Two requests are open, and one of them is answered.
async fn one_of_two_answered(puppet: &Puppet, server: &puppet::Server) -> String {
    let session = puppet.start(server).await;
    puppet.say(&ask("r1", "t1", "ls"));
    let request = puppet.request(server).await;
    puppet.say(&ask("r2", "t2", "pwd"));
    while puppet.get(server, "/api/requests").await["pending_requests"][1].is_null() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    puppet.decide(server, &request, allow()).await;
    session
}

async fn resume(puppet: &Puppet, server: &puppet::Server, session: &str) -> Value {
    let cwd = puppet.folder.path().join("project");
    let again = json!({"cwd": cwd, "resume": session, "ask_again": true});
    puppet.post(server, "/api/sessions", again).await
}

fn is_unresponsive(session: &Value) -> bool {
    session["unresponsive"]["since"].is_string()
}

fn is_dead(session: &Value) -> bool {
    session["state"] == "dead"
}

#[tokio::test]
async fn an_agent_that_ignores_an_answer_is_ended_after_a_while_and_can_be_resumed() {
    let puppet = Puppet::new();
    puppet.configure("agent_patience = \"2s\"");
    let server = puppet.server().await;
    puppet.make("mute");
    let session = one_of_two_answered(&puppet, &server).await;
    let agent = puppet.agent();
    let answered = Instant::now();
    let told = puppet.until_session(&server, is_unresponsive).await;
    println!("noticed after {:?}", answered.elapsed());
    assert!(told["unresponsive"]["ends_at"].is_string(), "{told}");
    let dead = puppet.until_session(&server, is_dead).await;
    println!("ended after {:?}", answered.elapsed());
    let error = dead["error"].as_str().unwrap();
    assert!(error.contains("did not react for 2s"), "{error}");
    assert_eq!(dead["unresponsive"], Value::Null);
    assert!(!puppet::is_running(agent));
    puppet.until_decided(&server, &session, 2).await;
    let outcomes = puppet.outcomes(&server, &session).await;
    assert_eq!(outcomes, [json!("allowed"), json!("withdrawn")]);

    puppet.cure("mute");
    puppet.forget();
    let resumed = resume(&puppet, &server, &session).await;
    assert_eq!(resumed["session_id"], session.as_str(), "{resumed}");
    let lives = |session: &Value| session["state"] == "user_turn";
    puppet.until_session(&server, lives).await;
}

#[tokio::test]
async fn an_agent_that_does_not_read_is_ended_after_a_while() {
    let puppet = Puppet::new();
    puppet.configure("agent_patience = \"2s\"");
    let server = puppet.server().await;
    let session = puppet.start(&server).await;
    puppet.say(&ask("r1", "t1", "ls"));
    puppet.request(&server).await;
    puppet.make("deaf");
    let path = format!("/api/sessions/{session}/messages");
    // The first one still finds it reading; the second is more than a pipe holds.
    for length in [1, 512 * 1024] {
        let content = json!([{"type": "text", "text": "x".repeat(length)}]);
        puppet
            .post(&server, &path, json!({"content": content}))
            .await;
    }
    let sent = Instant::now();
    puppet.until_session(&server, is_unresponsive).await;
    println!("noticed after {:?}", sent.elapsed());
    puppet.until_session(&server, is_dead).await;
    println!("ended after {:?}", sent.elapsed());
    puppet.until_decided(&server, &session, 1).await;
    let outcomes = puppet.outcomes(&server, &session).await;
    assert_eq!(outcomes, [json!("withdrawn")]);
}

/// A tool may run for an hour without a word.
#[tokio::test]
async fn an_agent_that_works_quietly_is_asked_and_left_alone() {
    let puppet = Puppet::new();
    puppet.configure("agent_patience = \"1s\"");
    let server = puppet.server().await;
    one_of_two_answered(&puppet, &server).await;
    puppet
        .until("it is asked for a word", || {
            puppet.has_heard("get_binary_version")
        })
        .await;
    // More than it takes to be noticed, and to be ended.
    let until = Instant::now() + Duration::from_secs(3);
    while Instant::now() < until {
        let sessions = puppet.get(&server, "/api/sessions").await;
        let session = &sessions["sessions"][0];
        assert!(!is_unresponsive(session) && !is_dead(session), "{session}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn an_agent_that_does_not_react_is_replaced_at_a_word() {
    let puppet = Puppet::new();
    let server = puppet.server().await;
    let session = puppet.start(&server).await;
    puppet.say(&ask("r1", "t1", "ls"));
    let request = puppet.request(&server).await;
    puppet.say(&ask("r2", "t2", "pwd"));
    let agent = puppet.agent();
    puppet
        .until_session(&server, |session| session["state"] == "assistant_turn")
        .await;
    kill_process_group(puppet::pid(agent), Signal::STOP).unwrap();
    puppet.decide(&server, &request, allow()).await;
    puppet.until_session(&server, is_unresponsive).await;
    let asked = Instant::now();
    puppet.forget();
    let resumed = resume(&puppet, &server, &session).await;
    println!("replaced after {:?}", asked.elapsed());
    assert_eq!(resumed["session_id"], session.as_str(), "{resumed}");
    assert!(!puppet::is_running(agent));
    let lives = |session: &Value| session["state"] == "user_turn" && session["error"].is_null();
    puppet.until_session(&server, lives).await;
}

/// As on a machine that was suspended: time has passed, and nobody had a chance to react.
#[tokio::test]
async fn patience_begins_anew_when_everything_stood_still() {
    let puppet = Puppet::new();
    puppet.configure("agent_patience = \"3s\"");
    let server = puppet.server().await;
    let session = puppet.start(&server).await;
    puppet.say(&ask("r1", "t1", "ls"));
    let request = puppet.request(&server).await;
    let agent = puppet::pid(puppet.agent());
    kill_process_group(agent, Signal::STOP).unwrap();
    puppet.decide(&server, &request, allow()).await;
    puppet.until_session(&server, is_unresponsive).await;
    kill_process(server.pid(), Signal::STOP).unwrap();
    tokio::time::sleep(Duration::from_secs(4)).await;
    kill_process(server.pid(), Signal::CONT).unwrap();
    let told = puppet.until_session(&server, |_| true).await;
    assert!(is_unresponsive(&told), "{told}");
    kill_process_group(agent, Signal::CONT).unwrap();
    puppet
        .until_session(&server, |session| {
            !is_unresponsive(session) && !is_dead(session)
        })
        .await;
    puppet.say(&puppet::text("m1", "done"));
    puppet
        .until_session(&server, |session| session["last_seq"] == 4)
        .await;
    let page = format!("/api/sessions/{session}/transcript");
    let page = puppet.get(&server, &page).await;
    assert_eq!(page["entries"][3]["text"], "done");
}

/// It had ignored an answer of the server before.
#[tokio::test]
async fn an_agent_that_did_not_react_is_noticed_by_the_next_server() {
    let puppet = Puppet::new();
    puppet.configure("agent_patience = \"2s\"");
    let server = puppet.server().await;
    puppet.start(&server).await;
    puppet.say(&ask("r1", "t1", "ls"));
    puppet.request(&server).await;
    puppet.make("mute");
    puppet.kill(server).await;
    let server = puppet.server().await;
    puppet.until_session(&server, is_unresponsive).await;
    let dead = puppet.until_session(&server, is_dead).await;
    assert_eq!(dead["can_resume"], json!(true));
}

/// The process that holds the agent is stopped, too, so that nobody carries out its end.
#[tokio::test]
async fn an_agent_whose_holder_is_stopped_ends_all_the_same() {
    let puppet = Puppet::new();
    puppet.configure("agent_patience = \"1s\"");
    let server = puppet.server().await;
    puppet.start(&server).await;
    puppet.say(&ask("r1", "t1", "ls"));
    let request = puppet.request(&server).await;
    puppet.make("mute");
    puppet.decide(&server, &request, allow()).await;
    let agent = puppet.stop_runner();
    puppet.until_session(&server, is_dead).await;
    assert!(!puppet::is_running(agent));
}
