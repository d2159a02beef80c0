//! Requests and how they ended.

use std::sync::LazyLock;

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::error::WriteError;
use crate::insert::Table;
use crate::rows::{DecisionRow, Delivery, RequestId, RequestRow, RequestStatus, UnixMillis};
use crate::write::{execute, needs_session};

static REQUESTS: LazyLock<Table> = LazyLock::new(|| {
    Table::new(
        "requests",
        &[
            "id",
            "session_id",
            "native_id",
            "kind",
            "tool_name",
            "tool_use_id",
            "agent_id",
            "agent_label",
            "input",
            "input_digest",
            "raw",
            "detail",
            "created_at",
            "deadline",
            "held_remaining_ms",
            "status",
            "held",
        ],
    )
});

static DECISIONS: LazyLock<Table> = LazyLock::new(|| {
    Table::new(
        "decisions",
        &[
            "request_id",
            "outcome",
            "decided_by",
            "client_id",
            "client_label",
            "decision",
            "message",
            "at",
            "delivery",
            "delivered_at",
        ],
    )
});

/// What stands for the agent's message where nobody will read it again.
const FORGOTTEN: &str = "{}";

/// A request as it is written: what was asked, and how it stands by now.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) row: &'a RequestRow,
    pub(crate) clock: Clock,
    pub(crate) status: RequestStatus,
    /// It is decided and its agent has the answer, or never will. Only for requests that are not over are `raw` and
    /// `detail` read again; what was shown is part of the history.
    pub(crate) is_over: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    pub(crate) deadline: Option<UnixMillis>,
    pub(crate) held_remaining_ms: Option<i64>,
    pub(crate) held: bool,
}

impl<'a> Asked<'a> {
    pub(crate) fn new(row: &'a RequestRow) -> Self {
        Self {
            row,
            clock: Clock {
                deadline: row.deadline,
                held_remaining_ms: row.held_remaining_ms,
                held: row.held,
            },
            status: row.status,
            is_over: false,
        }
    }
}

/// A decision as it is written, with what became of it by now.
#[derive(Debug)]
pub(crate) struct Decided<'a> {
    pub(crate) row: &'a DecisionRow,
    pub(crate) delivery: Delivery,
    pub(crate) delivered_at: Option<UnixMillis>,
}

impl<'a> Decided<'a> {
    pub(crate) fn new(row: &'a DecisionRow) -> Self {
        Self {
            row,
            delivery: row.delivery,
            delivered_at: row.delivered_at,
        }
    }
}

pub(crate) fn open(connection: &Connection, row: &RequestRow) -> Result<(), WriteError> {
    if row.status != RequestStatus::Open {
        return Err(WriteError::Constraint(format!(
            "request {} would begin as {:?}",
            row.id, row.status
        )));
    }
    insert(connection, &[Asked::new(row)]).map_err(|error| needs_session(error, row.session_id))
}

/// In their order, which is the order in which they are shown.
pub(crate) fn insert(connection: &Connection, requests: &[Asked<'_>]) -> rusqlite::Result<()> {
    REQUESTS.insert(connection, requests, |values, request| {
        let row = request.row;
        let (raw, detail) = match request.is_over {
            true => (FORGOTTEN, FORGOTTEN),
            false => (row.raw.as_str(), row.detail.as_str()),
        };
        values.id(row.id.0)?;
        values.id(row.session_id.0)?;
        values.put(&row.native_id)?;
        values.put(&row.kind)?;
        values.put(&row.tool_name)?;
        values.put(&row.tool_use_id)?;
        values.put(&row.agent_id)?;
        values.put(&row.agent_label)?;
        values.put(&row.input)?;
        values.put(&row.input_digest)?;
        values.put(raw)?;
        values.put(detail)?;
        values.put(row.created_at)?;
        values.put(request.clock.deadline)?;
        values.put(request.clock.held_remaining_ms)?;
        values.put(request.status)?;
        values.put(request.clock.held)
    })
}

pub(crate) fn set_clock(
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

pub(crate) fn decide(connection: &Connection, row: &DecisionRow) -> Result<(), WriteError> {
    end(connection, row)?;
    Ok(insert_decisions(connection, &[Decided::new(row)])?)
}

/// The request's own half of a decision.
pub(crate) fn end(connection: &Connection, row: &DecisionRow) -> Result<(), WriteError> {
    let updated = execute(
        connection,
        "UPDATE requests SET status = ?1 WHERE id = ?2 AND status = ?3",
        params![row.outcome.status(), row.request_id, RequestStatus::Open],
    )?;
    match updated {
        0 => Err(why_not_open(connection, row.request_id)?),
        _ => Ok(()),
    }
}

pub(crate) fn insert_decisions(
    connection: &Connection,
    decisions: &[Decided<'_>],
) -> rusqlite::Result<()> {
    DECISIONS.insert(connection, decisions, |values, decided| {
        let row = decided.row;
        values.id(row.request_id.0)?;
        values.put(row.outcome)?;
        values.put(row.decided_by)?;
        values.put(&row.client_id)?;
        values.put(&row.client_label)?;
        values.put(&row.decision)?;
        values.put(&row.message)?;
        values.put(row.at)?;
        values.put(decided.delivery)?;
        values.put(decided.delivered_at)
    })
}

pub(crate) fn set_delivery(
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
