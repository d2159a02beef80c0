//! A database that should not be opened is refused with a sentence, and stays as it is.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use pretty_assertions::assert_eq;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};

use super::*;
use crate::inspect::{Looked, inspect};

/// A database with enough in it to have many pages, closed.
async fn some_database(folder: &tempfile::TempDir) -> PathBuf {
    let path = folder.path().join("sayso.db");
    let mut bench = Bench::at(&path).await;
    bench
        .write([Write::PutSession(session(1).into())])
        .await
        .unwrap();
    let entries = (1..=500).map(|seq| Write::AppendEntry(entry(1, seq)));
    bench.write(entries).await.unwrap();
    bench.close().await;
    path
}

pub(super) async fn change(path: &Path, statement: &'static str) {
    let options = SqliteConnectOptions::new().filename(path);
    let mut connection = options.create_if_missing(true).connect().await.unwrap();
    pragma(&mut connection, statement).await;
    connection.close().await.unwrap();
}

/// Opening fails with all of `words` in one line that names the file, twice, and changes nothing.
pub(super) async fn refuses(what: &str, path: &Path, words: &[&str]) {
    let log = crate::lock::beside(path, "-wal");
    let content = |path: &Path| (fs::read(path).unwrap(), fs::read(&log).unwrap_or_default());
    let before = content(path);
    for attempt in 1..=2 {
        let error = Store::open(path).await.expect_err(what);
        let sentence = error.to_string();
        let path = path.canonicalize().unwrap();
        for word in words.iter().copied().chain(path.to_str()) {
            assert!(
                sentence.contains(word),
                "{what}, attempt {attempt}: no {word:?} in {sentence:?}"
            );
        }
        assert!(!sentence.contains('\n'), "{what}: {sentence}");
        assert!(before == content(&path), "{what}: changed");
    }
}

#[tokio::test]
async fn files_that_are_no_database_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [
        ("text", &b"a diary\n"[..]),
        ("longer text", &[b'x'; 9000]),
        ("zeros", &[0; 4096]),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        refuses(name, &path, &["is not a Sayso database", "move it away"]).await;
    }
}

#[tokio::test]
async fn damage_is_found_before_it_spreads() {
    for (what, damage) in [
        ("half of it is missing", cut_in_half as fn(&mut Vec<u8>)),
        ("pages overwritten", |bytes| {
            let middle = bytes.len() / 2;
            bytes[middle..middle + 8192].fill(0xa5);
        }),
        ("only the first words are left", |bytes| bytes.truncate(16)),
        ("the header is overwritten", |bytes| bytes[16..100].fill(0)),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = some_database(&folder).await;
        let mut bytes = fs::read(&path).unwrap();
        damage(&mut bytes);
        fs::write(&path, bytes).unwrap();
        refuses(what, &path, &["is damaged", "restore a backup"]).await;
    }
}

/// A start does not wait for that of a large database; what it had no time for is looked at afterwards.
#[tokio::test]
async fn damage_is_found_by_the_second_look_where_the_first_had_no_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sayso.db");
    let mut bench = Bench::at(&path).await;
    let entries = (1..=4000).map(|seq| Write::AppendEntry(entry(1, seq)));
    let writes = [Write::PutSession(session(1).into())]
        .into_iter()
        .chain(entries);
    bench.write(writes).await.unwrap();
    bench.close().await;
    assert_eq!(
        inspect(&path, Some(Duration::ZERO)).await.unwrap(),
        Looked::AtSome
    );
    assert_eq!(inspect(&path, None).await.unwrap(), Looked::AtAll);
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 8192].fill(0xa5);
    fs::write(&path, bytes).unwrap();
    let error = inspect(&path, None).await.unwrap_err();
    assert!(matches!(error, OpenError::Corrupt { .. }), "{error}");
}

fn cut_in_half(bytes: &mut Vec<u8>) {
    bytes.truncate(bytes.len() / 2);
}

#[tokio::test]
async fn a_lost_file_is_not_begun_anew_over_its_log() {
    for name in ["sayso.db-wal", "sayso.db-log-a", "sayso.db-log-b"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sayso.db");
        let log = folder.path().join(name);
        fs::write(&path, "").unwrap();
        fs::write(&log, "the last decisions").unwrap();
        refuses("lost", &path, &["is damaged", "its log is not"]).await;
        assert_eq!(fs::read(&log).unwrap(), b"the last decisions");
    }
}

pub(super) const FROM_THE_FUTURE: &str = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
     VALUES (9999, 'from the future', TRUE, x'00', 0)";

#[tokio::test]
async fn a_closed_store_keeps_nobody_out_whoever_still_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = some_database(&folder).await;
    let first = Store::open(&path).await.unwrap();
    let clone = first.clone();
    first.close().await;
    Store::open(&path).await.unwrap().close().await;
    assert!(clone.sessions().await.is_err(), "it is closed");
}

#[tokio::test]
async fn a_newer_schema_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = some_database(&folder).await;
    change(&path, FROM_THE_FUTURE).await;
    let known = crate::open::MIGRATOR.iter().map(|step| step.version).max();
    let known = format!("knows {}", known.unwrap());
    let words = ["newer Sayso", "schema 9999", &known];
    refuses("newer", &path, &words).await;
}

