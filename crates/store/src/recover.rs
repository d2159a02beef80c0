//! What a server does first: it ends what the one before it could not.

use sqlx::SqliteConnection;

use crate::audit::{self, AuditRecord};
use crate::error::WriteError;
use crate::open::Store;
use crate::rows::{
    DecidedBy, Delivery, Outcome, RequestRow, RequestStatus, SessionRow, UnixMillis,
};
use crate::transaction;

impl Store {
    /// Ends every request that is still open as orphaned and every session that is not dead, all or
    /// nothing. Returns what it orphaned, in the order in which it was asked. For the start only:
    /// it does not know which agents are alive.
    pub async fn recover(&self, now: UnixMillis) -> Result<Vec<RequestRow>, WriteError> {
        self.recover_recording(now, |_| Vec::new()).await
    }

    /// The same, with what the history has to say about the orphaned in the same transaction.
    pub async fn recover_recording(
        &self,
        now: UnixMillis,
        records: impl FnOnce(&[RequestRow]) -> Vec<AuditRecord> + Send,
    ) -> Result<Vec<RequestRow>, WriteError> {
        let mut connection = self.writer().acquire().await?;
        transaction::begin(&mut connection).await?;
        let mut tail = self.tail();
        // Only a commit makes it known again.
        self.set_head(None);
        let recovered = async {
            let orphaned = orphan_and_bury(&mut connection, now).await?;
            for record in records(&orphaned) {
                audit::append(&mut connection, &mut tail, &record).await?;
            }
            Ok(orphaned)
        }
        .await;
        match recovered {
            Ok(orphaned) => {
                transaction::commit(&mut connection).await?;
                self.set_head(tail.head);
                Ok(orphaned)
            }
            Err(error) => {
                transaction::rollback(&mut connection).await;
                Err(error)
            }
        }
    }
}

async fn orphan_and_bury(
    connection: &mut SqliteConnection,
    now: UnixMillis,
) -> Result<Vec<RequestRow>, sqlx::Error> {
    let mut orphaned: Vec<RequestRow> =
        sqlx::query_as("SELECT * FROM requests WHERE status = $1 ORDER BY ordinal")
            .bind(RequestStatus::Open)
            .fetch_all(&mut *connection)
            .await?;
    sqlx::query(
        "INSERT INTO decisions (request_id, outcome, decided_by, decision, message, at, delivery) \
         SELECT id, $1, $2, 'null', $3, $4, $5 FROM requests WHERE status = $6",
    )
    .bind(Outcome::Orphaned)
    .bind(DecidedBy::Agent)
    .bind("The server stopped while this request was open, and its agent with it.")
    .bind(now)
    .bind(Delivery::None)
    .bind(RequestStatus::Open)
    .execute(&mut *connection)
    .await?;
    sqlx::query("UPDATE requests SET status = $1 WHERE status = $2")
        .bind(RequestStatus::Orphaned)
        .bind(RequestStatus::Open)
        .execute(&mut *connection)
        .await?;
    sqlx::query(
        "UPDATE sessions SET state = $1, ended_reason = $2, state_changed_at = $3 \
         WHERE state <> $1",
    )
    .bind(SessionRow::DEAD)
    .bind(SessionRow::SERVER_RESTARTED)
    .bind(now)
    .execute(&mut *connection)
    .await?;
    for request in &mut orphaned {
        request.status = RequestStatus::Orphaned;
    }
    Ok(orphaned)
}
