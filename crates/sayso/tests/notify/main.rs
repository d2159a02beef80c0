//! Notifications against servers on loopback that check what they are sent.

#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a failure fails the test"
)]

#[path = "../support/mod.rs"]
mod support;

mod browser;
mod buttons;
mod channels;
mod push;
mod receiver;
mod world;
