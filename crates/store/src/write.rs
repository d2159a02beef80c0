//! The writes and what each does to the rows.

use rusqlite::{Connection, Params};
use serde::{Deserialize, Serialize};

use crate::audit::{self, AuditRecord, Tail};
use crate::channels::{self, ChannelRow};
use crate::devices::{self, DeviceRow};
use crate::error::{Fault, WriteError};
use crate::facts::{self, AgentFactsRow, TrustedFolderRow};
use crate::queue::{self, QueuedRow};
use crate::requests::{self, Decided};
use crate::rows::{
    ChannelId, DecisionRow, Delivery, DeviceId, EntryRow, MessageId, RequestId, RequestRow, RuleId,
    SessionId, SessionRow, UnixMillis,
};
use crate::rules::{self, RuleRow};
use crate::sessions;

/// One change. Several that must hold together go into one [`WriteJob`](crate::WriteJob). What never stands in the log
/// has no form there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Write {
    /// Adds the session or replaces all it says.
    PutSession(Box<SessionRow>),
    /// Refused if the number is taken.
    AppendEntry(EntryRow),
    /// The row has to be open; one that is decided by itself is followed by its `Decide`.
    OpenRequest(Box<RequestRow>),
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
        Write::PutSession(session) => sessions::put(connection, session),
        Write::AppendEntry(entry) => sessions::append(connection, entry),
        Write::OpenRequest(request) => requests::open(connection, request),
        Write::UpdateRequestClock {
            id,
            deadline,
            held_remaining_ms,
            held,
        } => requests::set_clock(connection, *id, *deadline, *held_remaining_ms, *held),
        Write::Decide(decision) => requests::end(connection, &Decided::new(decision)),
        Write::SetDelivery {
            request_id,
            delivery,
            at,
        } => requests::set_delivery(connection, *request_id, *delivery, *at),
        Write::DeleteSession(id) => sessions::delete(connection, *id),
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
    all_or_nothing(connection, tail, |tail| {
        writes
            .iter()
            .try_for_each(|write| apply(connection, tail, write))
    })
}

pub(crate) fn all_or_nothing(
    connection: &Connection,
    tail: &mut Tail,
    work: impl FnOnce(&mut Tail) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    let before = *tail;
    execute(connection, "SAVEPOINT job", [])?;
    let applied = work(tail);
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

/// Sessions are all that messages refer to.
pub(crate) fn needs_session(error: rusqlite::Error, session_id: SessionId) -> WriteError {
    match Fault::of_driver(&error) {
        Fault::ForeignKey => WriteError::UnknownSession(session_id),
        Fault::Unavailable(_) | Fault::Statement => error.into(),
    }
}

/// The statement is prepared once and kept. Gives how many rows it changed.
pub(crate) fn execute(
    connection: &Connection,
    statement: &str,
    values: impl Params,
) -> rusqlite::Result<usize> {
    connection.prepare_cached(statement)?.execute(values)
}
