//! Jobs are committed in groups, but each stands or falls alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pretty_assertions::assert_eq;

use super::*;

/// Counts the commits of the write connection from now on.
fn count_commits(bench: &Bench) -> Arc<AtomicUsize> {
    let commits = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&commits);
    let hook = move || {
        counter.fetch_add(1, Ordering::SeqCst);
        false
    };
    let connection = bench.store.write_connection();
    connection
        .with(|connection| connection.commit_hook(Some(hook)))
        .unwrap();
    commits
}

#[tokio::test]
async fn queued_jobs_share_commits_and_keep_their_order() {
    let mut bench = Bench::in_memory().await;
    bench
        .write([Write::PutSession(session(1).into())])
        .await
        .unwrap();
    let commits = count_commits(&bench);
    let jobs = (1..=600).map(|seq| vec![Write::AppendEntry(entry(1, seq))]);
    assert_eq!(bench.jobs(jobs).await, vec![Ok(()); 600]);
    // The first of them may have been on its way before the others came.
    let commits = commits.load(Ordering::SeqCst);
    assert!((3..=4).contains(&commits), "{commits} commits");
    let entries: Vec<EntryRow> = (1..=600).map(|seq| entry(1, seq)).collect();
    assert_eq!(bench.everything().await.entries, entries);
}

