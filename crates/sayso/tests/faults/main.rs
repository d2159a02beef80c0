//! Faults of the machine and of Sayso itself, in real processes. Each fails closed: nothing runs that is not
//! allowed and on record, what is open stays open, and all goes on when the fault is over.
//!
//! What is tested elsewhere: a stopped agent (`sessions.rs`), half a line and then the end (`requests.rs`), a full
//! disk and a database that cannot be written at the level of the store (`crates/store/src/tests/faults.rs`),
//! descriptors, sockets and full pipes of runners (`crates/runner/tests`).

mod agents;
mod clock;
mod deaf;
mod disk;
mod full;
mod late;
mod panics;
mod server;
mod world;

#[path = "../puppet/mod.rs"]
mod puppet;
#[path = "../support/mod.rs"]
mod support;
