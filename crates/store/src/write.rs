//! The writes and what each does to the rows.

use rusqlite::{Connection, OptionalExtension, Params, Row, params};
use serde::{Deserialize, Serialize};

use crate::audit::{self, AuditRecord, Tail};
use crate::channels::{self, ChannelRow};
use crate::devices::{self, DeviceRow};
use crate::error::{Fault, WriteError};
use crate::facts::{self, AgentFactsRow, TrustedFolderRow};
use crate::queue::{self, QueuedRow};
use crate::rows::{
    ChannelId, DecisionRow, Delivery, DeviceId, EntryRow, MessageId, RequestId, RequestRow,
    RequestStatus, RuleId, SessionId, SessionRow, UnixMillis,
};
use crate::rules::{self, RuleRow};

/// One change. Several that must hold together go into one [`WriteJob`](crate::WriteJob). What never stands in the log
/// has no form there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    #[serde(skip)]
    DeleteSession(SessionId),
    /// Adds a message that waits, or replaces what it says.
    #[serde(skip)]
    PutQueued(QueuedRow),
    #[serde(skip)]
    RemoveQueued(MessageId),
    #[serde(skip)]
    TrustFolder(TrustedFolderRow),
    #[serde(skip)]
    PutAgentFacts(AgentFactsRow),
    /// Adds the rule or replaces what it says.
    #[serde(skip)]
    PutRule(RuleRow),
    /// Counts one use of a rule that is there. It can come late, after other changes of the rule.
    UseRule { id: RuleId, at: UnixMillis },
    #[serde(skip)]
    RemoveRule(RuleId),
    /// Adds the device or replaces what may change.
    #[serde(skip)]
    PutDevice(DeviceRow),
    #[serde(skip)]
    DeviceSeen {
        id: DeviceId,
        at: UnixMillis,
        expires_at: Option<UnixMillis>,
    },
    #[serde(skip)]
    RemoveDevice(DeviceId),
    /// Adds the channel or replaces what may change.
    #[serde(skip)]
    PutChannel(ChannelRow),
    /// What became of the last try, as JSON.
    #[serde(skip)]
    SetChannelResult { id: ChannelId, result: String },
    #[serde(skip)]
    RemoveChannel(ChannelId),
    /// The hash of the password, or none.
    #[serde(skip)]
    SetPassword(Option<String>),
    /// Goes into the job of what it records, so that neither is there without the other.
    AppendAudit(AuditRecord),
}

pub(crate) fn apply(
    connection: &Connection,
    tail: &mut Tail,
    write: &Write,
) -> Result<(), WriteError> {
    match write {
        Write::PutSession(session) => put_session(connection, session),
        Write::AppendEntry(entry) => append_entry(connection, entry),
        Write::OpenRequest(request) => open_request(connection, request),
        Write::UpdateRequestClock {
            id,
            deadline,
            held_remaining_ms,
            held,
        } => update_clock(connection, *id, *deadline, *held_remaining_ms, *held),
        Write::Decide(decision) => decide(connection, decision),
        Write::SetDelivery {
            request_id,
            delivery,
            at,
        } => set_delivery(connection, *request_id, *delivery, *at),
        Write::DeleteSession(id) => delete_session(connection, *id),
        Write::PutQueued(row) => queue::put(connection, row),
        Write::RemoveQueued(id) => queue::remove(connection, *id),
        Write::TrustFolder(row) => facts::trust_folder(connection, row),
        Write::PutAgentFacts(row) => facts::put_agent_facts(connection, row),
        Write::PutRule(row) => rules::put(connection, row),
        Write::UseRule { id, at } => rules::count_use(connection, *id, *at),
        Write::RemoveRule(id) => rules::remove(connection, *id),
        Write::PutDevice(row) => devices::put(connection, row),
        Write::DeviceSeen { id, at, expires_at } => {
            devices::seen(connection, *id, *at, *expires_at)
        }
        Write::RemoveDevice(id) => devices::remove(connection, *id),
        Write::PutChannel(row) => channels::put(connection, row),
        Write::SetChannelResult { id, result } => channels::set_result(connection, *id, result),
        Write::RemoveChannel(id) => channels::remove(connection, *id),
        Write::SetPassword(hash) => devices::set_password(connection, hash.as_deref()),
        Write::AppendAudit(record) => audit::append(connection, tail, record),
    }
}

