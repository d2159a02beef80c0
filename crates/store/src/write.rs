//! The writes and what each does to the rows.

use sqlx::SqliteConnection;

use crate::audit::{self, AuditRecord, Tail};
use crate::devices::{self, DeviceRow};
use crate::error::{Fault, WriteError};
use crate::facts::{self, AgentFactsRow, TrustedFolderRow};
use crate::queue::{self, QueuedRow};
use crate::rows::{
    DecisionRow, Delivery, DeviceId, EntryRow, MessageId, RequestId, RequestRow, RequestStatus,
    RuleId, SessionId, SessionRow, UnixMillis,
};
use crate::rules::{self, RuleRow};

/// One change. Several that must hold together go into one [`WriteJob`](crate::WriteJob).
#[derive(Debug, Clone, PartialEq)]
pub enum Write {
    /// Adds the session or replaces all it says.
    PutSession(SessionRow),
    /// Refused if the number is taken.
    AppendEntry(EntryRow),
    /// The row has to be open; one that is decided by itself is followed by its `Decide`.
    OpenRequest(RequestRow),
    /// Sets the clock of an open request.
    UpdateRequestClock {
        id: RequestId,
        deadline: Option<UnixMillis>,
        held_remaining_ms: Option<i64>,
        held: bool,
    },
    /// Ends an open request, once: whoever comes second gets the decision that stands. Withdrawn and
    /// orphaned requests end this way too.
    Decide(DecisionRow),
    /// Says what became of a decision. `at` is when the agent got it, if it did.
    SetDelivery {
        request_id: RequestId,
        delivery: Delivery,
        at: Option<UnixMillis>,
    },
    /// Forgets the session with its transcript, its requests and their decisions.
    DeleteSession(SessionId),
    /// Adds a message that waits, or replaces what it says.
    PutQueued(QueuedRow),
    RemoveQueued(MessageId),
    TrustFolder(TrustedFolderRow),
    PutAgentFacts(AgentFactsRow),
    /// Adds the rule or replaces what it says.
    PutRule(RuleRow),
    RemoveRule(RuleId),
    /// Adds the device or replaces what may change.
    PutDevice(DeviceRow),
    DeviceSeen {
        id: DeviceId,
        at: UnixMillis,
        expires_at: Option<UnixMillis>,
    },
    RemoveDevice(DeviceId),
    /// The hash of the password, or none.
    SetPassword(Option<String>),
    /// Goes into the job of what it records, so that neither is there without the other.
    AppendAudit(AuditRecord),
}

pub(crate) async fn apply(
    connection: &mut SqliteConnection,
    tail: &mut Tail,
    write: &Write,
) -> Result<(), WriteError> {
    match write {
        Write::PutSession(session) => put_session(connection, session).await,
        Write::AppendEntry(entry) => append_entry(connection, entry).await,
        Write::OpenRequest(request) => open_request(connection, request).await,
        Write::UpdateRequestClock {
            id,
            deadline,
            held_remaining_ms,
            held,
        } => update_clock(connection, *id, *deadline, *held_remaining_ms, *held).await,
        Write::Decide(decision) => decide(connection, decision).await,
        Write::SetDelivery {
            request_id,
            delivery,
            at,
        } => set_delivery(connection, *request_id, *delivery, *at).await,
        Write::DeleteSession(id) => delete_session(connection, *id).await,
        Write::PutQueued(row) => queue::put(connection, row).await,
        Write::RemoveQueued(id) => queue::remove(connection, *id).await,
        Write::TrustFolder(row) => facts::trust_folder(connection, row).await,
        Write::PutAgentFacts(row) => facts::put_agent_facts(connection, row).await,
        Write::PutRule(row) => rules::put(connection, row).await,
        Write::RemoveRule(id) => rules::remove(connection, *id).await,
        Write::PutDevice(row) => devices::put(connection, row).await,
        Write::DeviceSeen { id, at, expires_at } => {
            devices::seen(connection, *id, *at, *expires_at).await
        }
        Write::RemoveDevice(id) => devices::remove(connection, *id).await,
        Write::SetPassword(hash) => devices::set_password(connection, hash.as_deref()).await,
        Write::AppendAudit(record) => audit::append(connection, tail, record).await,
    }
}

