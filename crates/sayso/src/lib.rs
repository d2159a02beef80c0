//! The Sayso server as a library; `main.rs` only parses, binds and runs.

pub mod access;
pub mod agents;
pub mod audit;
pub mod cli;
mod colours;
pub mod compat;
pub mod config;
pub mod doctor;
mod faults;
pub mod folders;
pub mod greeting;
pub mod hub;
pub mod listen;
pub mod logging;
pub mod mask;
pub mod notify;
pub mod private;
pub mod remote;
pub mod rules;
pub mod server;
pub mod service;
pub mod terminal;
pub mod web;
