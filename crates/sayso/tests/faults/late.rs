//! What happens while nothing can be written is written when it can be, and until then nobody forgets it.

#![expect(clippy::unwrap_used, reason = "a failure in a helper fails the test")]

use std::time::Instant;

use rustix::process::{Pid, Resource, Signal, kill_process_group};
use serde_json::{Value, json};
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use tokio::process::Command;

use crate::puppet::{self, Puppet, Server, ask, text, tool_result};
use crate::world::{PATIENCE, limit};

/// What runs as the agent: this test binary, called by a script.
#[test]
#[ignore = "is the agent of the tests here"]
fn puppet_agent() {
    puppet::run();
}

/// A server that is told when a file cannot grow. One that does not ignore this signal dies of it instead.
async fn server(puppet: &Puppet) -> Server {
    let mut command = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_sayso");
    command.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\"", program]);
    puppet.server_as(command).await
}

async fn count(puppet: &Puppet, query: &'static str) -> i64 {
    let options = SqliteConnectOptions::new().filename(puppet.data().join("sayso.db"));
    let mut database = options.read_only(true).connect().await.unwrap();
    let counted = sqlx::query_scalar(query).fetch_one(&mut database).await;
    counted.unwrap_or(0)
}

async fn until_counted(puppet: &Puppet, query: &'static str) {
    let deadline = Instant::now() + PATIENCE;
    while count(puppet, query).await == 0 {
        assert!(Instant::now() < deadline, "never: {query}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

/// Writes are carried out in order: when this one has failed, those before it have.
async fn nothing_is_written(puppet: &Puppet, server: &Server) {
    let rule = json!({"rule": "Bash(x)", "effect": "deny", "scope": {"kind": "everywhere"}});
    let refused = puppet.post(server, "/api/rules", rule).await;
    assert_eq!(refused["code"], "store_unavailable", "{refused}");
}

async fn session(puppet: &Puppet, server: &Server) -> Value {
    let sessions = puppet.get(server, "/api/sessions").await;
    sessions["sessions"][0].clone()
}

async fn until_session(puppet: &Puppet, server: &Server, holds: impl Fn(&Value) -> bool) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let session = session(puppet, server).await;
        if holds(&session) {
            return;
        }
        assert!(Instant::now() < deadline, "never so: {session}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn what_an_agent_says_while_nothing_can_be_written_is_on_record_afterwards() {
    let puppet = Puppet::new();
    let server = server(&puppet).await;
    let id = puppet.start(&server).await;
    puppet.say(&ask("r1", "t1", "ls"));
    let request = puppet.request(&server).await;
    puppet
        .decide(&server, &request, json!({"behavior": "allow"}))
        .await;
    puppet.until_decided(&server, &id, 1).await;

    limit(server.pid(), Resource::Fsize, Some(0));
    puppet.say(&tool_result("t1", "done"));
    puppet.say(
        &json!({"type": "system", "subtype": "init", "model": "another",
        "session_id": "6c1a5fd2-7f0f-4f0e-8a55-3ad39cc0a1b7", "permissionMode": "plan"}),
    );
    until_session(&puppet, &server, |session| session["model"] == "another").await;
    nothing_is_written(&puppet, &server).await;
    limit(server.pid(), Resource::Fsize, None);

    let row = "SELECT count(*) FROM sessions WHERE model = 'another'";
    until_counted(&puppet, row).await;
    let mode = "SELECT count(*) FROM audit WHERE kind = 'mode' AND outcome = 'plan'";
    until_counted(&puppet, mode).await;
    let tool = "SELECT count(*) FROM audit WHERE kind = 'outcome' AND outcome = 'ran'";
    until_counted(&puppet, tool).await;
    puppet.kill(server).await;
    assert_eq!(count(&puppet, mode).await, 1);
    assert_eq!(count(&puppet, tool).await, 1);
}

/// The disk comes back only for the next server.
#[tokio::test]
async fn an_agent_is_not_forgotten_before_its_end_is_on_record() {
    let puppet = Puppet::new();
    let first = server(&puppet).await;
    let id = puppet.start(&first).await;
    puppet.say(&ask("r1", "t1", "ls"));
    puppet.request(&first).await;

    limit(first.pid(), Resource::Fsize, Some(0));
    puppet.say_unheard(&text("m1", "last words")).await;
    let agent = i32::try_from(puppet.agent()).unwrap();
    kill_process_group(Pid::from_raw(agent).unwrap(), Signal::KILL).unwrap();
    until_session(&puppet, &first, |session| session["state"] == "dead").await;
    nothing_is_written(&puppet, &first).await;
    assert!(!puppet::is_empty(&puppet.data().join("agents")));
    puppet.kill(first).await;

    let second = server(&puppet).await;
    until_session(&puppet, &second, |session| session["state"] == "dead").await;
    puppet.until_decided(&second, &id, 1).await;
    let page = format!("/api/sessions/{id}/transcript");
    let page = puppet.get(&second, &page).await;
    let entries = page["entries"].as_array().unwrap();
    let said = |text: &str| {
        let all = entries.iter().filter(|entry| entry["text"] == text);
        all.count()
    };
    assert_eq!(said("last words"), 1, "{page}");
    let decisions: Vec<&Value> = entries
        .iter()
        .filter(|entry| entry["kind"] == "decision")
        .map(|entry| &entry["outcome"]["what"])
        .collect();
    assert_eq!(decisions, ["withdrawn"], "its end was seen");
    let ended = "SELECT count(*) FROM audit WHERE kind = 'session' AND outcome = 'ended'";
    until_counted(&puppet, ended).await;
    let agents = puppet.data().join("agents");
    puppet
        .until("it is forgotten", || puppet::is_empty(&agents))
        .await;
    puppet.kill(second).await;
    assert_eq!(count(&puppet, ended).await, 1);
}

#[tokio::test]
async fn a_message_that_cannot_be_written_is_refused_and_not_sent() {
    let puppet = Puppet::new();
    let server = server(&puppet).await;
    let id = puppet.start(&server).await;
    let path = format!("/api/sessions/{id}/messages");
    let message = |text: &str| json!({"content": [{"type": "text", "text": text}]});
    limit(server.pid(), Resource::Fsize, Some(0));
    let refused = puppet.post(&server, &path, message("too early")).await;
    assert_eq!(refused["code"], "store_unavailable", "{refused}");
    limit(server.pid(), Resource::Fsize, None);
    let taken = puppet.post(&server, &path, message("in time")).await;
    assert_eq!(taken["code"], Value::Null, "{taken}");
    puppet
        .until("the agent has it", || puppet.has_heard("in time"))
        .await;
    assert!(!puppet.has_heard("too early"));
}

/// A rule for one use answers once, also when that use could not be written down at first.
#[tokio::test]
async fn a_rules_use_that_could_not_be_written_still_counts_after_a_restart() {
    let puppet = Puppet::new();
    let server = server(&puppet).await;
    let id = puppet.start(&server).await;
    let rule =
        json!({"rule": "Bash(ls)", "effect": "allow", "scope": {"kind": "everywhere"}, "uses": 1});
    let added = puppet.post(&server, "/api/rules", rule).await;
    assert!(added["rule_id"].is_string(), "{added}");
    limit(server.pid(), Resource::Fsize, Some(0));
    puppet.say(&ask("r1", "t1", "ls"));
    until_session(&puppet, &server, |session| session["error"].is_string()).await;
    assert!(!puppet.has_heard("\"r1\""));
    limit(server.pid(), Resource::Fsize, None);
    puppet.until_decided(&server, &id, 1).await;
    puppet
        .until("it is allowed", || puppet.has_heard("\"r1\""))
        .await;
    let query = "SELECT COUNT(*) FROM rules WHERE hits = 1 AND uses_left = 0";
    until_counted(&puppet, query).await;
    puppet.kill(server).await;

    let server = puppet.server().await;
    puppet.say(&ask("r2", "t2", "ls"));
    let request = puppet.request(&server).await;
    assert_eq!(request["tool_use_id"], "t2");
}
