//! What stands in the log counts, whatever becomes of the process and of the database.

use std::fs;

use pretty_assertions::assert_eq;
use tempfile::TempDir;

use super::audit::{check, record};
use super::*;

/// A store in a file with a writer that goes through the log.
pub(super) struct Logged {
    pub(super) folder: TempDir,
    pub(super) store: Store,
    writer: LoggedWriter,
    completions: mpsc::Receiver<Completion>,
    token: u64,
}

impl Logged {
    pub(super) async fn new(durability: Durability) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_with(folder.path().join("sayso.db"), durability)
            .await
            .unwrap();
        let (sender, completions) = mpsc::channel(4096);
        let writer = LoggedWriter::start(store.clone(), sender, 4096)
            .await
            .unwrap();
        let token = 0;
        let mut logged = Self {
            folder,
            store,
            writer,
            completions,
            token,
        };
        assert_eq!(
            logged.write([Write::PutSession(session(1).into())]).await,
            Ok(())
        );
        logged
    }

    fn submit(&mut self, writes: impl IntoIterator<Item = Write>) -> u64 {
        self.token += 1;
        let token = self.token;
        let writes = writes.into_iter().collect();
        self.writer.submit(WriteJob { token, writes }).unwrap();
        token
    }

    /// Submits, writes and waits until the job counts.
    pub(super) async fn write(
        &mut self,
        writes: impl IntoIterator<Item = Write>,
    ) -> Result<(), WriteError> {
        let token = self.submit(writes);
        let mut done = self.writer.flush();
        while done.iter().all(|completion| completion.token != token) {
            done.push(self.completions.recv().await.unwrap());
        }
        let found = done.into_iter().find(|done| done.token == token);
        found.unwrap().result
    }

    /// The data folder as a killed process would leave it at this moment.
    pub(super) fn killed(&self) -> TempDir {
        let copy = tempfile::tempdir().unwrap();
        for file in fs::read_dir(self.folder.path()).unwrap() {
            let file = file.unwrap();
            // Shared memory is made anew from the write-ahead log.
            if !file.file_name().to_str().unwrap().ends_with("-shm") {
                fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
            }
        }
        copy
    }

    pub(super) async fn close(self) {
        drop(self.completions);
        self.writer.close().await;
        self.store.close().await;
    }
}

pub(super) async fn entries_in(folder: &TempDir) -> Vec<i64> {
    let bench = Bench::at(&folder.path().join("sayso.db")).await;
    let entries = bench.everything().await.entries;
    bench.close().await;
    entries.into_iter().map(|entry| entry.seq).collect()
}

fn ask(number: u128) -> Vec<Write> {
    vec![Write::OpenRequest(request(1, number).into())]
}

fn decide(number: u128) -> Vec<Write> {
    vec![
        Write::Decide(decision(number, Outcome::Allowed)),
        Write::AppendAudit(record(number as u64)),
    ]
}

#[tokio::test]
async fn what_is_in_the_log_counts_before_the_database_has_it() {
    for durability in [Durability::Process, Durability::Disk] {
        let mut logged = Logged::new(durability).await;
        logged.store.sessions().await.unwrap();
        let killed = {
            let store = logged.store.clone();
            let _held_up = store.write_connection().hold();
            assert_eq!(logged.write(ask(11)).await, Ok(()));
            assert_eq!(logged.write(decide(11)).await, Ok(()));
            assert_eq!(
                logged.write([Write::AppendEntry(entry(1, 1))]).await,
                Ok(())
            );
            logged.killed()
        };
        let path = killed.path().join("sayso.db");
        // Whoever only looks finds it, too.
        assert_eq!(check(&path).await.unwrap().entries, 1);
        assert_eq!(entries_in(&killed).await, [1]);
        let decided = logged.store.request(request_id(11)).await.unwrap().unwrap();
        assert_eq!(decided.decision, Some(decision(11, Outcome::Allowed)));
        logged.close().await;
    }
}

#[tokio::test]
async fn readers_see_what_was_written_before() {
    let mut logged = Logged::new(Durability::Process).await;
    for seq in 1..=50 {
        assert_eq!(
            logged.write([Write::AppendEntry(entry(1, seq))]).await,
            Ok(())
        );
        let read = logged.store.entries(session_id(1), 0, 100).await.unwrap();
        assert_eq!(read.len() as i64, seq);
    }
    logged.close().await;
}

