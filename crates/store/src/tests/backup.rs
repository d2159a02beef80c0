//! A backup is one private file that can take the database's place.

use std::fs;

use pretty_assertions::assert_eq;

use super::*;

#[tokio::test]
async fn a_backup_of_a_running_store_has_all_that_was_committed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data/sayso.db");
    let mut bench = Bench::at(&path).await;
    bench
        .write([Write::PutSession(session(1).into())])
        .await
        .unwrap();
    let entries = (1..=500).map(|seq| Write::AppendEntry(entry(1, seq)));
    bench.write(entries).await.unwrap();
    let before = bench.everything().await;
    let target = folder.path().join("it's a backup.db");
    let size = backup(&path, &target, Existing::Keep).await.unwrap();
    assert_eq!(size, fs::metadata(&target).unwrap().len());
    bench
        .write([Write::AppendEntry(entry(1, 501))])
        .await
        .unwrap();
    let names = |folder: &Path| -> Vec<String> {
        let name = |file: fs::DirEntry| file.file_name().into_string().unwrap();
        fs::read_dir(folder)
            .unwrap()
            .map(|file| name(file.unwrap()))
            .collect()
    };
    let mut left = names(folder.path());
    left.retain(|name| !name.ends_with("-wal") && !name.ends_with("-shm"));
    left.sort();
    assert_eq!(left, ["data", "it's a backup.db"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(&target).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    bench.close().await;
    assert_eq!(Bench::at(&target).await.everything().await, before);
}

#[tokio::test]
async fn a_backup_replaces_nothing_unless_told_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sayso.db");
    Bench::at(&path).await.close().await;
    let target = folder.path().join("backup");
    fs::write(&target, "a diary").unwrap();
    let refused = backup(&path, &target, Existing::Keep).await.unwrap_err();
    assert!(
        refused.to_string().contains("is there already"),
        "{refused}"
    );
    assert_eq!(fs::read(&target).unwrap(), b"a diary");
    backup(&path, &target, Existing::Replace).await.unwrap();
    assert!(fs::read(&target).unwrap().starts_with(b"SQLite format 3"));
    let nowhere = folder.path().join("nowhere/backup");
    for (database, target, words) in [
        (folder.path().join("none.db"), target.clone(), "no database"),
        (path.clone(), nowhere, "cannot be written"),
        (target, folder.path().join("again"), ""),
    ] {
        match backup(&database, &target, Existing::Keep).await {
            Ok(_) => assert_eq!(words, ""),
            Err(error) => {
                assert!(
                    !words.is_empty() && error.to_string().contains(words),
                    "{error}"
                );
            }
        }
    }
}
