//! A database of every schema that was ever released opens, with all that was in it.
//!
//! `schemas` holds one of each as SQL. They are never changed; a new schema gets a file of its own:
//! `SAYSO_WRITE_SCHEMA=1 cargo test -p sayso-store -- --ignored writes_the_newest_schema`.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use pretty_assertions::assert_eq;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row};

use super::audit::{check, record};
use super::channels::channel;
use super::devices::device;
use super::opening::{FROM_THE_FUTURE, change, refuses};
use super::queue::queued;
use super::rules::rule;
use super::*;
use crate::audit::{AuditReader, CHECKPOINT_FILE, KEY_FILE};
use crate::open::MIGRATOR;

/// No more than a text to the store.
const PASSWORD: &str = "$argon2id$kept";

fn schemas() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/schemas")
}

/// The numbers of the released schemas, oldest first.
fn released() -> Vec<i64> {
    let number = |file: fs::DirEntry| {
        let name = file.file_name().into_string().unwrap();
        name.strip_suffix(".sql")?.parse().ok()
    };
    let mut numbers: Vec<i64> = fs::read_dir(schemas())
        .unwrap()
        .filter_map(|file| number(file.unwrap()))
        .collect();
    numbers.sort_unstable();
    numbers
}

/// A data folder as the release with this schema left it.
async fn folder_of(schema: i64) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sayso.db");
    let dump = fs::read_to_string(schemas().join(format!("{schema:04}.sql"))).unwrap();
    let options = SqliteConnectOptions::new()
        .filename(&path)
        .create_if_missing(true)
        .foreign_keys(false);
    let mut connection = options.connect().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(dump))
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
    for name in [KEY_FILE, CHECKPOINT_FILE] {
        let kept = schemas().join(format!("{schema:04}.{name}"));
        if kept.exists() {
            fs::copy(kept, folder.path().join(name)).unwrap();
        }
    }
    (folder, path)
}

/// With the size of its transcript, which older schemas did not keep.
fn measured() -> SessionRow {
    SessionRow {
        transcript_bytes: entry(1, 1).body.len() as i64,
        ..session(1)
    }
}

fn everything_of_a_release() -> Everything {
    let denied = ended(request(1, 12), RequestStatus::Decided);
    let line = history_line(measured(), denied.clone(), decision(12, Outcome::Denied));
    Everything {
        sessions: vec![measured()],
        entries: vec![entry(1, 1)],
        requests: vec![denied, request(1, 11)],
        decisions: vec![line],
    }
}

#[tokio::test]
async fn every_released_schema_opens_with_all_that_was_in_it() {
    let schemas: Vec<i64> = MIGRATOR.iter().map(|step| step.version).collect();
    assert_eq!(
        released(),
        schemas,
        "a schema has no file yet; the comment above says how to make the newest"
    );
    for schema in released() {
        let (_folder, path) = folder_of(schema).await;
        if schema >= 5 {
            reads_without_touching(&path).await;
        }
        for time in ["brought up to date", "again"] {
            let bench = Bench::at(&path).await;
            let store = &bench.store;
            assert_eq!(
                bench.everything().await,
                everything_of_a_release(),
                "{schema}, {time}"
            );
            let queue = store.queued_messages().await.unwrap();
            let expected = (schema >= 2).then(|| queued(1, 9, "first"));
            assert_eq!(queue, Vec::from_iter(expected), "{schema}");
            let trusted = store.trusted_folder("/srv/a").await.unwrap();
            assert_eq!(trusted.is_some(), schema >= 2, "{schema}");
            let rules = store.rules().await.unwrap();
            let expected = (schema >= 3).then(|| rule(1, None));
            assert_eq!(rules, Vec::from_iter(expected), "{schema}");
            let devices = store.devices().await.unwrap();
            let expected = (schema >= 7).then(|| device(1));
            assert_eq!(devices, Vec::from_iter(expected), "{schema}");
            let channels = store.channels().await.unwrap();
            let expected = (schema >= 9).then(|| channel(1, Some(1)));
            assert_eq!(channels, Vec::from_iter(expected), "{schema}");
            let password = store.password().await.unwrap();
            let expected = (schema >= 7).then_some(PASSWORD);
            assert_eq!(password.as_deref(), expected, "{schema}");
            bench.close().await;
            let entries = if schema >= 5 { 3 } else { 0 };
            let verified = check(&path).await;
            assert_eq!(verified.map(|found| found.entries), Ok(entries), "{schema}");
        }
        let mut bench = Bench::at(&path).await;
        bench.write([Write::AppendAudit(record(9))]).await.unwrap();
        bench.close().await;
        check(&path).await.unwrap();
    }
}

