//! Front ends of other backends, each in its own dialect, against a real server with the demo agent.

mod front_end;
mod scripts;
mod twicc;

#[path = "../support/mod.rs"]
mod support;
