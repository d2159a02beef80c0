//! What a server does first: it ends what the one before it could not.

use sqlx::SqliteConnection;

use crate::audit::{self, AuditRecord};
use crate::error::WriteError;
use crate::open::Store;
use crate::rows::{
    DecidedBy, Delivery, Outcome, RequestRow, RequestStatus, SessionId, SessionRow, UnixMillis,
};
use crate::transaction;

impl Store {
    /// Ends every request that is still open as orphaned and every session that is not dead, all or
    /// nothing, except for sessions whose agents live on. What the history has to say about it is part of
    /// the same transaction. Returns what it orphaned, in the order in which it was asked. For the
    /// start only.
    pub async fn recover(
        &self,
        now: UnixMillis,
        living: &[SessionId],
        records: impl FnOnce(&[RequestRow]) -> Vec<AuditRecord> + Send,
    ) -> Result<Vec<RequestRow>, WriteError> {
        let mut connection = self.writer().acquire().await?;
        transaction::begin(&mut connection).await?;
        let mut tail = self.tail();
        // Only a commit makes it known again.
        self.set_head(None);
        let recovered = async {
            let orphaned = orphan_and_bury(&mut connection, now, living).await?;
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
    living: &[SessionId],
) -> Result<Vec<RequestRow>, sqlx::Error> {
    let mut orphaned: Vec<RequestRow> =
        sqlx::query_as("SELECT * FROM requests WHERE status = $1 ORDER BY ordinal")
            .bind(RequestStatus::Open)
            .fetch_all(&mut *connection)
            .await?;
    orphaned.retain(|request| !living.contains(&request.session_id));
    for request in &mut orphaned {
        request.status = RequestStatus::Orphaned;
        orphan(connection, request, now).await?;
    }
    let alive: Vec<SessionId> =
        sqlx::query_scalar("SELECT id FROM sessions WHERE state <> $1 ORDER BY id")
            .bind(SessionRow::DEAD)
            .fetch_all(&mut *connection)
            .await?;
    for session in alive.iter().filter(|session| !living.contains(session)) {
        sqlx::query(
            "UPDATE sessions SET state = $1, ended_reason = $2, state_changed_at = $3 WHERE id = $4",
        )
        .bind(SessionRow::DEAD)
        .bind(SessionRow::SERVER_RESTARTED)
        .bind(now)
        .bind(*session)
        .execute(&mut *connection)
        .await?;
    }
    Ok(orphaned)
}

async fn orphan(
    connection: &mut SqliteConnection,
    request: &RequestRow,
    now: UnixMillis,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO decisions (request_id, outcome, decided_by, decision, message, at, delivery) \
         VALUES ($1, $2, $3, 'null', $4, $5, $6)",
    )
    .bind(request.id)
    .bind(Outcome::Orphaned)
    .bind(DecidedBy::Agent)
    .bind("The agent was lost while this request was open.")
    .bind(now)
    .bind(Delivery::None)
    .execute(&mut *connection)
    .await?;
    sqlx::query("UPDATE requests SET status = $1 WHERE id = $2")
        .bind(RequestStatus::Orphaned)
        .bind(request.id)
        .execute(&mut *connection)
        .await?;
    Ok(())
}
