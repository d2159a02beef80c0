//! Reading shell commands.
//!
//! Two readers that know nothing of each other: the grammar (`parse`, then
//! `strict`), on which everything that may be allowed rests, and a forgiving
//! one (`reader`), which finds commands to deny in any text. `wrappers` looks
//! through programs that run other programs.

mod breaks;
pub(crate) mod command;
mod parse;
pub(crate) mod reader;
pub(crate) mod strict;
pub(crate) mod wrappers;

pub use breaks::breaks;
pub(crate) use parse::parses;
