//! Old entries can be removed on purpose, and only so.

use pretty_assertions::assert_eq;

use super::*;
use crate::audit::{CheckpointKind, Cut, RetentionError};

const NOW: UnixMillis = UnixMillis(9_000_000);

#[tokio::test]
async fn a_cut_is_signed_and_the_rest_is_still_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sayso.db");
    let mut bench = Bench::at(&path).await;
    bench.write(appended(1..=1200)).await.unwrap();
    let cut = |seq: i64| bench.store.cut_audit(UnixMillis(1_000 + seq), NOW);
    let expected = |removed, first| Cut { removed, first };
    assert_eq!(cut(1).await.unwrap(), expected(0, 1), "nothing is older");
    assert_eq!(check(&path).await.unwrap().begins, None);
    assert_eq!(cut(701).await.unwrap(), expected(700, 701));
    let verified = check(&path).await.unwrap();
    let begins = verified.begins.unwrap();
    assert_eq!((begins.kind, begins.first), (CheckpointKind::Cut, 701));
    assert_eq!((verified.range, verified.signed), (Some((701, 1200)), 1200));
    assert_eq!(cut(701).await.unwrap(), expected(0, 701), "again");
    bench.write(appended(1..=3)).await.unwrap();
    bench.close().await;

    let mut bench = Bench::at(&path).await;
    bench.write(appended([4])).await.unwrap();
    let all = bench.store.cut_audit(UnixMillis(i64::MAX), NOW).await;
    assert_eq!(all.unwrap(), expected(503, 1204), "the newest stays");
    bench.write(appended([5])).await.unwrap();
    bench.close().await;
    let verified = check(&path).await.unwrap();
    assert_eq!(
        (verified.range, verified.signed),
        (Some((1204, 1205)), 1205)
    );
}

#[tokio::test]
async fn entries_that_a_crash_left_behind_a_cut_are_no_finding_and_go_with_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sayso.db");
    let mut bench = Bench::at(&path).await;
    bench.write(appended(1..=30)).await.unwrap();
    bench.close().await;
    let copy = folder.path().join("before.db");
    std::fs::copy(&path, &copy).unwrap();
    let bench = Bench::at(&path).await;
    bench.store.cut_audit(UnixMillis(1_021), NOW).await.unwrap();
    bench.close().await;
    // As if the process had died right after the cut was signed.
    std::fs::copy(&copy, &path).unwrap();
    assert_eq!(check(&path).await.unwrap().range, Some((1, 30)));
    let bench = Bench::at(&path).await;
    let cut = bench.store.cut_audit(UnixMillis(1_005), NOW).await.unwrap();
    assert_eq!(
        cut,
        Cut {
            removed: 20,
            first: 21
        }
    );
    // More than was signed for is missed.
    bench.spoil("DELETE FROM audit WHERE seq < 25");
    bench.close().await;
    let missing = Finding::NoBeginning {
        first: 21,
        last: 24,
    };
    assert_eq!(check(&path).await, Err(missing));
}

#[tokio::test]
async fn what_was_tampered_with_is_not_cut_and_so_not_signed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sayso.db");
    let mut bench = Bench::at(&path).await;
    bench.write(appended(1..=30)).await.unwrap();
    bench.spoil("DELETE FROM audit WHERE seq = 20");
    let refused = bench.store.cut_audit(UnixMillis(1_010), NOW).await;
    let missing = Finding::Missing {
        first: 20,
        last: 20,
    };
    assert!(
        matches!(&refused, Err(RetentionError::Tampered(found)) if *found == missing),
        "{refused:?}"
    );
    bench.close().await;
    assert_eq!(check(&path).await, Err(missing));
}

/// After a backup was put in its place, or without its key, a human has to accept a history.
#[tokio::test]
async fn a_history_can_be_accepted_as_it_was_found_and_the_check_tells_of_it() {
    for lost in [
        &["audit.key"][..],
        &["audit.checkpoints"],
        &["audit.key", "audit.checkpoints"],
        &[],
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sayso.db");
        let mut bench = Bench::at(&path).await;
        bench.write(appended(1..=10)).await.unwrap();
        bench.close().await;
        let backup = folder.path().join("backup.db");
        crate::backup(&path, &backup, Existing::Keep).await.unwrap();
        let mut bench = Bench::at(&path).await;
        bench.write(appended(11..=20)).await.unwrap();
        bench.close().await;
        std::fs::rename(&backup, &path).unwrap();
        for name in lost {
            std::fs::remove_file(folder.path().join(name)).unwrap();
        }
        assert!(check(&path).await.is_err(), "{lost:?}");
        let mut bench = Bench::at(&path).await;
        assert_eq!(bench.store.adopt_audit(NOW).await.unwrap(), 10, "{lost:?}");
        bench.write(appended(1..=3)).await.unwrap();
        bench.close().await;
        let verified = check(&path).await.unwrap();
        assert_eq!((verified.range, verified.signed), (Some((1, 13)), 13));
        let begins = verified.begins.unwrap();
        assert_eq!(
            (begins.kind, begins.size, begins.at),
            (CheckpointKind::Adopted, 10, NOW.0)
        );
    }
}
