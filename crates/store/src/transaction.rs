//! Transactions on the write connection.
//!
//! They are begun and ended by plain statements. The driver's own transactions count how deep they
//! are, and miss that SQLite ends one by itself when the disk is full: from then on the connection
//! could not begin another.

use sqlx::SqliteConnection;

/// Begins as a writer at once, so that a lock held elsewhere shows here and not in the middle.
pub(crate) async fn begin(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let Err(error) = execute(connection, "BEGIN IMMEDIATE").await else {
        return Ok(());
    };
    // A caller that was cancelled may have left its transaction behind. Only then is there
    // something to roll back.
    match execute(connection, "ROLLBACK").await {
        Ok(()) => execute(connection, "BEGIN IMMEDIATE").await,
        Err(_) => Err(error),
    }
}

pub(crate) async fn commit(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let result = execute(connection, "COMMIT").await;
    if result.is_err() {
        rollback(connection).await;
    }
    result
}

/// Fails only when SQLite has rolled back already, which is what was wanted.
pub(crate) async fn rollback(connection: &mut SqliteConnection) {
    if let Err(error) = execute(connection, "ROLLBACK").await {
        tracing::debug!(%error, "nothing left to roll back");
    }
}

async fn execute(
    connection: &mut SqliteConnection,
    statement: &'static str,
) -> Result<(), sqlx::Error> {
    sqlx::query(statement).execute(connection).await?;
    Ok(())
}