#[tokio::test]
async fn what_nobody_waits_for_is_committed_with_what_somebody_does() {
    let store = Store::in_memory().await.unwrap();
    let (sender, completions) = mpsc::channel(8);
    let patient = Duration::from_secs(600);
    let writer = Writer::start_with(store.clone(), sender, 8, patient).unwrap();
    let mut bench = Bench {
        store,
        writer,
        completions,
    };
    bench
        .write([
            Write::PutSession(session(1).into()),
            Write::OpenRequest(request(1, 11).into()),
        ])
        .await
        .unwrap();
    let commits = count_commits(&bench);
    let results = bench
        .jobs([
            vec![Write::AppendEntry(entry(1, 1))],
            vec![Write::AppendEntry(entry(1, 2))],
            vec![Write::Decide(decision(11, Outcome::Allowed))],
        ])
        .await;
    assert_eq!(results, [Ok(()), Ok(()), Ok(())]);
    assert_eq!(commits.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn what_nobody_waits_for_does_not_wait_for_long() {
    let mut bench = Bench::in_memory().await;
    bench
        .write([Write::PutSession(session(1).into())])
        .await
        .unwrap();
    let entry = [Write::AppendEntry(entry(1, 1))];
    assert_eq!(bench.write(entry).await, Ok(()));
}

#[tokio::test]
async fn a_poisoned_job_fails_alone_and_whole() {
    let mut bench = Bench::in_memory().await;
    let results = bench
        .jobs([
            vec![Write::PutSession(session(1).into())],
            vec![Write::AppendEntry(entry(1, 1))],
            // The session and the first entry of this job must not stay.
            vec![
                Write::PutSession(session(2).into()),
                Write::AppendEntry(entry(2, 1)),
                Write::AppendEntry(entry(3, 1)),
            ],
            vec![],
            vec![Write::AppendEntry(entry(2, 2))],
            vec![Write::AppendEntry(entry(1, 2))],
        ])
        .await;
    assert_eq!(
        results,
        [
            Ok(()),
            Ok(()),
            Err(WriteError::UnknownSession(session_id(3))),
            Ok(()),
            Err(WriteError::UnknownSession(session_id(2))),
            Ok(()),
        ]
    );
    assert_eq!(
        bench.everything().await,
        Everything {
            sessions: vec![session(1)],
            entries: vec![entry(1, 1), entry(1, 2)],
            requests: vec![],
            decisions: vec![],
        }
    );
}

#[tokio::test]
async fn what_contradicts_the_rows_is_refused_by_name() {
    let mut bench = Bench::in_memory().await;
    bench
        .write([
            Write::PutSession(session(1).into()),
            Write::AppendEntry(entry(1, 1)),
            Write::OpenRequest(request(1, 11).into()),
            Write::OpenRequest(request(1, 12).into()),
            Write::Decide(decision(12, Outcome::Denied)),
        ])
        .await
        .unwrap();
    let before = bench.everything().await;
    let decided = || WriteError::AlreadyDecided(Box::new(decision(12, Outcome::Denied)));
    for (write, expected) in [
        (
            Write::OpenRequest(request(9, 13).into()),
            WriteError::UnknownSession(session_id(9)),
        ),
        (
            Write::DeleteSession(session_id(9)),
            WriteError::UnknownSession(session_id(9)),
        ),
        (
            Write::Decide(decision(19, Outcome::Allowed)),
            WriteError::UnknownRequest(request_id(19)),
        ),
        (Write::Decide(decision(12, Outcome::Allowed)), decided()),
        (Write::Decide(decision(12, Outcome::Orphaned)), decided()),
        (clock(12), decided()),
        (clock(19), WriteError::UnknownRequest(request_id(19))),
        (
            Write::SetDelivery {
                request_id: request_id(11),
                delivery: Delivery::Sent,
                at: None,
            },
            WriteError::UnknownRequest(request_id(11)),
        ),
    ] {
        let result = bench.write([write.clone()]).await;
        assert_eq!(result, Err(expected), "{write:?}");
    }
    for write in [
        Write::AppendEntry(entry(1, 1)),
        Write::OpenRequest(request(1, 11).into()),
        Write::OpenRequest(ended(request(1, 14), RequestStatus::Decided).into()),
    ] {
        let job = [Write::PutSession(session(5).into()), write.clone()];
        let error = bench.write(job).await.unwrap_err();
        assert!(
            matches!(error, WriteError::Constraint(_)),
            "{write:?}: {error}"
        );
        assert!(!error.is_retryable(), "{error}");
    }
    assert_eq!(bench.everything().await, before);
}

fn clock(number: u128) -> Write {
    Write::UpdateRequestClock {
        id: request_id(number),
        deadline: Some(UnixMillis(1)),
        held_remaining_ms: None,
        held: false,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_fifty_deciders_exactly_one_wins() {
    let folder = tempfile::tempdir().unwrap();
    let mut bench = Bench::at(&folder.path().join("sayso.db")).await;
    let ask = [
        Write::PutSession(session(1).into()),
        Write::OpenRequest(request(1, 11).into()),
    ];
    bench.write(ask).await.unwrap();
    let Bench {
        store,
        writer,
        mut completions,
    } = bench;

    let writer = Arc::new(writer);
    let decision_of = |client: u64| DecisionRow {
        client_id: Some(client.to_string()),
        ..decision(11, Outcome::Allowed)
    };
    let deciders: Vec<_> = (0..50)
        .map(|client| {
            let writer = Arc::clone(&writer);
            let writes = vec![Write::Decide(decision_of(client))];
            let token = client;
            tokio::spawn(async move { writer.submit(WriteJob { token, writes }) })
        })
        .collect();
    for decider in deciders {
        decider.await.unwrap().unwrap();
    }
    let mut winners = Vec::new();
    let mut told = Vec::new();
    for _ in 0..50 {
        let completion = completions.recv().await.unwrap();
        match completion.result {
            Ok(()) => winners.push(decision_of(completion.token)),
            Err(WriteError::AlreadyDecided(standing)) => told.push(*standing),
            Err(error) => panic!("{error}"),
        }
    }
    let stored = store.request(request_id(11)).await.unwrap().unwrap();
    let stored = stored.decision.unwrap();
    assert_eq!(told, vec![stored.clone(); 49]);
    assert_eq!(winners, vec![stored]);
}

#[tokio::test]
async fn a_full_queue_gives_the_job_back() {
    let store = Store::in_memory().await.unwrap();
    let (sender, mut completions) = mpsc::channel(1);
    let writer = Writer::start(store.clone(), sender, 2).unwrap();
    let job = |token| WriteJob {
        token,
        writes: vec![Write::PutSession(session(u128::from(token)).into())],
    };
    // The writer is held up with what it has taken.
    let refused = store.write_connection().with(|_| {
        let mut tokens = 1..=1000;
        let refused =
            tokens.find_map(|token| writer.submit(job(token)).err().map(|error| (token, error)));
        refused.unwrap()
    });
    let (first, error) = refused;
    assert_eq!(error, SubmitError::Full(job(first)));
    for token in 1..first {
        let result = Ok(());
        assert_eq!(completions.recv().await, Some(Completion { token, result }));
    }
    assert_eq!(writer.submit(job(first)), Ok(()));
}

#[tokio::test]
async fn closing_writes_and_reports_what_is_queued() {
    let store = Store::in_memory().await.unwrap();
    let (sender, mut completions) = mpsc::channel(1);
    let writer = Writer::start(store.clone(), sender, 500).unwrap();
    for token in 1..=500 {
        let writes = vec![Write::PutSession(session(u128::from(token)).into())];
        writer.submit(WriteJob { token, writes }).unwrap();
    }
    let closing = tokio::spawn(writer.close());
    let mut tokens = Vec::new();
    while let Some(completion) = completions.recv().await {
        assert_eq!(completion.result, Ok(()));
        tokens.push(completion.token);
    }
    closing.await.unwrap();
    assert_eq!(tokens, (1..=500).collect::<Vec<_>>());
    assert_eq!(store.sessions().await.unwrap().len(), 500);
}

#[tokio::test]
async fn with_nobody_listening_the_queue_is_still_written() {
    let store = Store::in_memory().await.unwrap();
    let (sender, completions) = mpsc::channel(1);
    let writer = Writer::start(store.clone(), sender, 8).unwrap();
    drop(completions);
    for token in 1..=8 {
        let writes = vec![Write::PutSession(session(u128::from(token)).into())];
        writer.submit(WriteJob { token, writes }).unwrap();
    }
    writer.close().await;
    assert_eq!(store.sessions().await.unwrap().len(), 8);
}

/// Of a line of `/proc/self/task/*/stat`, of which the name stands in brackets.
#[cfg(target_os = "linux")]
fn niceness(stat: &str) -> Option<i32> {
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(16)?.parse().ok()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_thread_gives_way_to_those_that_answer() {
    let store = Store::in_memory().await.unwrap();
    let (sender, mut completions) = mpsc::channel(1);
    let writer = Writer::start(store.clone(), sender, 8).unwrap();
    let writes = vec![Write::PutSession(session(1).into())];
    writer.submit(WriteJob { token: 1, writes }).unwrap();
    completions.recv().await.unwrap();
    let of_writers = std::fs::read_dir("/proc/self/task")
        .unwrap()
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("stat")).ok())
        .filter(|stat| stat.contains("(sayso-writer)"))
        .filter_map(|stat| niceness(&stat));
    let own = niceness(&std::fs::read_to_string("/proc/thread-self/stat").unwrap()).unwrap();
    assert_eq!(of_writers.max(), Some((own + 10).min(19)));
    writer.close().await;
}
