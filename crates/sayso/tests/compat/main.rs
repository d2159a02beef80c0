//! Front ends of other backends, each in its own dialect, against a real server with the demo agent.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a failure fails the test"
)]

mod front_end;
mod scripts;
mod twicc;

#[path = "../support/mod.rs"]
mod support;
