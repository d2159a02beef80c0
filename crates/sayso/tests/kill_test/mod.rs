#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a failure in a helper fails the test, and figures are worth reading"
)]

pub(crate) mod agent;
pub(crate) mod ledger;
pub(crate) mod world;
