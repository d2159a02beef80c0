//! Requests and how they ended.

use std::sync::LazyLock;

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::error::WriteError;
use crate::inputs::{Inputs, Stored};
use crate::insert::{Table, Values};
use crate::rows::{DecisionRow, Delivery, RequestId, RequestRow, RequestStatus, UnixMillis};
use crate::sessions::Numbers;
use crate::write::execute;

static REQUESTS: LazyLock<Table> = LazyLock::new(|| {
    Table::new(
        "requests",
        &[
            "id",
            "session",
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
            "held",
            "status",
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
    pub(crate) decided: Option<Decided<'a>>,
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
            decided: None,
        }
    }

    /// It is decided and its agent has the answer, or never will. Only for requests that are not over are `raw` and
    /// `detail` read again; what was shown is part of the history.
    fn is_over(&self) -> bool {
        let decided = self.decided.as_ref();
        decided.is_some_and(|decided| decided.delivery != Delivery::Pending)
    }

    fn status(&self) -> RequestStatus {
        let decided = self.decided.as_ref();
        decided.map_or(self.row.status, |decided| decided.row.outcome.status())
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
    let (mut numbers, mut inputs) = (Numbers::new(connection), Inputs::new(connection));
    inputs.ask(row);
    insert(connection, &mut numbers, &mut inputs, &[Asked::new(row)])?;
    Ok(inputs.keep()?)
}

/// In their order, which is the order in which they are shown.
pub(crate) fn insert<'a>(
    connection: &Connection,
    numbers: &mut Numbers<'_>,
    inputs: &mut Inputs<'a>,
    requests: &[Asked<'a>],
) -> Result<(), WriteError> {
    REQUESTS.insert(connection, requests, |values, request| {
        let row = request.row;
        let (raw, detail) = match request.is_over() {
            true => (Stored::Whole(FORGOTTEN), FORGOTTEN),
            false => (inputs.raw(row), &*row.detail),
        };
        values.id(row.id.0)?;
        values.put(numbers.of(row.session_id)?)?;
        values.put(&row.native_id)?;
        values.put(&row.kind)?;
        values.put(&row.tool_name)?;
        values.put(&row.tool_use_id)?;
        values.put(&row.agent_id)?;
        values.put(&row.agent_label)?;
        values.put(inputs.input(row))?;
        values.put(&row.input_digest)?;
        values.put(raw)?;
        values.put(detail)?;
        values.put(row.created_at)?;
        values.put(request.clock.deadline)?;
        values.put(request.clock.held_remaining_ms)?;
        values.put(request.clock.held)?;
        values.put(request.status())?;
        Ok(put_decision(values, request.decided.as_ref())?)
    })
}

fn put_decision(
    values: &mut Values<'_, '_>,
    decided: Option<&Decided<'_>>,
) -> rusqlite::Result<()> {
    let row = decided.map(|decided| decided.row);
    values.put(row.map(|row| row.outcome))?;
    values.put(row.map(|row| row.decided_by))?;
    values.put(row.and_then(|row| row.client_id.as_ref()))?;
    values.put(row.and_then(|row| row.client_label.as_ref()))?;
    values.put(row.map(|row| &row.decision))?;
    values.put(row.and_then(|row| row.message.as_ref()))?;
    values.put(row.map(|row| row.at))?;
    values.put(decided.map(|decided| decided.delivery))?;
    values.put(decided.and_then(|decided| decided.delivered_at))
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
         WHERE id = ?4 AND status = 'open'",
        params![deadline, held_remaining_ms, held, key(&id)],
    )?;
    match updated {
        0 => Err(why_not_open(connection, id)?),
        _ => Ok(()),
    }
}

/// Ends a request that is open.
pub(crate) fn end(connection: &Connection, decided: &Decided<'_>) -> Result<(), WriteError> {
    let row = decided.row;
    let updated = execute(
        connection,
        "UPDATE requests SET status = ?1, outcome = ?2, decided_by = ?3, client_id = ?4, \
             client_label = ?5, decision = ?6, message = ?7, at = ?8, delivery = ?9, \
             delivered_at = ?10, raw = iif(?9 = 'pending', raw, '{}'), \
             detail = iif(?9 = 'pending', detail, '{}') \
         WHERE id = ?11 AND status = 'open'",
        params![
            row.outcome.status(),
            row.outcome,
            row.decided_by,
            &row.client_id,
            &row.client_label,
            &row.decision,
            &row.message,
            row.at,
            decided.delivery,
            decided.delivered_at,
            key(&row.request_id),
        ],
    )?;
    match updated {
        0 => Err(why_not_open(connection, row.request_id)?),
        _ => Ok(()),
    }
}

pub(crate) fn set_delivery(
    connection: &Connection,
    request_id: RequestId,
    delivery: Delivery,
    at: Option<UnixMillis>,
) -> Result<(), WriteError> {
    let updated = execute(
        connection,
        "UPDATE requests SET delivery = ?1, delivered_at = ?2, \
             raw = iif(?1 = 'pending', raw, '{}'), detail = iif(?1 = 'pending', detail, '{}') \
         WHERE id = ?3 AND outcome IS NOT NULL",
        params![delivery, at, key(&request_id)],
    )?;
    match updated {
        0 => Err(WriteError::UnknownRequest(request_id)),
        _ => Ok(()),
    }
}

/// As it stands in the rows.
pub(crate) fn key(id: &RequestId) -> &[u8] {
    id.0.as_bytes()
}

/// A request that is not open has its decision beside it, or does not exist.
fn why_not_open(connection: &Connection, id: RequestId) -> rusqlite::Result<WriteError> {
    let decision = connection
        .prepare_cached(
            "SELECT outcome, decided_by, client_id, client_label, decision, message, at, delivery, \
                 delivered_at \
             FROM requests WHERE id = ?1 AND outcome IS NOT NULL",
        )?
        .query_row([key(&id)], |row| decision_of(id, row))
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
