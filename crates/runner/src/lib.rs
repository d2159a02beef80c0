//! A detached process that owns one agent's stdio and outlives the server.
//!
//! ```text
//!  server                     runner (one for each session)                 agent
//! ┌─────────────┐  socket   ┌──────────────────────────────────┐  pipes   ┌───────┐
//! │ Connection  │◀─ lines ──│ journal ◀── lines ◀── stdout      │◀─────────│       │
//! │   Handle    │── write ─▶│ each id once ──▶ stdin            │─────────▶│       │
//! └─────────────┘           └──────────────────────────────────┘          └───────┘
//! ```
//!
//! On Linux a client may [borrow](Handle::borrow) the pipes: then nobody is between it and the agent, and the runner
//! sleeps until it gets them back, or the client is gone:
//!
//! ```text
//!  server                                                                   agent
//! ┌─────────────┐                    splice, into a file that the          ┌───────┐
//! │ Connection  │◀─ lines ────────── runner has, too ◀── stdout ───────────│       │
//! │   Handle    │── write ─────────▶ each id once, noted there ──▶ stdin ──▶       │
//! └─────────────┘                                                          └───────┘
//! ```
//!
//! The crate has two halves. [`run`] is the whole life of a runner's process, behind a hidden subcommand of the
//! server's own binary. [`start`], [`find`], [`Connection`], [`clean_up`] and [`read_journal`] are what a server
//! does with runners. A runner knows lines and nothing of what they mean, so it fits every agent that speaks over
//! stdio. This crate must not depend on axum, sqlx, the broker or an agent's protocol.
//!
//! # What is promised
//!
//! - **No line is lost, doubled or out of order.** The agent's output is numbered from 1 and written to a journal
//!   before anybody is told. It stays there until it is [acknowledged](Handle::acknowledge). Whoever connects says
//!   what it has stored and gets the rest, then what comes. This holds however client or runner end, as long as
//!   the machine does not: nothing is synced to the disk. What a client has read from borrowed pipes is not in the
//!   journal: it is in memory that client and runner share, and in the journal as soon as the client gives the pipes
//!   back or is gone. So it outlives either of them, and what was not acknowledged is lost when both are killed
//!   at once.
//! - **A line is written to the agent once for its id**, over however many connections it is sent. A repeated id
//!   is answered like the first time. The one exception is named: what was refused as
//!   [overloaded](WriteFailure::Overloaded) was not taken and may come again. The last 16,384 ids are remembered,
//!   which is more than can be unconfirmed at once. A client with borrowed pipes leaves to the runner what an earlier
//!   connection may have sent, and what was among the last 1,024 of its own.
//! - **Everything is bounded** ([`Limits`]). A full journal makes the agent wait; a client is read from the journal
//!   at its own pace; an agent that does not read is [told of](Event::InputWaits), and then refused more. One whose
//!   pipes are lent waits as soon as its client does not read and the pipe is full.
//! - **The newest client wins.** There is one at a time, and whoever had claimed the runner is
//!   [told](LostReason::Replaced). It has two seconds to give back what it borrowed; then that is taken from it, in a
//!   way in which it can do no harm when it goes on later.
//! - **No orphan and no zombie.** An agent is the leader of its own process group, and the group ends with it. A
//!   runner that nobody claims stops its agent in order (close its input, wait, ask, wait, kill); so does one that
//!   is asked to end with SIGTERM, whose agent closes its output, or whose folder is removed. What a runner that
//!   was killed leaves behind is found by [`clean_up`]. An agent that did not end in order could not see to what
//!   it started in other groups or sessions; that is known by a [mark](Mark) in its environment and killed. What
//!   an agent that ended in order left running elsewhere is left alone.
//! - **Nothing secret is in an argument list or on disk**, except what the agent itself writes to its output. The
//!   folder is closed to others (0700), and so is all in it (0600).
//!
//! # A life
//!
//! [`start`] makes the folder and spawns the runner, which reads its [`LaunchSpec`] from standard input, starts
//! the agent, listens, and says one line: ready, or what is wrong. From then on it needs nobody. A server that
//! comes back [finds](find) it by its folder and [connects](Connection::connect).
//!
//! When the agent has ended, its end is told after its last line, to every client that connects, until one says
//! [forget](Handle::forget); then the runner deletes its folder and goes. When nobody comes for
//! [a while](Limits::linger) it goes and leaves its files, which [`read_journal`] reads and [`remove`] deletes.
//!
//! So a server that starts does this with each runner that it finds:
//!
//! ```text
//! Alive ──▶ connect after the last stored line; Unreachable ──▶ look again (it makes a lost socket anew)
//!           still not to be reached ──▶ end, and then as if it had been dead
//! Dead  ──▶ clean_up, read_journal after the last stored line, store, remove
//! ```
//!
//! # What it costs and what it needs
//!
//! One thread without a runtime, less than a hundred kilobytes of heap and stack while it is idle, and no wake-up
//! while a client is connected and nothing happens. What else is resident belongs to the program, and most of it to
//! all runners together. On the way of a line there is one wait, one read, one write to a file and one to a socket,
//! of the same bytes; on the way of a line for the agent one wait, one read, one write to it and one that says so.
//! While its pipes are lent, a runner does nothing at all. On the way of a line its client then has one wait and two
//! system calls, and on the way of a line for the agent four.
//!
//! A service manager that ends all processes of a service with it (systemd's default `KillMode`) ends
//! runners, too, unless it is told otherwise.

mod client;
mod ending;
mod folder;
mod journal;
mod loan;
mod mark;
mod process;
mod readiness;
mod run;
mod spec;
mod wire;

pub use client::{
    CleanUp, ConnectError, Connection, Event, Events, Found, Handle, LostReason, RunnerState,
    SendError, StartError, Started, clean_up, end, find, remove, start,
};
pub use ending::{EndReason, Exited};
pub use folder::{ProcessIdentity, Record};
pub use journal::{JournalError, JournalLine, JournalReader, read_journal};
pub use mark::Mark;
pub use readiness::FailureKind;
pub use run::{RunError, SocketPathError, run};
pub use spec::{LaunchSpec, Limits};
pub use wire::frame::FrameError;
pub use wire::{AgentSignal, PROTOCOL_VERSION, Welcome, WriteFailure};
