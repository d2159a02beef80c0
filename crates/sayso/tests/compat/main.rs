//! Front ends of other backends, each in its own dialect, against a real server with the demo agent.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a failure fails the test"
)]

mod agent_chat;
mod front_end;
mod gobby;
mod scripts;
mod tofucode;
mod together;
mod twicc;
mod ui_chatter;

#[path = "../support/mod.rs"]
mod support;