async fn put_session(
    connection: &mut SqliteConnection,
    row: &SessionRow,
) -> Result<(), WriteError> {
    sqlx::query(
        "INSERT INTO sessions (id, title, cwd, agent, agent_session_id, state, permission_mode, \
             model, created_at, state_changed_at, ended_reason, error, usage, policies, archived_at, \
             title_fixed, restricted, context, alert, run_after, counted_line, \
             transcript_bytes) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, \
             $17, $18, $19, $20, $21, $22) \
         ON CONFLICT (id) DO UPDATE SET title = excluded.title, cwd = excluded.cwd, \
             agent = excluded.agent, agent_session_id = excluded.agent_session_id, \
             state = excluded.state, permission_mode = excluded.permission_mode, \
             model = excluded.model, created_at = excluded.created_at, \
             state_changed_at = excluded.state_changed_at, ended_reason = excluded.ended_reason, \
             error = excluded.error, usage = excluded.usage, policies = excluded.policies, \
             archived_at = excluded.archived_at, title_fixed = excluded.title_fixed, \
             restricted = excluded.restricted, context = excluded.context, \
             alert = excluded.alert, run_after = excluded.run_after, \
             counted_line = excluded.counted_line, \
             transcript_bytes = excluded.transcript_bytes",
    )
    .bind(row.id)
    .bind(&row.title)
    .bind(&row.cwd)
    .bind(&row.agent)
    .bind(&row.agent_session_id)
    .bind(&row.state)
    .bind(&row.permission_mode)
    .bind(&row.model)
    .bind(row.created_at)
    .bind(row.state_changed_at)
    .bind(&row.ended_reason)
    .bind(&row.error)
    .bind(&row.usage)
    .bind(&row.policies)
    .bind(row.archived_at)
    .bind(row.title_fixed)
    .bind(row.restricted)
    .bind(&row.context)
    .bind(&row.alert)
    .bind(row.run_after)
    .bind(row.counted_line)
    .bind(row.transcript_bytes)
    .execute(connection)
    .await?;
    Ok(())
}

