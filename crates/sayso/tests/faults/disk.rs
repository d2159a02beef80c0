//! Faults of the disk.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a failure in a helper fails the test; a part of them is for Linux only"
)]

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::Resource;
use serde_json::{Value, json};
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::world::{Server, World};

fn unavailable(answer: &(u16, Value)) -> bool {
    (answer.0, &answer.1["code"]) == (503, &json!("store_unavailable"))
}

/// No file can be written any more, as on a disk that fails or is full.
#[tokio::test]
async fn what_cannot_be_written_is_not_allowed() {
    let world = World::new();
    // A process that does not ignore this signal dies of it instead of being told.
    let mut command = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_sayso");
    command.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\"", program]);
    let server = world.start_as(command).await;
    let request = world.asked(&server, "written.txt").await;
    server.limit(Resource::Fsize, Some(0));
    let refused = world.allow(&server, &request).await;
    assert!(unavailable(&refused), "{refused:?}");
    // An agent that asks meanwhile waits; nobody is shown what is not on record.
    let (_, shown) = world.get(&server, "/api/requests").await;
    assert_eq!(
        shown["pending_requests"][0]["request_id"],
        request["request_id"]
    );
    assert!(!world.made("written.txt"));
    server.limit(Resource::Fsize, None);
    world.goes_on(&server, &request, "written.txt").await;
}

/// What was decided before it was noticed stands in the log and is not lost; what comes after is refused.
#[tokio::test]
async fn what_another_program_keeps_from_the_database_is_not_allowed() {
    let world = World::new();
    let server = world.start().await;
    let noticed = world.asked(&server, "noticed.txt").await;
    let logged = world.asked(&server, "logged.txt").await;
    let options = SqliteConnectOptions::new().filename(world.data().join("sayso.db"));
    let mut other = options
        .busy_timeout(Duration::from_secs(30))
        .connect()
        .await
        .unwrap();
    sqlx::query("BEGIN IMMEDIATE")
        .execute(&mut other)
        .await
        .unwrap();
    world.goes_on(&server, &logged, "logged.txt").await;
    // A rule is not written to the log, so whoever makes one hears of the lock.
    let rule = json!({"rule": "Bash(ls)", "effect": "ask", "scope": {"kind": "everywhere"}});
    let refused = world.post(&server, "/api/rules", rule).await;
    assert!(unavailable(&refused), "{refused:?}");
    let refused = world.allow(&server, &noticed).await;
    assert!(unavailable(&refused), "{refused:?}");
    assert!(!world.made("noticed.txt"));
    sqlx::query("ROLLBACK").execute(&mut other).await.unwrap();
    world.follows(&server).await;
    world.goes_on(&server, &noticed, "noticed.txt").await;
    let (_, history) = world.get(&server, "/api/history?kind=decision").await;
    let entries = history["entries"].as_array().map(Vec::len);
    assert_eq!(entries, Some(2), "{history}");
}

/// The disk takes what is written and fails to keep it.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_the_disk_does_not_keep_is_not_allowed() {
    a_disk_that_fails_after(&[]).await;
}

/// A disk that was fast is waited for in another place.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_a_disk_does_not_keep_that_was_fast_is_not_allowed() {
    a_disk_that_fails_after(&["first.txt", "second.txt"]).await;
}

#[cfg(target_os = "linux")]
async fn a_disk_that_fails_after(kept: &[&str]) {
    let world = World::new();
    let mut server = world.start().await;
    for file in kept {
        let request = world.asked(&server, file).await;
        world.goes_on(&server, &request, file).await;
    }
    let request = world.asked(&server, "synced.txt").await;
    let calls = world.folder.path().join("calls");
    let mut failing = FailingDisk::under(&server, &calls).await;
    let refused = world.allow(&server, &request).await;
    assert!(unavailable(&refused), "{refused:?}");
    let calls = std::fs::read_to_string(&calls).unwrap();
    assert!(calls.contains("INJECTED"), "no call has failed: {calls}");
    let (status, shown) = world.get(&server, "/api/requests").await;
    assert_eq!(status, 200, "the server lives: {shown}");
    assert_eq!(
        shown["pending_requests"][0]["request_id"],
        request["request_id"]
    );
    assert!(!world.made("synced.txt"));
    // The machine is switched off; the next server has a disk that works.
    server.child.kill().await.unwrap();
    failing.strace.wait().await.unwrap();
    let server = world.start().await;
    world.goes_on(&server, &request, "synced.txt").await;
    let verified = Command::new(env!("CARGO_BIN_EXE_sayso"))
        .args(["audit", "verify", "--data-dir"])
        .arg(world.data())
        .output()
        .await
        .unwrap();
    let told = String::from_utf8_lossy(&verified.stdout).into_owned();
    assert!(
        verified.status.success(),
        "{told}{}",
        String::from_utf8_lossy(&verified.stderr)
    );
}

/// Where the operator wants it so, no decision waits for the disk.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_decision_that_outlives_the_process_only_does_not_wait_for_the_disk() {
    let world = World::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sayso"));
    command.env("SAYSO_DURABILITY", "process");
    let server = world.start_as(command).await;
    let request = world.asked(&server, "unsynced.txt").await;
    let calls = world.folder.path().join("calls");
    let _failing = FailingDisk::under(&server, &calls).await;
    world.goes_on(&server, &request, "unsynced.txt").await;
}

/// Every wait for the disk fails.
#[cfg(target_os = "linux")]
struct FailingDisk {
    strace: Child,
}

#[cfg(target_os = "linux")]
impl FailingDisk {
    async fn under(server: &Server, calls: &Path) -> Self {
        let pid = server.pid().as_raw_nonzero().to_string();
        let mut strace = Command::new("strace")
            .args(["-f", "-e", "trace=fsync,fdatasync"])
            .args(["-e", "inject=fsync,fdatasync:error=EIO"])
            .args(["-p", &pid, "-o"])
            .arg(calls)
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("this test needs strace: install it");
        let mut told = BufReader::new(strace.stderr.take().unwrap()).lines();
        let attached = told.next_line().await.unwrap().unwrap_or_default();
        assert!(attached.contains("attached"), "strace: {attached}");
        // It says one line more for each thread, and must not be held up by it.
        tokio::spawn(async move { while let Ok(Some(_)) = told.next_line().await {} });
        Self { strace }
    }
}
