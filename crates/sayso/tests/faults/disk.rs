//! Faults of the disk.

use std::process::Stdio;
use std::time::Duration;

use rustix::process::Resource;
use serde_json::{Value, json};
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

use crate::world::World;

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

#[tokio::test]
async fn what_another_program_keeps_from_being_written_is_not_allowed() {
    let world = World::new();
    let server = world.start().await;
    let request = world.asked(&server, "locked.txt").await;
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
    let refused = world.allow(&server, &request).await;
    assert!(unavailable(&refused), "{refused:?}");
    assert!(!world.made("locked.txt"));
    sqlx::query("ROLLBACK").execute(&mut other).await.unwrap();
    world.goes_on(&server, &request, "locked.txt").await;
}

/// The disk takes what is written and fails to keep it. `strace` makes it so; without it there is nothing to see.
#[tokio::test]
async fn a_disk_that_does_not_sync_loses_nothing_that_was_allowed() {
    let world = World::new();
    let mut server = world.start().await;
    let request = world.asked(&server, "synced.txt").await;
    let pid = server.pid().as_raw_nonzero().to_string();
    let calls = world.folder.path().join("calls");
    let strace = Command::new("strace")
        .args([
            "-f",
            "-e",
            "trace=fsync,fdatasync",
            "-e",
            "inject=fsync,fdatasync:error=EIO",
        ])
        .args(["-p", &pid, "-o"])
        .arg(&calls)
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn();
    let Ok(mut strace) = strace else {
        println!("skipped: there is no strace");
        return;
    };
    let mut told = BufReader::new(strace.stderr.take().unwrap()).lines();
    let attached = told.next_line().await.unwrap().unwrap_or_default();
    if !attached.contains("attached") {
        println!("skipped: {attached}");
        return;
    }
    // A decision is refused or on record; nothing is in between.
    let (status, answer) = world.allow(&server, &request).await;
    assert!(
        status == 200 || unavailable(&(status, answer.clone())),
        "{status} {answer}"
    );
    // The history is signed a moment after each decision, and that has to be synced.
    world
        .until("a sync has failed", || {
            let calls = std::fs::read_to_string(&calls).unwrap_or_default();
            calls.contains("INJECTED")
        })
        .await;
    let (status_now, shown) = world.get(&server, "/api/requests").await;
    assert_eq!(status_now, 200, "the server lives: {shown}");
    server.child.kill().await.unwrap();
    strace.wait().await.unwrap();
    let server = world.start().await;
    if status == 200 {
        world
            .until("the file is made", || world.made("synced.txt"))
            .await;
    } else {
        world.goes_on(&server, &request, "synced.txt").await;
    }
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