async fn append_entry(connection: &mut SqliteConnection, row: &EntryRow) -> Result<(), WriteError> {
    sqlx::query(
        "INSERT INTO entries (session_id, seq, at, body, line, part) \
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(row.session_id)
    .bind(row.seq)
    .bind(row.at)
    .bind(&row.body)
    .bind(row.line)
    .bind(row.part)
    .execute(connection)
    .await
    .map_err(|error| needs_session(error, row.session_id))?;
    Ok(())
}

async fn open_request(
    connection: &mut SqliteConnection,
    row: &RequestRow,
) -> Result<(), WriteError> {
    if row.status != RequestStatus::Open {
        return Err(WriteError::Constraint(format!(
            "request {} would begin as {:?}",
            row.id, row.status
        )));
    }
    sqlx::query(
        "INSERT INTO requests (id, session_id, native_id, kind, tool_name, tool_use_id, agent_id, \
             agent_label, input, input_digest, raw, detail, created_at, deadline, \
             held_remaining_ms, status, held) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)",
    )
    .bind(row.id)
    .bind(row.session_id)
    .bind(&row.native_id)
    .bind(&row.kind)
    .bind(&row.tool_name)
    .bind(&row.tool_use_id)
    .bind(&row.agent_id)
    .bind(&row.agent_label)
    .bind(&row.input)
    .bind(&row.input_digest)
    .bind(&row.raw)
    .bind(&row.detail)
    .bind(row.created_at)
    .bind(row.deadline)
    .bind(row.held_remaining_ms)
    .bind(row.status)
    .bind(row.held)
    .execute(connection)
    .await
    .map_err(|error| needs_session(error, row.session_id))?;
    Ok(())
}

async fn update_clock(
    connection: &mut SqliteConnection,
    id: RequestId,
    deadline: Option<UnixMillis>,
    held_remaining_ms: Option<i64>,
    held: bool,
) -> Result<(), WriteError> {
    let updated = sqlx::query(
        "UPDATE requests SET deadline = $1, held_remaining_ms = $2, held = $3 \
         WHERE id = $4 AND status = $5",
    )
    .bind(deadline)
    .bind(held_remaining_ms)
    .bind(held)
    .bind(id)
    .bind(RequestStatus::Open)
    .execute(&mut *connection)
    .await?
    .rows_affected();
    match updated {
        0 => Err(why_not_open(connection, id).await?),
        _ => Ok(()),
    }
}

async fn decide(connection: &mut SqliteConnection, row: &DecisionRow) -> Result<(), WriteError> {
    let updated = sqlx::query("UPDATE requests SET status = $1 WHERE id = $2 AND status = $3")
        .bind(row.outcome.status())
        .bind(row.request_id)
        .bind(RequestStatus::Open)
        .execute(&mut *connection)
        .await?
        .rows_affected();
    if updated == 0 {
        return Err(why_not_open(connection, row.request_id).await?);
    }
    sqlx::query(
        "INSERT INTO decisions (request_id, outcome, decided_by, client_id, client_label, \
             decision, message, at, delivery, delivered_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
    )
    .bind(row.request_id)
    .bind(row.outcome)
    .bind(row.decided_by)
    .bind(&row.client_id)
    .bind(&row.client_label)
    .bind(&row.decision)
    .bind(&row.message)
    .bind(row.at)
    .bind(row.delivery)
    .bind(row.delivered_at)
    .execute(connection)
    .await?;
    Ok(())
}

async fn set_delivery(
    connection: &mut SqliteConnection,
    request_id: RequestId,
    delivery: Delivery,
    at: Option<UnixMillis>,
) -> Result<(), WriteError> {
    let updated =
        sqlx::query("UPDATE decisions SET delivery = $1, delivered_at = $2 WHERE request_id = $3")
            .bind(delivery)
            .bind(at)
            .bind(request_id)
            .execute(connection)
            .await?
            .rows_affected();
    match updated {
        0 => Err(WriteError::UnknownRequest(request_id)),
        _ => Ok(()),
    }
}

async fn delete_session(
    connection: &mut SqliteConnection,
    id: SessionId,
) -> Result<(), WriteError> {
    let deleted = sqlx::query("DELETE FROM sessions WHERE id = $1")
        .bind(id)
        .execute(connection)
        .await?
        .rows_affected();
    match deleted {
        0 => Err(WriteError::UnknownSession(id)),
        _ => Ok(()),
    }
}

/// Sessions are all that entries and requests refer to.
pub(crate) fn needs_session(error: sqlx::Error, session_id: SessionId) -> WriteError {
    match Fault::of(&error) {
        Fault::ForeignKey => WriteError::UnknownSession(session_id),
        Fault::Unavailable(_) | Fault::Statement => error.into(),
    }
}

/// A request that is not open has its decision beside it, or does not exist.
async fn why_not_open(
    connection: &mut SqliteConnection,
    id: RequestId,
) -> Result<WriteError, sqlx::Error> {
    let decision: Option<DecisionRow> =
        sqlx::query_as("SELECT * FROM decisions WHERE request_id = $1")
            .bind(id)
            .fetch_optional(connection)
            .await?;
    Ok(match decision {
        Some(decision) => WriteError::AlreadyDecided(Box::new(decision)),
        None => WriteError::UnknownRequest(id),
    })
}
