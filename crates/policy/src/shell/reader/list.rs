//! A list of commands between brackets, and the command being read in it.

use super::super::command::{Command, Redirect, RedirectKind, Word};
use super::Reader;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Close {
    End,
    Parenthesis,
    Backtick,
}

/// The redirect whose target comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Of(RedirectKind),
    Delimiter { strip_tabs: bool },
}

#[derive(Debug)]
pub(super) struct List {
    pub(super) close: Close,
    /// Opened with two parentheses: `<<` shifts.
    pub(super) arithmetic: bool,
    /// Its words are values, not commands: `a=(x y)`.
    data: bool,
    /// A subshell or the `()` of a function: what stands before it is over.
    pub(super) group: bool,
    open_cases: usize,
    in_pattern: bool,
    pub(super) command: Command,
    /// The command being read is a loop header, a pattern, a list of values.
    skip_command: bool,
    skip_next_word: bool,
    pub(super) word: Option<Word>,
    word_start: usize,
    pub(super) target: Option<Target>,
}

impl List {
    pub(super) fn new(close: Close) -> Self {
        Self {
            close,
            arithmetic: false,
            data: false,
            group: false,
            open_cases: 0,
            in_pattern: false,
            command: Command::default(),
            skip_command: false,
            skip_next_word: false,
            word: None,
            word_start: 0,
            target: None,
        }
    }

    pub(super) fn values() -> Self {
        Self {
            data: true,
            ..Self::new(Close::Parenthesis)
        }
    }

    pub(super) fn group() -> Self {
        Self {
            group: true,
            ..Self::new(Close::Parenthesis)
        }
    }

    fn at_command_position(&self) -> bool {
        self.command.words.is_empty()
            && self.command.assignments.is_empty()
            && self.command.redirects.is_empty()
    }

    pub(super) fn in_test(&self) -> bool {
        let is = |word: Option<&Word>, text| word.is_some_and(|word| !word.quoted && word.is(text));
        let words = &self.command.words;
        is(words.first(), "[[") && !is(words.last(), "]]")
    }

    /// In a pattern of `case`, where `|` and `)` mean something else.
    pub(super) fn in_pattern(&self) -> bool {
        self.in_pattern
    }
}

impl Reader<'_, '_> {
    /// The innermost list; there is always one while reading.
    pub(super) fn list(&mut self) -> &mut List {
        if self.lists.is_empty() {
            self.lists.push(List::new(Close::End));
        }
        let last = self.lists.len() - 1;
        &mut self.lists[last]
    }

    pub(super) fn word(&mut self) -> &mut Word {
        if self.list().word.is_none() {
            let at = self.at;
            let word = self.spare.word();
            let list = self.list();
            list.word_start = at;
            list.word = Some(word);
        }
        self.list().word.get_or_insert_default()
    }

    pub(super) fn end_word(&mut self) {
        let text = self.text;
        let list = self.list();
        let Some(word) = list.word.take() else {
            return;
        };
        let source = text.get(list.word_start..).unwrap_or_default();
        match list.target.take() {
            Some(Target::Of(kind)) => {
                let target = word;
                list.command.redirects.push(Redirect { kind, target });
            }
            Some(Target::Delimiter { strip_tabs }) => self.expect_heredoc(word, strip_tabs),
            None if list.skip_next_word => list.skip_next_word = false,
            None if list.at_command_position() && !word.quoted && reserve(list, &word.text) => {}
            None if list.command.words.is_empty() && assigns(source) => {
                list.command.assignments.push(word);
            }
            None => push_word(list, word),
        }
    }

    /// `piped` says that the next command reads this one's output.
    pub(super) fn end_command(&mut self, piped: bool) {
        self.end_word();
        let list = self.list();
        let mut command = std::mem::take(&mut list.command);
        let skip = list.skip_command || list.data;
        list.skip_command = list.in_pattern;
        list.skip_next_word = false;
        list.target = None;
        let empty = command.words.is_empty()
            && command.assignments.is_empty()
            && command.redirects.is_empty();
        if skip || empty {
            self.spare.take_from(&mut command);
        } else {
            self.find(&mut command);
        }
        command.piped = piped;
        self.list().command = command;
    }

    /// `;;` and its like: the next words are a pattern.
    pub(super) fn end_case(&mut self) {
        self.end_command(false);
        let list = self.list();
        if list.open_cases > 0 {
            list.in_pattern = true;
            list.skip_command = true;
        }
    }

    pub(super) fn end_pattern(&mut self) {
        self.list().in_pattern = false;
        self.end_command(false);
    }
}

fn push_word(list: &mut List, word: Word) {
    let opens_patterns = list.skip_command
        && list.open_cases > 0
        && list.command.words.len() >= 2
        && word.is("in")
        && !word.quoted;
    list.command.words.push(word);
    if opens_patterns {
        list.in_pattern = true;
        list.command.words.clear();
    }
}

/// Takes a reserved word at the start of a command; true when it was one.
fn reserve(list: &mut List, word: &str) -> bool {
    if list.in_pattern {
        let ends = word == "esac";
        if ends {
            list.open_cases = list.open_cases.saturating_sub(1);
            list.in_pattern = false;
            list.skip_command = false;
        }
        return ends;
    }
    match word {
        "if" | "then" | "elif" | "else" | "fi" | "while" | "until" | "do" | "done" | "{" | "}"
        | "!" | "coproc" => true,
        "esac" => {
            list.open_cases = list.open_cases.saturating_sub(1);
            true
        }
        "function" => {
            list.skip_next_word = true;
            true
        }
        "for" | "select" => {
            list.skip_command = true;
            false
        }
        "case" => {
            list.open_cases += 1;
            list.skip_command = true;
            false
        }
        _ => false,
    }
}

/// The source of a word starts with `name=`, `name+=` or `name[…]=`.
fn assigns(source: &str) -> bool {
    let bytes = source.as_bytes();
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let name = bytes.iter().take_while(|byte| is_name(byte)).count();
    if name == 0 || bytes[0].is_ascii_digit() {
        return false;
    }
    let mut rest = &bytes[name..];
    if rest.first() == Some(&b'[') {
        let Some(end) = rest.iter().take(256).position(|byte| *byte == b']') else {
            return false;
        };
        rest = &rest[end + 1..];
    }
    matches!(rest, [b'=', ..] | [b'+', b'=', ..])
}
