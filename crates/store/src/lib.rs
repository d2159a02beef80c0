//! What Sayso remembers: sessions, their transcripts, the requests of agents and the decisions
//! about them.
//!
//! Reading and writing are apart. Any task may read through [`Store`]; every write goes through the
//! one [`Writer`], which commits queued jobs in groups and reports each of them back, so that the
//! caller can hold the agent's answer until its record is safe.
//!
//! This crate knows rows only. What a state means, who may decide and what is shown is known
//! elsewhere.

mod as_text;
pub mod audit;
mod backup;
mod channels;
mod columns;
mod connection;
mod devices;
mod durability;
mod error;
mod facts;
mod gather;
mod group;
mod ids;
mod inputs;
mod insert;
mod inspect;
mod job;
mod lock;
mod log;
mod merge;
mod open;
mod place;
mod queue;
mod read;
mod recover;
mod requests;
mod rows;
mod rules;
mod sessions;
mod sha256;
mod text;
mod unfinished;
mod words;
mod write;
mod writer;

#[cfg(test)]
mod tests;

pub use audit::{
    AuditActor, AuditCursor, AuditFilter, AuditKind, AuditRecord, AuditRow, shown_text,
};
pub use backup::{BackupError, Existing, backup};
pub use channels::ChannelRow;
pub use devices::DeviceRow;
pub use error::{OpenError, ReadError, UnavailableReason, WriteError};
pub use facts::{AgentFactsRow, TrustedFolderRow};
pub use job::WriteJob;
pub use log::{Backlog, LoggedWriter, StartError};
pub use open::{Durability, Store};
pub use queue::QueuedRow;
pub use read::{DecidedRequest, PageStart, RequestFilter, RequestSummary, RequestWithDecision};
pub use rows::{
    ChannelId, DecidedBy, DecisionCursor, DecisionRow, Delivery, DeviceId, EntryRow, MessageId,
    Outcome, RequestId, RequestRow, RequestStatus, RuleId, SessionId, SessionRow, UnixMillis,
};
pub use rules::RuleRow;
pub use text::Text;
pub use write::Write;
pub use writer::{Completion, SubmitError, Writer};
