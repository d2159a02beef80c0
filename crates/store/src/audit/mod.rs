//! The history: every decision and what became of it.
//!
//! Entries are appended in the transaction of what they record ([`Write::AppendAudit`]
//! (crate::Write::AppendAudit)) and never changed. Each holds the hash of itself and of the one
//! before (`chain`). How the history ends is signed every now and then, beside the way of the
//! decisions, into a file that is not part of the database (`signer`, `checkpoint`). So an edit, a
//! removal and a lost end are found (`verify`) by whoever has the key.
//!
//! What nobody can find: changes to the few entries behind the newest checkpoint by somebody who
//! makes all later hashes anew, an older copy of the whole data folder put in its place, and
//! anything at all by somebody who has the key.

mod append;
mod chain;
mod check;
mod checkpoint;
mod checkpoint_file;
mod finding;
mod hex;
mod key;
mod read;
mod record;
mod retention;
mod signer;
mod verify;

pub use chain::{Hash, HistoryId};
pub use check::{AuditReader, CheckError};
pub use checkpoint::{Checkpoint, CheckpointKind, Start};
pub use checkpoint_file::CHECKPOINT_FILE;
pub use finding::Finding;
pub use key::{AuditKey, KEY_FILE, KeyError, Trust};
pub use read::{AuditCursor, AuditFilter};
pub use record::{AuditActor, AuditKind, AuditRecord, AuditRow, shown_text};
pub use retention::{Cut, RetentionError};
pub use verify::{Beginning, Verified};

pub(crate) use append::{Tail, append, append_all, head_of, known_ordinal, remember_signed};
pub(crate) use chain::Head;
pub(crate) use signer::{Signer, run as sign_heads};

#[cfg(test)]
pub(crate) use checkpoint::LastLine;
#[cfg(test)]
pub(crate) use checkpoint_file::CheckpointFile;
#[cfg(test)]
pub(crate) use verify::Verifier;
