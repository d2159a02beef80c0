//! Finds every command in a text, nested ones too, in one pass.
//!
//! This reader is for the cautious side: deny rules, ask rules and the risk.
//! It accepts anything, errors and hostile sizes included, and leans towards
//! finding too much. What may be *allowed* is decided on the grammar's tree
//! instead, and must agree with what is found here.

mod heredoc;
mod list;
mod operators;
mod quotes;
mod spare;
#[cfg(test)]
mod tests;

use super::command::Command;
use heredoc::Pending;
use list::{Close, List};
use spare::Spare;

/// Deeper nesting is read flat: every bracket and quote only separates.
const MAX_DEPTH: usize = 100;

/// Heredocs inside substitutions inside heredocs.
const MAX_HEREDOC_DEPTH: usize = 4;

/// Commands on one line with a heredoc; with more, the heredoc is not read.
const MAX_HELD: usize = 1_000;

/// Operators, quotes and other signs outside of quotes. More of them are no
/// command that a human would follow, and too hard for the grammar.
const MAX_SIGNS: usize = 800;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    /// In the order in which they end.
    pub(crate) commands: Vec<Command>,
    /// Everything was closed, and nothing was too deep or too much.
    pub(crate) complete: bool,
}

pub(crate) fn read(text: &str) -> Reading {
    let mut commands = Vec::new();
    let complete = read_each(text, &mut |command| commands.push(command.clone()));
    Reading { commands, complete }
}

/// Hands out each command as it ends, so that a long text costs no memory.
/// True when the reading is complete, see [`Reading`].
pub(crate) fn read_each(text: &str, found: &mut dyn FnMut(&Command)) -> bool {
    read_in(text, Mode::List, 0, found)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Commands; one [`List`] for each of these on the stack.
    List,
    DoubleQuote,
    /// `${…}`
    Parameter,
    /// The body of a heredoc whose delimiter is not quoted.
    Heredoc,
}

struct Reader<'a, 'f> {
    text: &'a str,
    at: usize,
    modes: Vec<Mode>,
    lists: Vec<List>,
    open_backticks: usize,
    heredocs: Vec<Pending>,
    heredoc_depth: usize,
    signs: usize,
    /// Commands that may still get a heredoc.
    held: Vec<Command>,
    spare: Spare,
    complete: bool,
    found: &'f mut dyn FnMut(&Command),
}

fn read_in(text: &str, mode: Mode, heredoc_depth: usize, found: &mut dyn FnMut(&Command)) -> bool {
    let mut spare = Spare::left();
    let mut list = List::new(Close::End);
    list.command = spare.command();
    let mut reader = Reader {
        text,
        at: 0,
        modes: vec![mode],
        lists: vec![list],
        open_backticks: 0,
        heredocs: Vec::new(),
        heredoc_depth,
        signs: 0,
        held: Vec::new(),
        spare,
        complete: true,
        found,
    };
    reader.run();
    std::mem::take(&mut reader.spare).leave();
    reader.complete
}

impl Reader<'_, '_> {
    fn run(&mut self) {
        while self.at < self.text.len() {
            let mode = self.modes.last().copied().unwrap_or(Mode::List);
            let first = self.byte(0);
            let is_sign = match mode {
                Mode::List => !first.is_ascii_alphanumeric() && first != b' ',
                Mode::DoubleQuote | Mode::Parameter | Mode::Heredoc => b"$`".contains(&first),
            };
            self.signs += usize::from(is_sign);
            match mode {
                Mode::List => self.step_list(),
                Mode::DoubleQuote => self.step_quoted(Some(b'"')),
                Mode::Parameter => self.step_quoted(Some(b'}')),
                Mode::Heredoc => self.step_quoted(None),
            }
        }
        while !self.lists.is_empty() {
            if self.list().in_test() {
                self.complete = false;
            }
            self.end_command(false);
            if let Some(list) = self.lists.pop() {
                self.spare.take_room(list.command);
            }
        }
        if self.modes.len() > 1 || !self.heredocs.is_empty() || self.signs > MAX_SIGNS {
            self.complete = false;
        }
        self.release();
    }

    /// Hands `command` out and empties it.
    fn find(&mut self, command: &mut Command) {
        if self.heredocs.is_empty() {
            (self.found)(command);
            self.spare.take_from(command);
            return;
        }
        self.held.push(std::mem::take(command));
        if self.held.len() > MAX_HELD {
            self.complete = false;
            self.heredocs.clear();
            self.release();
        }
    }

    fn release(&mut self) {
        for command in self.held.drain(..) {
            (self.found)(&command);
        }
    }

    fn byte(&self, offset: usize) -> u8 {
        let bytes = self.text.as_bytes();
        bytes.get(self.at + offset).copied().unwrap_or(0)
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn push(&mut self, mode: Mode) {
        if self.modes.len() >= MAX_DEPTH {
            self.read_flat();
        } else {
            self.modes.push(mode);
        }
    }

    fn push_list(&mut self, list: List) {
        if self.modes.len() >= MAX_DEPTH {
            self.read_flat();
            return;
        }
        if list.close == Close::Backtick {
            self.open_backticks += 1;
        }
        self.modes.push(Mode::List);
        self.lists.push(list);
    }

    /// Closes the innermost list, with the quotes still open inside it.
    fn pop_list(&mut self) {
        self.end_command(false);
        while let Some(closed) = self.modes.pop() {
            if closed == Mode::List {
                break;
            }
        }
        if let Some(closed) = self.lists.pop()
            && closed.close == Close::Backtick
        {
            self.open_backticks = self.open_backticks.saturating_sub(1);
        }
    }

    /// The rest of the text as plain words between anything that separates.
    fn read_flat(&mut self) {
        self.complete = false;
        let separates = |character: char| {
            matches!(
                character,
                ';' | '&' | '|' | '(' | ')' | '\n' | '`' | '"' | '\''
            )
        };
        let rest = self.text.get(self.at..).unwrap_or_default();
        self.at = self.text.len();
        let mut command = Command::default();
        for part in rest.split(separates) {
            for text in part.split_whitespace() {
                let mut word = self.spare.word();
                word.text.push_str(text);
                command.words.push(word);
            }
            if !command.words.is_empty() {
                self.find(&mut command);
            }
        }
    }
}
