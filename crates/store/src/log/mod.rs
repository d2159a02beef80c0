//! The log in front of the database.
//!
//! A job that an agent waits for counts when it stands here: one write to a file instead of a transaction over a dozen
//! pages. The database follows in large groups (`follow`), and says in the same transaction how far it has come. Two
//! files take turns, so that one can be filled while the other is still being followed; a file begins again from its
//! start when all in it is in the database. What a killed server left in them is written to the database when it is
//! opened next (`replay`).

mod file;
mod following;
mod logged;
mod open_requests;
mod record;
mod replay;
mod room;
mod sync;

pub(crate) use file::Log;
pub use following::Backlog;
pub(crate) use following::Following;
pub use logged::{LoggedWriter, StartError};
pub(crate) use replay::{catch_up, set_applied, take_over};

/// Names of the two files, behind that of the database.
pub(crate) const SUFFIXES: [&str; 2] = ["-log-a", "-log-b"];
