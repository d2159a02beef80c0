//! A detached process that owns one agent's stdio and outlives the server.

mod client;
mod ending;
mod folder;
mod journal;
mod process;
mod readiness;
mod run;
mod spec;
mod wire;

pub use client::{
    CleanUp, ConnectError, Connection, Event, Events, Found, Handle, LostReason, RunnerState,
    SendError, StartError, Started, clean_up, find, remove, start,
};
pub use ending::{EndReason, Exited};
pub use folder::{ProcessIdentity, Record};
pub use journal::{JournalError, JournalLine, JournalReader, read_journal};
pub use readiness::FailureKind;
pub use run::{RunError, SocketPathError, run};
pub use spec::{LaunchSpec, Limits};
pub use wire::frame::FrameError;
pub use wire::{AgentSignal, PROTOCOL_VERSION, Welcome, WriteFailure};
