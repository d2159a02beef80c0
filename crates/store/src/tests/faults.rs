//! When the disk fails, nothing is half-written, and work goes on once it has recovered.

use pretty_assertions::assert_eq;

use super::*;

/// A store in a file, with a session.
async fn bench_in(folder: &tempfile::TempDir) -> Bench {
    let mut bench = Bench::at(&folder.path().join("sayso.db")).await;
    bench
        .write([Write::PutSession(session(1).into())])
        .await
        .unwrap();
    bench
}

fn reason(result: &Result<(), WriteError>) -> Option<UnavailableReason> {
    match result {
        Err(WriteError::Unavailable { reason, .. }) => Some(*reason),
        Ok(()) => None,
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn a_full_disk_refuses_what_does_not_fit_and_keeps_what_does() {
    let folder = tempfile::tempdir().unwrap();
    let mut bench = bench_in(&folder).await;
    // SQLite takes any limit below its size as its size, so not one more page is to be had.
    bench.spoil("PRAGMA max_page_count = 1");
    let large = EntryRow {
        body: format!("\"{}\"", "x".repeat(1 << 20)),
        ..entry(1, 3)
    };
    let too_much = vec![
        Write::AppendEntry(entry(1, 2)),
        Write::OpenRequest(request(1, 11).into()),
        Write::AppendEntry(large.clone()),
    ];
    let results = bench
        .jobs([
            vec![Write::AppendEntry(entry(1, 1))],
            too_much.clone(),
            vec![Write::AppendEntry(entry(1, 4))],
        ])
        .await;
    let full = Some(UnavailableReason::DiskFull);
    assert_eq!(
        results.iter().map(reason).collect::<Vec<_>>(),
        [None, full, None]
    );
    assert!(results[1].as_ref().unwrap_err().is_retryable());
    let mut expected = Everything {
        sessions: vec![session(1)],
        entries: vec![entry(1, 1), entry(1, 4)],
        requests: vec![],
        decisions: vec![],
    };
    assert_eq!(bench.everything().await, expected);

    bench.spoil("PRAGMA max_page_count = 4294967294");
    assert_eq!(bench.write(too_much).await, Ok(()), "the same job, later");
    expected.entries = vec![entry(1, 1), entry(1, 2), large, entry(1, 4)];
    expected.requests = vec![request(1, 11)];
    assert_eq!(bench.everything().await, expected);
}

#[tokio::test]
async fn a_read_only_store_refuses_every_job() {
    let folder = tempfile::tempdir().unwrap();
    let mut bench = bench_in(&folder).await;
    let before = bench.everything().await;
    bench.spoil("PRAGMA query_only = ON");
    let jobs = || (1..=3).map(|seq| vec![Write::AppendEntry(entry(1, seq))]);
    let results = bench.jobs(jobs()).await;
    assert_eq!(
        results.iter().map(reason).collect::<Vec<_>>(),
        [Some(UnavailableReason::ReadOnly); 3]
    );
    assert!(!results[0].as_ref().unwrap_err().is_retryable());
    let recovered = bench
        .store
        .recover(UnixMillis(1), &[], |_| Vec::new())
        .await
        .map(|_| ());
    assert_eq!(reason(&recovered), Some(UnavailableReason::ReadOnly));
    assert_eq!(bench.everything().await, before);

    bench.spoil("PRAGMA query_only = OFF");
    assert_eq!(bench.jobs(jobs()).await, vec![Ok(()); 3]);
}

#[tokio::test]
async fn a_lock_held_elsewhere_fails_the_group_and_not_the_reads() {
    let folder = tempfile::tempdir().unwrap();
    let mut bench = bench_in(&folder).await;
    let before = bench.everything().await;
    bench.spoil("PRAGMA busy_timeout = 0");
    let mut other = bench.store.reader().await.acquire().await.unwrap();
    pragma(&mut other, "PRAGMA query_only = OFF").await;
    pragma(&mut other, "BEGIN IMMEDIATE").await;
    let jobs = || (1..=3).map(|seq| vec![Write::AppendEntry(entry(1, seq))]);
    let results = bench.jobs(jobs()).await;
    assert_eq!(
        results.iter().map(reason).collect::<Vec<_>>(),
        [Some(UnavailableReason::Locked); 3]
    );
    assert!(results[0].as_ref().unwrap_err().is_retryable());
    assert_eq!(bench.everything().await, before);

    pragma(&mut other, "ROLLBACK").await;
    assert_eq!(bench.jobs(jobs()).await, vec![Ok(()); 3]);
}

#[tokio::test]
async fn a_transaction_left_behind_is_undone_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let mut bench = bench_in(&folder).await;
    let before = bench.everything().await;
    bench.spoil("BEGIN IMMEDIATE; DELETE FROM sessions");
    assert_eq!(bench.write([]).await, Ok(()));
    assert_eq!(bench.everything().await, before);
}

#[tokio::test]
async fn a_closed_store_says_so() {
    let mut bench = Bench::in_memory().await;
    bench.store.close().await;
    let closed = UnavailableReason::Closed;
    let written = bench.write([Write::PutSession(session(1).into())]).await;
    assert_eq!(reason(&written), Some(closed));
    let read = bench.store.sessions().await;
    assert!(
        matches!(read, Err(ReadError::Unavailable { reason, .. }) if reason == closed),
        "{read:?}"
    );
}

#[tokio::test]
async fn reading_connections_cannot_write() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench_in(&folder).await;
    let error = sqlx::query("DELETE FROM sessions")
        .execute(bench.store.reader().await)
        .await
        .unwrap_err();
    assert_eq!(
        reason(&Err(error.into())),
        Some(UnavailableReason::ReadOnly)
    );
}

#[tokio::test]
async fn a_row_nobody_understands_is_an_error_and_not_a_guess() {
    let mut bench = Bench::in_memory().await;
    let ask = [
        Write::PutSession(session(1).into()),
        Write::OpenRequest(request(1, 11).into()),
    ];
    bench.write(ask).await.unwrap();
    bench.spoil("UPDATE requests SET status = 'granted'");
    let read = bench.store.request(request_id(11)).await;
    assert!(matches!(read, Err(ReadError::Unreadable(_))), "{read:?}");
}
