//! Rules for tool calls, and what a call would do.
//!
//! Pure: rules and facts come in, decisions with their reasons go out. No IO,
//! no clock, and no way to panic on what an agent sends.
//!
//! A [`ToolCall`] meets the parts in this order: [`evaluate`] asks [`Rules`]
//! (made of parsed [`Rule`]s) about it; a command is read by [`shell`] and held
//! against what is known of `programs`, a file by [`path`], an address by
//! `web`. [`risk::read`] tells what a call would do, whatever the rules say,
//! and [`suggest()`] makes rules out of a call.
//!
//! A rule is no boundary around a program: what an allowed program does by
//! itself, nobody here can know.

mod call;
mod decision;
mod evaluate;
pub mod path;
mod programs;
pub mod risk;
mod rule;
mod rules;
pub mod settings;
pub mod shell;
mod suggest;
mod texts;
mod visible;
mod web;

pub use call::{Link, ToolCall};
pub use decision::Decision;
pub use evaluate::{Evaluation, evaluate};
pub use rule::{Rule, RuleError, too_broad};
pub use rules::{Entry, RuleId, Rules, Source};
pub use suggest::{Suggestion, SuggestionKind, suggest};
pub use visible::is_deceptive;
