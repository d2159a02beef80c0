//! What is beside the database: the key and the checkpoints.

use std::fs;

use pretty_assertions::assert_eq;

use super::*;
use crate::audit::{CHECKPOINT_FILE, KEY_FILE};

async fn history(folder: &Path, entries: u64) -> std::path::PathBuf {
    let path = folder.join("sayso.db");
    let mut bench = Bench::at(&path).await;
    bench.write(appended(1..=entries)).await.unwrap();
    bench.close().await;
    path
}

/// Removed files are missed, also after a server has run and signed again.
#[tokio::test]
async fn a_removed_file_is_missed_for_good() {
    for (removed, now, later) in [
        (
            vec![KEY_FILE],
            Finding::KeyMissing,
            Finding::LineChanged { line: 1 },
        ),
        (
            vec![CHECKPOINT_FILE],
            Finding::CheckpointsMissing,
            Finding::LinesMissing { line: 1 },
        ),
        (
            vec![KEY_FILE, CHECKPOINT_FILE],
            Finding::KeyMissing,
            Finding::LinesMissing { line: 1 },
        ),
        (
            vec!["sayso.db"],
            Finding::Truncated { first: 1, last: 5 },
            Finding::NotSigned {
                first: 1,
                last: 5,
                ordinal: 2,
            },
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = history(folder.path(), 5).await;
        for name in &removed {
            fs::remove_file(folder.path().join(name)).unwrap();
        }
        if path.exists() {
            assert_eq!(check(&path).await, Err(now), "{removed:?}");
        } else {
            Bench::at(&path).await.close().await;
            assert_eq!(check(&path).await, Err(now), "{removed:?}");
        }
        let mut bench = Bench::at(&path).await;
        let more: Vec<u64> = (21..=30).collect();
        bench.write(appended(more)).await.unwrap();
        bench.close().await;
        assert_eq!(check(&path).await, Err(later), "{removed:?}");
    }
}

#[tokio::test]
async fn a_history_that_has_not_begun_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = history(folder.path(), 0).await;
    let verified = check(&path).await.unwrap();
    assert_eq!((verified.entries, verified.checkpoints), (0, 1));
}

#[tokio::test]
async fn the_key_of_another_history_does_not_fit() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = history(one.path(), 5).await;
    history(other.path(), 5).await;
    for name in [KEY_FILE, CHECKPOINT_FILE] {
        fs::copy(other.path().join(name), one.path().join(name)).unwrap();
    }
    assert_eq!(check(&path).await, Err(Finding::OtherHistory { seq: 1 }));
}

#[tokio::test]
async fn a_key_that_is_none_is_refused_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = history(folder.path(), 1).await;
    let key = folder.path().join(KEY_FILE);
    for content in [&b""[..], b"{}", b"\xff\xfe", b"a diary"] {
        fs::write(&key, content).unwrap();
        let error = Store::open(&path).await.unwrap_err().to_string();
        assert!(error.contains("audit.key is not a key"), "{error}");
        assert_eq!(fs::read(&key).unwrap(), content);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_key_that_others_can_read_is_closed_to_them() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    history(folder.path(), 1).await;
    let key = folder.path().join(KEY_FILE);
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    history(folder.path(), 1).await;
    let mode = fs::metadata(&key).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}