/// All of a job or nothing of it, within a transaction of many.
pub(crate) fn apply_whole(
    connection: &Connection,
    tail: &mut Tail,
    writes: &[Write],
) -> Result<(), WriteError> {
    let before = *tail;
    execute(connection, "SAVEPOINT job", [])?;
    let applied = writes
        .iter()
        .try_for_each(|write| apply(connection, tail, write));
    if applied.is_err() {
        *tail = before;
        execute(connection, "ROLLBACK TO job", [])?;
    }
    execute(connection, "RELEASE job", [])?;
    applied
}

/// A job that is in the log and contradicts the rows, as one about a session that was deleted meanwhile. What it tells
/// the history is kept all the same.
pub(crate) fn salvage(
    connection: &Connection,
    tail: &mut Tail,
    writes: &[Write],
    error: &WriteError,
) -> Result<(), WriteError> {
    tracing::error!(%error, "a job in the log contradicts what is stored");
    writes
        .iter()
        .filter(|write| matches!(write, Write::AppendAudit(_)))
        .try_for_each(|write| apply(connection, tail, write))
}

fn put_session(connection: &Connection, row: &SessionRow) -> Result<(), WriteError> {
    execute(
        connection,
        "INSERT INTO sessions (id, title, cwd, agent, agent_session_id, state, permission_mode, \
             model, created_at, state_changed_at, ended_reason, error, usage, policies, archived_at, \
             title_fixed, restricted, context, alert, run_after, counted_line, \
             transcript_bytes) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, \
             ?17, ?18, ?19, ?20, ?21, ?22) \
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
        params![
            row.id,
            &row.title,
            &row.cwd,
            &row.agent,
            &row.agent_session_id,
            &row.state,
            &row.permission_mode,
            &row.model,
            row.created_at,
            row.state_changed_at,
            &row.ended_reason,
            &row.error,
            &row.usage,
            &row.policies,
            row.archived_at,
            row.title_fixed,
            row.restricted,
            &row.context,
            &row.alert,
            row.run_after,
            row.counted_line,
            row.transcript_bytes
        ],
    )?;
    Ok(())
}

fn append_entry(connection: &Connection, row: &EntryRow) -> Result<(), WriteError> {
    execute(
        connection,
        "INSERT INTO entries (session_id, seq, at, body, line, part) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            row.session_id,
            row.seq,
            row.at,
            &row.body,
            row.line,
            row.part
        ],
    )
    .map_err(|error| needs_session(error, row.session_id))?;
    Ok(())
}

fn open_request(connection: &Connection, row: &RequestRow) -> Result<(), WriteError> {
    if row.status != RequestStatus::Open {
        return Err(WriteError::Constraint(format!(
            "request {} would begin as {:?}",
            row.id, row.status
        )));
    }
    execute(
        connection,
        "INSERT INTO requests (id, session_id, native_id, kind, tool_name, tool_use_id, agent_id, \
             agent_label, input, input_digest, raw, detail, created_at, deadline, \
             held_remaining_ms, status, held) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
        params![
            row.id,
            row.session_id,
            &row.native_id,
            &row.kind,
            &row.tool_name,
            &row.tool_use_id,
            &row.agent_id,
            &row.agent_label,
            &row.input,
            &row.input_digest,
            &row.raw,
            &row.detail,
            row.created_at,
            row.deadline,
            row.held_remaining_ms,
            row.status,
            row.held
        ],
    )
    .map_err(|error| needs_session(error, row.session_id))?;
    Ok(())
}

