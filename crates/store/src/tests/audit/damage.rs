//! The same on real files: whatever SQLite lets somebody do to a row is found.

use std::path::PathBuf;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

use super::*;
use crate::audit::{CHECKPOINT_FILE, KEY_FILE};

pub(super) const ENTRIES: i64 = 60;
const MUTATIONS: u64 = 300;
const COLUMNS: [&str; 14] = [
    "seq",
    "at",
    "kind",
    "session_id",
    "request_id",
    "project",
    "tool_name",
    "outcome",
    "actor_kind",
    "actor_label",
    "previous",
    "hash",
    "text",
    "body",
];

/// A folder whose history was signed to its end, in three checkpoints.
pub(super) async fn signed_history() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sayso.db");
    for part in [1..=20, 21..=40, 41..=ENTRIES as u64] {
        let mut bench = Bench::at(&path).await;
        bench.write(appended(part)).await.unwrap();
        bench.close().await;
    }
    folder
}

fn copy(folder: &tempfile::TempDir) -> (tempfile::TempDir, PathBuf) {
    let copy = tempfile::tempdir().unwrap();
    for name in ["sayso.db", CHECKPOINT_FILE, KEY_FILE] {
        std::fs::copy(folder.path().join(name), copy.path().join(name)).unwrap();
    }
    let path = copy.path().join("sayso.db");
    (copy, path)
}

async fn run(path: &Path, statements: &[String]) {
    let mut connection = SqliteConnectOptions::new()
        .filename(path)
        .connect()
        .await
        .unwrap();
    pragma(&mut connection, "DROP TRIGGER audit_is_never_changed").await;
    for statement in statements {
        sqlx::query(AssertSqlSafe(statement.clone()))
            .execute(&mut connection)
            .await
            .unwrap();
    }
    connection.close().await.unwrap();
}

/// The statement that changes one byte, the type or the presence of one value, and the entry that
/// should be named for it.
async fn change_of_a_value(path: &Path, dice: &mut Dice) -> (String, i64) {
    let seq = dice.from(1..=ENTRIES);
    let column = COLUMNS[dice.below(COLUMNS.len())];
    let mut connection = SqliteConnectOptions::new()
        .filename(path)
        .connect()
        .await
        .unwrap();
    let query =
        format!("SELECT typeof({column}), CAST({column} AS BLOB) FROM audit WHERE seq = $1");
    let (class, mut bytes): (String, Option<Vec<u8>>) = sqlx::query_as(AssertSqlSafe(query))
        .bind(seq)
        .fetch_one(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
    if column == "seq" {
        let other = [-seq, seq + ENTRIES, 0][dice.below(3)];
        let statement = format!("UPDATE audit SET seq = {other} WHERE seq = {seq}");
        return (statement, seq.min(other));
    }
    let hex = |bytes: &[u8]| {
        bytes
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    let other_class = |bytes: &[u8]| match class.as_str() {
        "blob" => format!("CAST(x'{}' AS TEXT)", hex(bytes)),
        _ => format!("x'{}'", hex(bytes)),
    };
    let value = match &mut bytes {
        None => "''".to_owned(),
        Some(bytes) if dice.below(5) == 0 => other_class(bytes),
        Some(_)
            if ["session_id", "request_id", "project", "tool_name"].contains(&column)
                && dice.below(5) == 0 =>
        {
            "NULL".to_owned()
        }
        Some(_) if class == "integer" => format!("{column} + {}", 1 + dice.below(9)),
        Some(bytes) => {
            match bytes.len() {
                0 => bytes.push(0),
                length => bytes[dice.below(length)] ^= 1 << dice.below(8),
            }
            let class = class.to_uppercase();
            format!("CAST(x'{}' AS {class})", hex(bytes))
        }
    };
    (
        format!("UPDATE audit SET {column} = {value} WHERE seq = {seq}"),
        seq,
    )
}

#[tokio::test]
async fn whatever_is_done_to_the_files_is_found() {
    let original = signed_history().await;
    let verified = check(&original.path().join("sayso.db")).await.unwrap();
    assert_eq!((verified.entries, verified.signed), (60, ENTRIES));
    let mut dice = Dice::new(42);
    for round in 0..MUTATIONS {
        let (folder, path) = copy(&original);
        let seq = dice.from(1..=ENTRIES);
        let (done, expected) = match dice.below(10) {
            0 => (format!("DELETE FROM audit WHERE seq = {seq}"), Some(seq)),
            1 => (format!("DELETE FROM audit WHERE seq >= {seq}"), Some(seq)),
            2 => (format!("DELETE FROM audit WHERE seq <= {seq}"), Some(1)),
            3 => {
                let first = dice.from(1..=ENTRIES - 1);
                let second = dice.from(first + 1..=ENTRIES);
                let swap = format!(
                    "UPDATE audit SET seq = -1 WHERE seq = {first}; \
                     UPDATE audit SET seq = {first} WHERE seq = {second}; \
                     UPDATE audit SET seq = {second} WHERE seq = -1"
                );
                (swap, Some(first))
            }
            4 => {
                change_a_file(folder.path(), &mut dice);
                (String::new(), None)
            }
            _ => {
                let (statement, seq) = change_of_a_value(&path, &mut dice).await;
                (statement, Some(seq))
            }
        };
        let statements: Vec<String> = done
            .split("; ")
            .filter(|statement| !statement.is_empty())
            .map(str::to_owned)
            .collect();
        run(&path, &statements).await;
        let finding = check(&path).await;
        let told = format!("round {round}: {done}: {finding:?}");
        let finding = finding.expect_err(&told);
        if expected.is_some() {
            assert_eq!(finding.first_bad_entry(), expected, "{told}");
        }
    }
}

/// Any byte of the checkpoints, or all of them from some line on.
fn change_a_file(folder: &Path, dice: &mut Dice) {
    let path = folder.join(CHECKPOINT_FILE);
    let mut bytes = std::fs::read(&path).unwrap();
    match dice.below(3) {
        0 => bytes.truncate(dice.below(bytes.len())),
        _ => {
            let index = dice.below(bytes.len());
            bytes[index] ^= 1 << dice.below(8);
        }
    }
    std::fs::write(&path, bytes).unwrap();
}
