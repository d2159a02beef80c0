#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failure in a helper fails the test"
)]

pub(crate) mod agent;
pub(crate) mod ledger;
pub(crate) mod world;