fn update_clock(
    connection: &Connection,
    id: RequestId,
    deadline: Option<UnixMillis>,
    held_remaining_ms: Option<i64>,
    held: bool,
) -> Result<(), WriteError> {
    let updated = execute(
        connection,
        "UPDATE requests SET deadline = ?1, held_remaining_ms = ?2, held = ?3 \
         WHERE id = ?4 AND status = ?5",
        params![deadline, held_remaining_ms, held, id, RequestStatus::Open],
    )?;
    match updated {
        0 => Err(why_not_open(connection, id)?),
        _ => Ok(()),
    }
}

fn decide(connection: &Connection, row: &DecisionRow) -> Result<(), WriteError> {
    let updated = execute(
        connection,
        "UPDATE requests SET status = ?1 WHERE id = ?2 AND status = ?3",
        params![row.outcome.status(), row.request_id, RequestStatus::Open],
    )?;
    if updated == 0 {
        return Err(why_not_open(connection, row.request_id)?);
    }
    execute(
        connection,
        "INSERT INTO decisions (request_id, outcome, decided_by, client_id, client_label, \
             decision, message, at, delivery, delivered_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        params![
            row.request_id,
            row.outcome,
            row.decided_by,
            &row.client_id,
            &row.client_label,
            &row.decision,
            &row.message,
            row.at,
            row.delivery,
            row.delivered_at
        ],
    )?;
    Ok(())
}

fn set_delivery(
    connection: &Connection,
    request_id: RequestId,
    delivery: Delivery,
    at: Option<UnixMillis>,
) -> Result<(), WriteError> {
    let updated = execute(
        connection,
        "UPDATE decisions SET delivery = ?1, delivered_at = ?2 WHERE request_id = ?3",
        params![delivery, at, request_id],
    )?;
    match updated {
        0 => Err(WriteError::UnknownRequest(request_id)),
        _ => Ok(()),
    }
}

fn delete_session(connection: &Connection, id: SessionId) -> Result<(), WriteError> {
    let deleted = execute(
        connection,
        "DELETE FROM sessions WHERE id = ?1",
        params![id],
    )?;
    match deleted {
        0 => Err(WriteError::UnknownSession(id)),
        _ => Ok(()),
    }
}

/// Sessions are all that entries and requests refer to.
pub(crate) fn needs_session(error: rusqlite::Error, session_id: SessionId) -> WriteError {
    match Fault::of_driver(&error) {
        Fault::ForeignKey => WriteError::UnknownSession(session_id),
        Fault::Unavailable(_) | Fault::Statement => error.into(),
    }
}

/// A request that is not open has its decision beside it, or does not exist.
fn why_not_open(connection: &Connection, id: RequestId) -> rusqlite::Result<WriteError> {
    let decision = connection
        .prepare_cached(
            "SELECT outcome, decided_by, client_id, client_label, decision, message, at, delivery, \
                 delivered_at \
             FROM decisions WHERE request_id = ?1",
        )?
        .query_row([id], |row| decision_of(id, row))
        .optional()?;
    Ok(match decision {
        Some(decision) => WriteError::AlreadyDecided(Box::new(decision)),
        None => WriteError::UnknownRequest(id),
    })
}

fn decision_of(request_id: RequestId, row: &Row<'_>) -> rusqlite::Result<DecisionRow> {
    Ok(DecisionRow {
        request_id,
        outcome: row.get(0)?,
        decided_by: row.get(1)?,
        client_id: row.get(2)?,
        client_label: row.get(3)?,
        decision: row.get(4)?,
        message: row.get(5)?,
        at: row.get(6)?,
        delivery: row.get(7)?,
        delivered_at: row.get(8)?,
    })
}

/// The statement is prepared once and kept. Gives how many rows it changed.
pub(crate) fn execute(
    connection: &Connection,
    statement: &str,
    values: impl Params,
) -> rusqlite::Result<usize> {
    connection.prepare_cached(statement)?.execute(values)
}
