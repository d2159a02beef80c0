//! A process that is killed while it writes has lost nothing it was told is written.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use pretty_assertions::assert_eq;

use super::audit::{check, record};
use super::*;

const DATABASE: &str = "SAYSO_STORE_TEST_DATABASE";
/// Enough for several groups and a checkpoint of the write-ahead log.
const ACKNOWLEDGED_BEFORE_THE_KILL: i64 = 5_000;

#[test]
fn a_killed_process_loses_nothing_it_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sayso.db");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "tests::crash::writes_until_killed"])
        .args(["--ignored", "--nocapture"])
        .env(DATABASE, &path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut second_server = None;
    let mut acknowledged = 0;
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for line in lines.by_ref() {
        let line = line.unwrap();
        if let Some(seq) = line.strip_prefix("acknowledged ") {
            acknowledged = seq.parse().unwrap();
            second_server.get_or_insert_with(|| runtime.block_on(Store::open(&path)));
        }
        if acknowledged >= ACKNOWLEDGED_BEFORE_THE_KILL {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // What was still on its way when the process died was acknowledged too.
    for line in lines.map_while(Result::ok) {
        if let Some(seq) = line.strip_prefix("acknowledged ") {
            acknowledged = seq.parse().unwrap_or(0).max(acknowledged);
        }
    }

    let error = second_server.unwrap().unwrap_err();
    let holder = Some(child.id());
    assert!(
        matches!(&error, OpenError::InUse { holder: found, .. } if *found == holder),
        "{error}"
    );
    runtime.block_on(async {
        let history = check(&path).await.unwrap();
        let stored = Bench::at(&path).await.everything().await;
        let last = stored.entries.len() as i64;
        assert!(
            last >= acknowledged && acknowledged >= ACKNOWLEDGED_BEFORE_THE_KILL,
            "{acknowledged} were acknowledged, {last} are there"
        );
        let whole: Vec<EntryRow> = (1..=last).map(|seq| entry(1, seq)).collect();
        assert_eq!(stored.entries, whole);
        assert_eq!(history.entries, last as u64, "one for each, and no more");
    });
}

#[tokio::test]
#[ignore = "is the process that the test above kills"]
async fn writes_until_killed() {
    let path = std::env::var_os(DATABASE).expect("this is not a test of its own");
    let mut bench = Bench::at(Path::new(&path)).await;
    bench
        .write([Write::PutSession(session(1).into())])
        .await
        .unwrap();
    println!();
    for first in (1..).step_by(10) {
        let jobs = (first..first + 10).map(|seq| {
            vec![
                Write::AppendEntry(entry(1, seq)),
                Write::AppendAudit(record(seq as u64)),
            ]
        });
        assert_eq!(bench.jobs(jobs).await, vec![Ok(()); 10]);
        println!("acknowledged {}", first + 9);
    }
}