#[tokio::test]
async fn a_request_is_decided_once() {
    for durability in [Durability::Process, Durability::Disk] {
        let mut logged = Logged::new(durability).await;
        assert_eq!(logged.write(ask(11)).await, Ok(()));
        let first = logged.submit(decide(11));
        let second = logged.submit([Write::Decide(decision(11, Outcome::Denied))]);
        let mut done = logged.writer.flush();
        while done.len() < 2 {
            done.push(logged.completions.recv().await.unwrap());
        }
        done.sort_by_key(|completion| completion.token);
        let standing = Box::new(decision(11, Outcome::Allowed));
        let expected = [
            (first, Ok(())),
            (second, Err(WriteError::AlreadyDecided(standing))),
        ];
        let expected = expected.map(|(token, result)| Completion { token, result });
        assert_eq!(done, expected);
        logged.close().await;
    }
}

#[tokio::test]
async fn half_a_record_is_none() {
    let mut logged = Logged::new(Durability::Process).await;
    logged.store.sessions().await.unwrap();
    let store = logged.store.clone();
    let held_up = store.write_connection().hold();
    for seq in 1..=2 {
        assert_eq!(
            logged.write([Write::AppendEntry(entry(1, seq))]).await,
            Ok(())
        );
    }
    let whole = logged.killed();
    drop(held_up);
    let log = whole.path().join("sayso.db-log-a");
    let bytes = fs::read(&log).unwrap();
    let record = without_first(without_first(&bytes)).len();
    for cut in [1, 7, 16, 17, 40, record] {
        let torn = logged.killed();
        for name in ["sayso.db", "sayso.db-wal"] {
            fs::copy(whole.path().join(name), torn.path().join(name)).unwrap();
        }
        let log = torn.path().join("sayso.db-log-a");
        fs::write(log, &bytes[..bytes.len() - cut]).unwrap();
        assert_eq!(entries_in(&torn).await, [1], "{cut} bytes are missing");
    }
    // A byte that is another one ends the log as well.
    let mut changed = bytes.clone();
    *changed.last_mut().unwrap() ^= 1;
    fs::write(&log, changed).unwrap();
    assert_eq!(entries_in(&whole).await, [1]);
    logged.close().await;
}

/// The bytes behind the first record.
fn without_first(bytes: &[u8]) -> &[u8] {
    let length = u32::from_le_bytes(bytes[..4].try_into().unwrap());
    &bytes[17 + length as usize..]
}

