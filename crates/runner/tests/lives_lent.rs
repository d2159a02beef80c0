//! The same lives with pipes that are lent, in a process of their own, too.

#![cfg(target_os = "linux")]

#[path = "lives.rs"]
mod lives;
