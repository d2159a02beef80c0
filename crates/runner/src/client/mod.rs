//! The server's half: starting runners, finding them again, and talking to them.

mod connection;
mod find;
mod handle;
mod socket;
mod start;

pub use connection::{ConnectError, Connection, Event, Events, LostReason};
pub use find::{CleanUp, Found, RunnerState, clean_up, end, find, remove};
pub use handle::{Handle, SendError};
pub use start::{StartError, Started, start};
