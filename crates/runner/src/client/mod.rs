//! The server's half: starting runners, finding them again, and talking to them.

mod borrowing;
mod connection;
mod events;
mod find;
mod handle;
mod ids;
#[cfg(target_os = "linux")]
mod lines;
#[cfg(target_os = "linux")]
mod loan;
#[cfg(not(target_os = "linux"))]
#[path = "no_loan.rs"]
mod loan;
mod outbox;
mod socket;
mod start;

pub use connection::{ConnectError, Connection};
pub use events::{Event, Events, LostReason};
pub use find::{CleanUp, Found, RunnerState, clean_up, end, find, remove};
pub use handle::{Handle, SendError};
pub use start::{StartError, Started, start};
