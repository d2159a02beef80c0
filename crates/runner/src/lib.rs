//! A detached process that owns one agent's stdio and outlives the server.

pub mod ending;
mod folder;
mod journal;
pub mod spec;
mod wire;
