//! The commands of which every word is known, for rules that allow.
//!
//! The tree may hold only the node kinds named here, every byte of the command
//! belongs to one of them or is a blank, and the forgiving reader must have
//! found the same words. Anything else is not understood, and asks.

mod tree;
mod words;

use super::command::Word;
use super::parse::parse;
use super::reader::{self, Reading};
use crate::visible::deceptive;

const MAX_CHARACTERS: usize = 10_000;
const MAX_COMMANDS: usize = 50;

/// One sub-command with nothing left for the shell to put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plain<'a> {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) words: Vec<PlainWord>,
    /// As it is written, without assignments and redirects.
    pub(crate) source: &'a str,
    /// Its input is the output of another command.
    pub(crate) piped: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) value: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlainWord {
    pub(crate) text: String,
    /// Without any quotes.
    pub(crate) bare: bool,
    /// The shell may replace it by file names.
    pub(crate) glob: bool,
}

impl PlainWord {
    pub(crate) fn to_word(&self) -> Word {
        Word {
            text: self.text.clone(),
            literal: true,
            ..Word::default()
        }
    }
}

/// The words as a reader would write them, one blank between.
pub(crate) fn join(words: &[PlainWord]) -> String {
    let words: Vec<Word> = words.iter().map(PlainWord::to_word).collect();
    super::command::join(&words)
}

/// Why a command cannot be allowed by any rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotUnderstood {
    #[error("the command is empty")]
    Empty,
    #[error("the command is longer than {MAX_CHARACTERS} characters")]
    TooLong,
    #[error("the command has the character U+{:04X}, which does not show", u32::from(*.0))]
    Deceptive(char),
    #[error("the command begins or ends with blanks")]
    Padded,
    #[error("the command cannot be parsed")]
    Unparseable,
    #[error("the command has more than {MAX_COMMANDS} parts")]
    TooMany,
    #[error("`{0}` is more than literal words")]
    NotLiteral(String),
    #[error("`{0}` is a redirect to a file")]
    Redirect(String),
    #[error("two ways of reading the command disagree")]
    Ambiguous,
}

/// The sub-commands of `command`, in the order in which they are written.
pub(crate) fn understand(command: &str) -> Result<Vec<Plain<'_>>, NotUnderstood> {
    if command.chars().count() > MAX_CHARACTERS {
        return Err(NotUnderstood::TooLong);
    }
    if command.is_empty() {
        return Err(NotUnderstood::Empty);
    }
    if let Some(character) = deceptive(command) {
        return Err(NotUnderstood::Deceptive(character));
    }
    if command.trim() != command {
        return Err(NotUnderstood::Padded);
    }
    let reading = reader::read(command);
    if reading.commands.len() > MAX_COMMANDS {
        return Err(NotUnderstood::TooMany);
    }
    let tree = parse(command).ok_or(NotUnderstood::Unparseable)?;
    if tree.root_node().has_error() {
        return Err(NotUnderstood::Unparseable);
    }
    let commands = tree::commands(command, &tree)?;
    if !agrees(&reading, &commands) {
        return Err(NotUnderstood::Ambiguous);
    }
    Ok(commands)
}

/// The forgiving reader finds the same commands with the same words.
fn agrees(reading: &Reading, commands: &[Plain<'_>]) -> bool {
    let same_words = |plain: &Plain<'_>, read: &super::command::Command| {
        let plain_words = plain.words.iter().map(|word| &word.text);
        let read_words = read.words.iter().map(|word| &word.text);
        plain.piped == read.piped
            && plain.assignments.len() == read.assignments.len()
            && read.words.iter().all(|word| word.literal)
            && plain_words.eq(read_words)
    };
    reading.complete
        && !commands.is_empty()
        && reading.commands.len() == commands.len()
        && commands
            .iter()
            .zip(&reading.commands)
            .all(|(plain, read)| same_words(plain, read))
}

#[cfg(test)]
mod tests {
    use super::{Plain, agrees, reader, understand};

    /// The words of `command` against what is read in `other`.
    fn agree(command: &str, other: &str) -> bool {
        let plain: Vec<Plain<'_>> = understand(command).unwrap_or_default();
        agrees(&reader::read(other), &plain)
    }

    #[test]
    fn two_readings_must_agree_on_everything() {
        assert!(agree("a 'b c' | d", "a  \"b c\"|d"));
        assert!(!agree("", ""));
        for other in [
            "a 'b c'",
            "a 'b c' | d; e",
            "a b c | d",
            "a 'b c'; d",
            "A=1 a 'b c' | d",
            "a 'b c' | $d",
            "a 'b c' | d 'e",
            "(a 'b c' | d",
        ] {
            assert!(!agree("a 'b c' | d", other), "{other}");
        }
    }
}