#[tokio::test]
async fn a_newer_schema_is_seen_in_the_log_of_a_killed_server() {
    let folder = tempfile::tempdir().unwrap();
    let path = some_database(&folder).await;
    let options = SqliteConnectOptions::new().filename(&path);
    let mut connection = options.connect().await.unwrap();
    pragma(&mut connection, FROM_THE_FUTURE).await;
    // A copy taken while it is open is what a killed process leaves.
    let copy = folder.path().join("copy.db");
    fs::copy(&path, &copy).unwrap();
    let log = |path| crate::lock::beside(path, "-wal");
    assert!(fs::copy(log(&path), log(&copy)).unwrap() > 0);
    refuses("newer", &copy, &["newer Sayso", "schema 9999"]).await;
    connection.close().await.unwrap();
}

#[tokio::test]
async fn databases_of_others_are_left_alone() {
    for (what, statement) in [
        ("a stranger's", "CREATE TABLE bookmarks (url TEXT)"),
        (
            "a stranger's with migrations of the same kind",
            "CREATE TABLE _sqlx_migrations AS SELECT 1 AS version, x'00' AS checksum",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other.db");
        change(&path, statement).await;
        refuses(what, &path, &["is not a Sayso database"]).await;
    }
}

#[tokio::test]
async fn an_empty_file_is_a_first_start_that_was_cut_short() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sayso.db");
    fs::write(&path, "").unwrap();
    let mut bench = Bench::at(&path).await;
    assert_eq!(
        bench.write([Write::PutSession(session(1).into())]).await,
        Ok(())
    );
}

#[tokio::test]
async fn a_second_server_is_kept_out_by_any_name_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().join("real");
    let path = real.join("sayso.db");
    let first = Store::open(&path).await.unwrap();
    let mut names = vec![path.clone(), real.join("../real/sayso.db")];
    #[cfg(unix)]
    {
        let alias = folder.path().join("alias");
        std::os::unix::fs::symlink(&real, &alias).unwrap();
        names.push(alias.join("sayso.db"));
    }
    let this_process = format!("(process {})", std::process::id());
    for name in &names {
        let words = ["is in use by another Sayso", &this_process, "stop that one"];
        refuses("second", name, &words).await;
    }
    let clone = first.clone();
    drop(first);
    refuses("a clone is left", &path, &["is in use"]).await;
    drop(clone);
    Store::open(&path).await.unwrap();
}

#[tokio::test]
async fn a_lock_that_is_let_go_of_in_a_moment_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sayso.db");
    let first = Store::open(&path).await.unwrap();
    let (_, second) = tokio::join!(
        async {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            drop(first);
        },
        Store::open(&path)
    );
    second.unwrap();
}

#[tokio::test]
async fn a_place_that_cannot_be_used_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    for path in [file.join("sayso.db"), folder.path().to_owned()] {
        let sentence = Store::open(&path).await.unwrap_err().to_string();
        assert!(sentence.contains(path.to_str().unwrap()), "{sentence}");
        assert!(sentence.contains("cannot be opened"), "{sentence}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_may_look() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let parent = folder.path().join("data/sayso");
    let path = parent.join("sayso.db");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let mut bench = Bench::at(&path).await;
    bench
        .write([Write::PutSession(session(1).into())])
        .await
        .unwrap();
    let mut modes: Vec<_> = fs::read_dir(&parent)
        .unwrap()
        .map(|file| file.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_owned(), mode(&path)))
        .collect();
    modes.sort();
    let names = [
        "audit.checkpoints",
        "audit.key",
        "sayso.db",
        "sayso.db-log-a",
        "sayso.db-log-b",
        "sayso.db-shm",
        "sayso.db-wal",
        "sayso.db.lock",
    ];
    assert_eq!(modes, names.map(|name| (name.into(), 0o600)));
    assert_eq!(mode(&parent), 0o700);
    assert_eq!(mode(parent.parent().unwrap()), 0o700);

    bench.close().await;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    Store::open(&path).await.unwrap();
    assert_eq!(mode(&path), 0o600, "tightened");
}

/// Whether the last commit waited for the disk.
fn synced(bench: &Bench) -> bool {
    let mode = |connection: &rusqlite::Connection| {
        connection.pragma_query_value(None, "synchronous", |row| row.get::<_, i64>(0))
    };
    match bench.store.write_connection().with(mode).unwrap() {
        1 => false,
        2 => true,
        other => panic!("synchronous is {other}"),
    }
}

#[tokio::test]
async fn decisions_are_as_durable_as_was_asked_for_and_nothing_else_waits_for_the_disk() {
    assert_eq!(Durability::default(), Durability::Disk);
    let folder = tempfile::tempdir().unwrap();
    for (name, durability) in [("disk", Durability::Disk), ("process", Durability::Process)] {
        let path = folder.path().join(name);
        let mut bench = Bench::on(Store::open_with(&path, durability).await.unwrap());
        let ask = [
            Write::PutSession(session(1).into()),
            Write::OpenRequest(request(1, 11).into()),
        ];
        bench.write(ask).await.unwrap();
        assert!(!synced(&bench), "{name}: nobody acts on it yet");
        let decide = [Write::Decide(decision(11, Outcome::Allowed))];
        bench.write(decide).await.unwrap();
        assert_eq!(synced(&bench), durability == Durability::Disk, "{name}");
        let entry = [Write::AppendEntry(entry(1, 1))];
        bench.write(entry).await.unwrap();
        assert!(!synced(&bench), "{name}: it only tells");
        let journal: String = bench
            .store
            .write_connection()
            .with(|connection| {
                connection.pragma_query_value(None, "journal_mode", |row| row.get(0))
            })
            .unwrap();
        assert_eq!(journal, "wal");
        bench.close().await;
    }
}
