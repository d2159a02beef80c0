//! Entries get their place in the transaction of what they record.

use pretty_assertions::assert_eq;

use super::*;
use crate::audit::CHECKPOINT_FILE;

async fn seqs(store: &Store) -> Vec<i64> {
    sqlx::query_scalar("SELECT seq FROM audit ORDER BY seq")
        .fetch_all(store.reader().await)
        .await
        .unwrap()
}

#[tokio::test]
async fn an_entry_stands_or_falls_with_what_it_records() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sayso.db");
    let mut bench = Bench::at(&path).await;
    let ask = [
        Write::PutSession(session(1).into()),
        Write::OpenRequest(request(1, 11).into()),
    ];
    bench.write(ask).await.unwrap();
    let decide = |outcome, number| {
        vec![
            Write::Decide(decision(11, outcome)),
            Write::AppendAudit(record(number)),
        ]
    };
    // One group: the first decision wins, and the entries of the others leave no gap.
    let results = bench
        .jobs([
            appended([1]),
            decide(Outcome::Allowed, 2),
            decide(Outcome::Denied, 3),
            appended([4]),
            vec![
                Write::AppendAudit(record(5)),
                Write::AppendEntry(entry(9, 1)),
            ],
            appended([6]),
        ])
        .await;
    let written: Vec<bool> = results.iter().map(Result::is_ok).collect();
    assert_eq!(written, [true, true, false, true, false, true]);
    assert_eq!(seqs(&bench.store).await, [1, 2, 3, 4]);
    bench
        .write([Write::DeleteSession(session_id(1))])
        .await
        .unwrap();
    bench.close().await;
    let verified = check(&path).await.unwrap();
    assert_eq!((verified.entries, verified.signed), (4, 4));
}

#[tokio::test]
async fn what_a_killed_server_left_is_ended_and_recorded_in_one_step() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sayso.db");
    let mut bench = Bench::at(&path).await;
    let ask = [
        Write::PutSession(session(1).into()),
        Write::OpenRequest(request(1, 11).into()),
        Write::OpenRequest(request(1, 12).into()),
        Write::AppendAudit(record(1)),
    ];
    bench.write(ask).await.unwrap();
    let recovered = bench
        .store
        .recover(UnixMillis(9), &[], |orphaned| {
            orphaned.iter().map(|_| record(2)).collect()
        })
        .await;
    assert_eq!(recovered.unwrap().len(), 2);
    bench.write(appended([3])).await.unwrap();
    assert_eq!(seqs(&bench.store).await, [1, 2, 3, 4]);
    bench.close().await;
    check(&path).await.unwrap();
}

/// While a server writes, signs and cuts, a check from outside never cries wolf.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_check_beside_a_busy_server_finds_nothing_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sayso.db");
    let mut bench = Bench::at(&path).await;
    bench.write(appended([1])).await.unwrap();
    let checked = path.clone();
    let checking = tokio::spawn(async move {
        let reader = AuditReader::open(&checked).await.unwrap();
        let mut seen = 0;
        while seen < 8_000 {
            let verified = reader.verify().await.unwrap().unwrap();
            seen = verified.range.map_or(0, |(_, last)| last);
        }
    });
    for round in 1..=40 {
        bench.write(appended(2..=202)).await.unwrap();
        if round % 8 == 0 {
            let before = UnixMillis(i64::MAX);
            bench.store.cut_audit(before, UnixMillis(1)).await.unwrap();
        }
    }
    checking.await.unwrap();
    bench.close().await;
    assert_eq!(check(&path).await.unwrap().signed, 8_041);
}

#[tokio::test]
async fn nothing_of_ours_can_change_an_entry() {
    let mut bench = Bench::in_memory().await;
    bench.write(appended([1])).await.unwrap();
    let error = bench
        .store
        .write_connection()
        .with(|connection| connection.execute("UPDATE audit SET outcome = 'denied'", []))
        .unwrap_err();
    assert!(error.to_string().contains("append-only"), "{error}");
}

/// Whatever was written, and whenever the server stopped or was killed: the history is whole.
#[tokio::test]
async fn what_was_appended_is_whole_after_every_stop_and_crash() {
    let mut dice = Dice::new(1);
    for round in 0..40 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sayso.db");
        let mut total = 0;
        for _ in 0..=dice.below(4) {
            let mut bench = Bench::at(&path).await;
            for _ in 0..dice.below(4) {
                let number = dice.below(1000) as u64;
                let count = dice.below(30) as u64;
                bench.write(appended(number..number + count)).await.unwrap();
                total += count;
            }
            let running = check(&path).await;
            assert_eq!(running.map(|found| found.entries), Ok(total), "{round}");
            match dice.below(3) {
                0 => bench.close().await,
                1 => {
                    // The commit is there, the checkpoint is not.
                    bench.writer.abort().await;
                    bench.store.close().await;
                }
                _ => {
                    // The checkpoint is half there.
                    bench.writer.abort().await;
                    bench.store.close().await;
                    let file = folder.path().join(CHECKPOINT_FILE);
                    let mut text = std::fs::read_to_string(&file).unwrap();
                    text.push_str("{\"kind\":\"he");
                    std::fs::write(&file, text).unwrap();
                }
            }
            let found = check(&path).await;
            assert_eq!(found.map(|found| found.entries), Ok(total), "{round}");
        }
    }
}

#[tokio::test]
async fn a_quiet_second_is_signed_and_a_busy_time_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sayso.db");
    let mut bench = Bench::at(&path).await;
    bench.write(appended(1..=3)).await.unwrap();
    assert_eq!(check(&path).await.unwrap().signed, 0);
    wait_for(&path, 3).await;
    let before = std::time::Instant::now();
    bench.write(appended(1..=2000)).await.unwrap();
    wait_for(&path, 2003).await;
    bench.write(appended([1])).await.unwrap();
    bench.close().await;
    let verified = check(&path).await.unwrap();
    assert_eq!(verified.signed, 2004, "an orderly end");
    assert_eq!(verified.checkpoints, 4, "{:?}", before.elapsed());
}

async fn wait_for(path: &Path, size: i64) {
    for _ in 0..200 {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        if check(path).await.unwrap().signed == size {
            return;
        }
    }
    panic!("entry {size} was not signed");
}
