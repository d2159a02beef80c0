//! The terminal: what waits for a human, and the human's answers, for people on ssh and for scripts.
//!
//! Single commands speak REST, `watch` speaks the native protocol. Whatever an agent wrote passes
//! `visible` before it is printed, so that it cannot give the terminal orders.

mod answer;
mod arguments;
mod console;
mod decide;
mod desk;
mod file_now;
mod find;
mod form;
mod form_lines;
mod interview;
mod line;
mod page;
mod pending;
mod request;
mod session;
mod subject;
mod trouble;
mod visible;
mod watch;
mod words;

use std::io::Write;
use std::process::ExitCode;

pub use arguments::{
    AllowArguments, AnswerArguments, DenyArguments, PendingArguments, ReachArguments,
    ShowArguments, TerminalCommand, WatchArguments,
};
use trouble::Trouble;
pub use trouble::{EXIT_CODES, Exit};

pub async fn run(command: &TerminalCommand) -> ExitCode {
    let (json, done) = match command {
        TerminalCommand::Pending(arguments) => (arguments.json, pending::run(arguments).await),
        TerminalCommand::Show(arguments) => (arguments.json, decide::show(arguments).await),
        TerminalCommand::Allow(arguments) => (arguments.json, decide::allow(arguments).await),
        TerminalCommand::Deny(arguments) => (arguments.json, decide::deny(arguments).await),
        TerminalCommand::Answer(arguments) => (arguments.json, answer::run(arguments).await),
        TerminalCommand::Watch(arguments) => (arguments.json, watch::run(arguments).await),
    };
    match done {
        Ok(()) => code(Exit::Done),
        Err(trouble) => tell(&trouble, json),
    }
}

/// In words for people, and with `--json` also as JSON where the result would have been.
fn tell(trouble: &Trouble, json: bool) -> ExitCode {
    // Nothing can be done when even this cannot be written.
    if json {
        let _ = writeln!(std::io::stdout(), "{}", trouble.json());
    }
    for line in trouble.lines() {
        let _ = writeln!(std::io::stderr(), "{line}");
    }
    code(trouble.exit)
}

fn code(exit: Exit) -> ExitCode {
    ExitCode::from(exit as u8)
}
