//! Sessions and their transcripts.

use std::collections::hash_map::Entry;
use std::sync::LazyLock;

use rusqlite::{Connection, OptionalExtension, params};

use crate::error::WriteError;
use crate::ids::ById;
use crate::inputs::Inputs;
use crate::insert::Table;
use crate::rows::{EntryRow, SessionId, SessionRow};
use crate::write::execute;

static ENTRIES: LazyLock<Table> =
    LazyLock::new(|| Table::new("entries", &["session", "seq", "at", "body", "line", "part"]));

/// By which rows refer to their sessions. Each session is looked for once.
#[derive(Debug)]
pub(crate) struct Numbers<'a> {
    connection: &'a Connection,
    known: ById<SessionId, i64>,
}

impl<'a> Numbers<'a> {
    pub(crate) fn new(connection: &'a Connection) -> Self {
        let known = ById::default();
        Self { connection, known }
    }

    pub(crate) fn of(&mut self, id: SessionId) -> Result<i64, WriteError> {
        let unknown = match self.known.entry(id) {
            Entry::Occupied(known) => return Ok(*known.get()),
            Entry::Vacant(unknown) => unknown,
        };
        let number = self
            .connection
            .prepare_cached("SELECT number FROM sessions WHERE id = ?1")?
            .query_row([id], |row| row.get(0))
            .optional()?;
        match number {
            Some(number) => Ok(*unknown.insert(number)),
            None => Err(WriteError::UnknownSession(id)),
        }
    }
}

pub(crate) fn put(connection: &Connection, row: &SessionRow) -> Result<(), WriteError> {
    execute(
        connection,
        "INSERT INTO sessions (id, title, cwd, agent, agent_session_id, state, permission_mode, \
             model, created_at, state_changed_at, ended_reason, error, usage, policies, archived_at, \
             title_fixed, restricted, context, alert, run_after, counted_line, \
             transcript_bytes, number) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, \
             ?17, ?18, ?19, ?20, ?21, ?22, (SELECT COALESCE(MAX(number), 0) + 1 FROM sessions)) \
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

pub(crate) fn append(connection: &Connection, row: &EntryRow) -> Result<(), WriteError> {
    // Which input it may hold is only known together with its request.
    let (mut numbers, mut inputs) = (Numbers::new(connection), Inputs::new(connection));
    append_all(connection, &mut numbers, &mut inputs, &[row])
}

/// In their order.
pub(crate) fn append_all(
    connection: &Connection,
    numbers: &mut Numbers<'_>,
    inputs: &mut Inputs<'_>,
    rows: &[&EntryRow],
) -> Result<(), WriteError> {
    ENTRIES.insert(connection, rows, |values, row| {
        values.put(numbers.of(row.session_id)?)?;
        values.put(row.seq)?;
        values.put(row.at)?;
        values.put(inputs.entry(row))?;
        values.put(row.line)?;
        Ok(values.put(row.part)?)
    })
}

pub(crate) fn delete(connection: &Connection, id: SessionId) -> Result<(), WriteError> {
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