#[tokio::test]
async fn a_database_that_is_older_than_its_log_is_left_alone() {
    let mut logged = Logged::new(Durability::Process).await;
    for seq in 1..=2 {
        assert_eq!(
            logged.write([Write::AppendEntry(entry(1, seq))]).await,
            Ok(())
        );
    }
    logged.store.sessions().await.unwrap();
    let killed = logged.killed();
    logged.close().await;
    // A backup is put in the database's place, and the log beside it begins later.
    let log = killed.path().join("sayso.db-log-a");
    let bytes = fs::read(&log).unwrap();
    fs::write(&log, without_first(&bytes)).unwrap();
    let path = killed.path().join("sayso.db");
    let set_back = |seq: i64| {
        let connection = rusqlite::Connection::open(&path).unwrap();
        let set = connection.execute("UPDATE log_applied SET seq = ?1", [seq]);
        assert_eq!(set.unwrap(), 1);
    };
    set_back(0);
    match Store::open(&path).await {
        Err(OpenError::LogAhead { .. }) => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(fs::read(&log).unwrap(), without_first(&bytes), "untouched");
    set_back(3);
    assert_eq!(entries_in(&killed).await, [1, 2]);
}

#[tokio::test]
async fn a_record_that_nobody_understands_stops_the_start_and_stays() {
    let logged = Logged::new(Durability::Process).await;
    logged.store.sessions().await.unwrap();
    let killed = logged.killed();
    logged.close().await;
    // As a newer version would write it: whole, and with a number of its own.
    let mut payload = (2_u64).to_le_bytes().to_vec();
    payload.extend_from_slice(&rmp_serde::to_vec(&["SomethingNew"]).unwrap());
    let mut record = (payload.len() as u32 - 8).to_le_bytes().to_vec();
    record.extend_from_slice(&crc32fast::hash(&payload).to_le_bytes());
    record.extend_from_slice(&payload[..8]);
    record.push(1);
    record.extend_from_slice(&payload[8..]);
    let log = killed.path().join("sayso.db-log-a");
    fs::write(&log, &record).unwrap();
    match Store::open(killed.path().join("sayso.db")).await {
        Err(OpenError::LogUnreadable { .. }) => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(fs::read(&log).unwrap(), record, "untouched");
}

#[tokio::test]
async fn a_database_that_does_not_follow_refuses_what_comes_next() {
    let mut logged = Logged::new(Durability::Disk).await;
    logged.store.sessions().await.unwrap();
    let store = logged.store.clone();
    let set = |statement: &str| {
        let connection = store.write_connection();
        connection.with(|connection| connection.execute_batch(statement).unwrap());
    };
    set("PRAGMA query_only = ON");
    assert_eq!(logged.write(ask(11)).await, Ok(()), "it is in the log");
    // Whoever reads waits until the database has tried.
    logged.store.sessions().await.unwrap();
    let refused = logged.write(decide(11)).await.unwrap_err();
    assert!(
        matches!(
            refused,
            WriteError::Unavailable {
                reason: UnavailableReason::ReadOnly,
                ..
            }
        ),
        "{refused}"
    );
    set("PRAGMA query_only = OFF");
    let all = Backlog { jobs: 1, bytes: 1 };
    logged.writer.followed(all).await;
    assert_eq!(logged.write(decide(11)).await, Ok(()));
    let decided = logged.store.request(request_id(11)).await.unwrap().unwrap();
    assert_eq!(decided.decision, Some(decision(11, Outcome::Allowed)));
    logged.close().await;
}

/// Large jobs, so that the files take turns many times; every moment is one at which the process can be killed.
#[tokio::test]
async fn the_files_take_turns_and_nothing_is_lost() {
    for durability in [Durability::Process, Durability::Disk] {
        let mut logged = Logged::new(durability).await;
        let body = format!("\"{}\"", "x".repeat(200_000));
        for seq in 1..=150 {
            let large = EntryRow {
                body: body.clone(),
                ..entry(1, seq)
            };
            assert_eq!(logged.write([Write::AppendEntry(large)]).await, Ok(()));
            if seq % 29 == 0 {
                let killed = logged.killed();
                let all: Vec<i64> = (1..=seq).collect();
                assert_eq!(entries_in(&killed).await, all);
            }
            if seq % 10 == 0 {
                logged.store.sessions().await.unwrap();
            }
        }
        let size = |name: &str| fs::metadata(logged.folder.path().join(name)).unwrap().len();
        let sizes = [size("sayso.db-log-a"), size("sayso.db-log-b")];
        assert!(
            sizes.iter().all(|size| *size > 0),
            "both were used: {sizes:?}"
        );
        assert!(sizes.iter().sum::<u64>() < 20_000_000, "{sizes:?}");
        let folder = tempfile::tempdir().unwrap();
        let path = logged.folder.path().to_owned();
        let _kept = std::mem::replace(&mut logged.folder, folder);
        logged.close().await;
        for name in ["sayso.db-log-a", "sayso.db-log-b"] {
            assert_eq!(fs::metadata(path.join(name)).unwrap().len(), 0, "emptied");
        }
    }
}

#[tokio::test]
async fn what_never_waits_for_the_log_is_reported_by_the_database() {
    let mut logged = Logged::new(Durability::Process).await;
    let unknown = Write::DeleteSession(session_id(9));
    let result = logged.write([unknown]).await;
    assert_eq!(result, Err(WriteError::UnknownSession(session_id(9))));
    // Its entries were in the log before the session was deleted.
    let token = logged.submit([Write::AppendEntry(entry(1, 1))]);
    logged.submit([Write::DeleteSession(session_id(1))]);
    let late = vec![
        Write::AppendEntry(entry(1, 2)),
        Write::AppendAudit(record(1)),
    ];
    assert_eq!(logged.write(late).await, Ok(()));
    assert!(token > 0);
    assert_eq!(logged.store.sessions().await.unwrap(), []);
    let path = logged.folder.path().join("sayso.db");
    assert_eq!(check(&path).await.unwrap().entries, 1, "the history has it");
    logged.close().await;
}
