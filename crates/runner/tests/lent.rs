//! The tests of lines, endings and quiet once more, with a client that borrows the agent's pipes.

#![cfg(target_os = "linux")]
#![allow(
    clippy::duplicate_mod,
    reason = "each of them has its own helpers, as it has alone"
)]

#[path = "endings.rs"]
mod endings;
#[path = "quiet.rs"]
mod quiet;
#[path = "surroundings.rs"]
mod surroundings;
#[path = "talking.rs"]
mod talking;
