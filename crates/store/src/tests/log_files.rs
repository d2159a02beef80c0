//! What the files of the log look like from outside.

use std::fs;
use std::time::Duration;

use pretty_assertions::assert_eq;

use super::audit::record;
use super::log::{Logged, entries_in};
use super::*;

const FULL: u64 = 4 * 1024 * 1024;

/// Every write that can stand in the log.
fn all_kinds() -> Vec<Write> {
    vec![
        Write::PutSession(session(1).into()),
        Write::AppendEntry(entry(1, 1)),
        Write::OpenRequest(request(1, 11).into()),
        Write::UpdateRequestClock {
            id: request_id(11),
            deadline: None,
            held_remaining_ms: Some(7),
            held: true,
        },
        Write::Decide(decision(11, Outcome::Allowed)),
        Write::SetDelivery {
            request_id: request_id(11),
            delivery: Delivery::Sent,
            at: Some(UnixMillis(8)),
        },
        Write::UseRule {
            id: RuleId(Uuid::from_u128(1)),
            at: UnixMillis(9),
        },
        Write::AppendAudit(record(1)),
    ]
}

/// One record, as it is read after a crash.
fn record_of(seq: u64, payload: &[u8]) -> Vec<u8> {
    let mut numbered = seq.to_le_bytes().to_vec();
    numbered.extend_from_slice(payload);
    let mut record = (payload.len() as u32).to_le_bytes().to_vec();
    record.extend_from_slice(&crc32fast::hash(&numbered).to_le_bytes());
    record.extend_from_slice(&numbered[..8]);
    record.push(1);
    record.extend_from_slice(payload);
    record
}

/// The versions before wrote the names of all fields.
#[tokio::test]
async fn a_log_of_the_version_before_is_read() {
    let mut named = Vec::new();
    rmp_serde::encode::write_named(&mut named, &all_kinds()).unwrap();
    let by_place = rmp_serde::to_vec(&all_kinds()).unwrap();
    assert!(by_place.len() < named.len());
    for payload in [named, by_place] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sayso.db");
        Store::open(&path).await.unwrap().close().await;
        // Its file had its full size.
        let mut log = record_of(1, &payload);
        log.resize(FULL as usize, 0);
        fs::write(folder.path().join("sayso.db-log-b"), log).unwrap();
        let bench = Bench::at(&path).await;
        let found = bench.everything().await;
        assert_eq!(found.entries, [entry(1, 1)]);
        let expected = RequestRow {
            deadline: None,
            held_remaining_ms: Some(7),
            held: true,
            ..over(request(1, 11), RequestStatus::Decided)
        };
        assert_eq!(found.requests, [expected]);
        assert_eq!(found.decisions[0].decision.delivery, Delivery::Sent);
        bench.close().await;
    }
}

/// A field that changes its place makes a log that was left by the version before unreadable, or worse.
#[test]
fn the_form_of_a_record_does_not_change_unnoticed() {
    let bytes = rmp_serde::to_vec(&all_kinds()).unwrap();
    let seen = (bytes.len(), crc32fast::hash(&bytes));
    assert_eq!(
        seen,
        (1121, 619_165_747),
        "see log/record.rs before this is changed"
    );
}

/// The files get their size without being waited for, and are turned to when they have it.
#[tokio::test]
async fn the_log_has_room_before_it_is_needed() {
    let mut logged = Logged::new(Durability::Disk).await;
    let path = |name: &str| logged.folder.path().join(name);
    let (first, second) = (path("sayso.db-log-a"), path("sayso.db-log-b"));
    let size = |path: &Path| fs::metadata(path).unwrap().len();
    let body = format!("\"{}\"", "x".repeat(100_000));
    let mut seq = 0;
    while size(&first) < FULL {
        seq += 1;
        assert!(seq < 500, "there is never room");
        let large = EntryRow {
            body: body.clone(),
            ..entry(1, seq)
        };
        assert_eq!(logged.write([Write::AppendEntry(large)]).await, Ok(()));
        if seq == 1 {
            while size(&second) < FULL {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        if seq % 7 == 0 {
            let all: Vec<i64> = (1..=seq).collect();
            assert_eq!(entries_in(&logged.killed()).await, all);
        }
        logged.store.sessions().await.unwrap();
    }
    let start = fs::read(&second).unwrap();
    assert!(start[..100].iter().any(|byte| *byte > 0), "it is in use");
    let folder = tempfile::tempdir().unwrap();
    let _kept = std::mem::replace(&mut logged.folder, folder);
    logged.close().await;
    assert_eq!([size(&first), size(&second)], [0, 0], "emptied");
}

#[tokio::test]
async fn where_nobody_waits_for_the_disk_no_room_is_made() {
    let mut logged = Logged::new(Durability::Process).await;
    let write = [Write::AppendEntry(entry(1, 1))];
    assert_eq!(logged.write(write).await, Ok(()));
    logged.store.sessions().await.unwrap();
    let second = logged.folder.path().join("sayso.db-log-b");
    assert_eq!(fs::metadata(second).unwrap().len(), 0);
    logged.close().await;
}
