//! What a server does first: it ends what the one before it could not.

use rusqlite::{Connection, params};

use crate::audit::{self, AuditRecord};
use crate::connection::NotWritten;
use crate::error::WriteError;
use crate::open::{Durability, Store};
use crate::requests::{self, Decided};
use crate::rows::{
    DecidedBy, DecisionRow, Delivery, Outcome, RequestRow, RequestStatus, SessionId, SessionRow,
    UnixMillis,
};
use crate::write::execute;

impl Store {
    /// Ends every request that is still open as orphaned and every session that is not dead, all or
    /// nothing, except for sessions whose agents live on. What the history has to say about it is part of
    /// the same transaction. Returns what it orphaned, in the order in which it was asked. For the
    /// start only, when nobody else writes: it waits for the disk.
    pub async fn recover(
        &self,
        now: UnixMillis,
        living: &[SessionId],
        records: impl FnOnce(&[RequestRow]) -> Vec<AuditRecord> + Send,
    ) -> Result<Vec<RequestRow>, WriteError> {
        let mut orphaned = self.open_requests().await?;
        orphaned.retain(|request| !living.contains(&request.session_id));
        for request in &mut orphaned {
            request.status = RequestStatus::Orphaned;
        }
        let mut buried: Vec<SessionId> =
            sqlx::query_scalar("SELECT id FROM sessions WHERE state <> $1 ORDER BY id")
                .bind(SessionRow::DEAD)
                .fetch_all(self.reader().await)
                .await?;
        buried.retain(|session| !living.contains(session));
        let records = records(&orphaned);
        self.transact(Durability::Process, |connection, tail| {
            for request in &orphaned {
                orphan(connection, request, now)?;
            }
            for session in &buried {
                bury(connection, *session, now)?;
            }
            for record in &records {
                audit::append(connection, tail, record)?;
            }
            Ok(())
        })
        .map_err(NotWritten::into_error)?;
        Ok(orphaned)
    }
}

fn orphan(
    connection: &Connection,
    request: &RequestRow,
    now: UnixMillis,
) -> Result<(), WriteError> {
    let lost = DecisionRow {
        request_id: request.id,
        outcome: Outcome::Orphaned,
        decided_by: DecidedBy::Agent,
        client_id: None,
        client_label: None,
        decision: "null".to_owned(),
        message: Some("The agent was lost while this request was open.".to_owned()),
        at: now,
        delivery: Delivery::None,
        delivered_at: None,
    };
    requests::end(connection, &Decided::new(&lost))
}

fn bury(connection: &Connection, session: SessionId, now: UnixMillis) -> rusqlite::Result<()> {
    execute(
        connection,
        "UPDATE sessions SET state = ?1, ended_reason = ?2, state_changed_at = ?3 WHERE id = ?4",
        params![SessionRow::DEAD, SessionRow::SERVER_RESTARTED, now, session],
    )?;
    Ok(())
}