/// As `sayso audit` does beside a database that no newer server has opened.
async fn reads_without_touching(path: &Path) {
    let reader = AuditReader::open(path).await.unwrap();
    let filter = AuditFilter::default();
    let page = reader.page(&filter, AuditCursor::Newest, 9).await.unwrap();
    assert_eq!(page.len(), 3, "{}", path.display());
    reader.verify().await.unwrap().unwrap();
    reader.close().await;
}

#[tokio::test]
async fn whatever_else_it_holds_a_newer_schema_is_not_touched() {
    for schema in released() {
        let (_folder, path) = folder_of(schema).await;
        change(&path, FROM_THE_FUTURE).await;
        refuses("newer", &path, &["newer Sayso", "schema 9999"]).await;
    }
}

#[tokio::test]
#[ignore = "makes the file of a new schema, once"]
async fn writes_the_newest_schema() {
    assert!(std::env::var_os("SAYSO_WRITE_SCHEMA").is_some());
    let newest = MIGRATOR.iter().map(|step| step.version).max().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sayso.db");
    let mut bench = Bench::at(&path).await;
    let trusted = TrustedFolderRow {
        path: "/srv/a".to_owned(),
        digest: "1".to_owned(),
        trusted_at: UnixMillis(7_000),
        client_label: "phone".to_owned(),
    };
    let writes = [
        Write::PutSession(measured().into()),
        Write::AppendEntry(entry(1, 1)),
        Write::OpenRequest(request(1, 11).into()),
        Write::OpenRequest(request(1, 12).into()),
        Write::Decide(decision(12, Outcome::Denied)),
        Write::PutQueued(queued(1, 9, "first")),
        Write::TrustFolder(trusted),
        Write::PutRule(rule(1, None)),
        Write::PutDevice(device(1)),
        Write::PutChannel(channel(1, Some(1))),
        Write::SetPassword(Some(PASSWORD.to_owned())),
        Write::AppendAudit(record(1)),
        Write::AppendAudit(record(20)),
        Write::AppendAudit(record(3)),
    ];
    bench.write(writes).await.unwrap();
    bench.close().await;
    fs::write(
        schemas().join(format!("{newest:04}.sql")),
        dump(&path).await,
    )
    .unwrap();
    for name in [KEY_FILE, CHECKPOINT_FILE] {
        let target = schemas().join(format!("{newest:04}.{name}"));
        fs::copy(folder.path().join(name), target).unwrap();
    }
}

/// All tables with their rows, then indexes and triggers.
async fn dump(path: &Path) -> String {
    let options = SqliteConnectOptions::new().filename(path);
    let mut connection = options.connect().await.unwrap();
    let objects: Vec<(String, String, String)> = sqlx::query_as(
        "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type <> 'table', rowid",
    )
    .fetch_all(&mut connection)
    .await
    .unwrap();
    let mut text = String::new();
    for (kind, name, sql) in objects {
        writeln!(text, "{sql};").unwrap();
        if kind != "table" {
            continue;
        }
        let columns: Vec<String> = sqlx::query_scalar("SELECT name FROM pragma_table_info($1)")
            .bind(&name)
            .fetch_all(&mut connection)
            .await
            .unwrap();
        let quoted: Vec<String> = columns
            .iter()
            .map(|name| format!("quote({name})"))
            .collect();
        let query = format!("SELECT {} FROM {name} ORDER BY 1", quoted.join(", "));
        let rows = sqlx::query(AssertSqlSafe(query));
        for row in rows.fetch_all(&mut connection).await.unwrap() {
            let values: Vec<String> = (0..columns.len()).map(|index| row.get(index)).collect();
            writeln!(text, "INSERT INTO {name} VALUES ({});", values.join(", ")).unwrap();
        }
    }
    connection.close().await.unwrap();
    text
}
