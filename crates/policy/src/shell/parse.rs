//! The grammar: tree-sitter-bash, with its work bounded.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use tree_sitter::{ParseOptions, Parser, Tree};

use super::reader;

/// Longer commands are not parsed: nobody reads them.
const MAX_BYTES: usize = 32 * 1024;

/// The grammar looks for the end of each heredoc again and again.
const MAX_HEREDOCS: usize = 20;

/// How often the parser may report progress before it is stopped. A well-formed
/// command of the longest length stays far below.
const MAX_PROGRESS_REPORTS: usize = 5_000;

/// The syntax tree of `command`, with or without errors in it; nothing when it
/// is too long or too hard to parse. What is not closed or nests deeply is not
/// tried: the grammar takes quadratic time to find that out.
pub(crate) fn parse(command: &str) -> Option<Tree> {
    if command.len() > MAX_BYTES {
        return None;
    }
    // One call is looked at several times in a row: for its paths, its risks, its parts and the rules.
    let recent = || RECENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, tree)) = recent().iter().find(|(known, _)| **known == *command) {
        return tree.clone();
    }
    let tree = parse_anew(command);
    let mut recent = recent();
    recent.truncate(REMEMBERED - 1);
    recent.push_front((command.into(), tree.clone()));
    tree
}

/// How many commands are remembered with their trees: of the agents that ask at the same moment.
const REMEMBERED: usize = 16;

static RECENT: Mutex<VecDeque<(Box<str>, Option<Tree>)>> = Mutex::new(VecDeque::new());

fn parse_anew(command: &str) -> Option<Tree> {
    if command.matches("<<").count() > MAX_HEREDOCS {
        return None;
    }
    if !reader::read_each(command, &mut |_| {}) {
        return None;
    }
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .ok()?;
    let mut reports = 0..MAX_PROGRESS_REPORTS;
    let mut stop_when_exhausted = |_: &tree_sitter::ParseState| match reports.next() {
        Some(_) => ControlFlow::Continue(()),
        None => ControlFlow::Break(()),
    };
    let options = ParseOptions::new().progress_callback(&mut stop_when_exhausted);
    let bytes = only_ascii(command);
    let mut read_from = |offset: usize, _| bytes.get(offset..).unwrap_or_default();
    parser.parse_with_options(&mut read_from, None, Some(options))
}

/// The same length with a plain character for every byte beyond ASCII. The
/// grammar's scanner reads outside of its memory on others
/// (tree-sitter/tree-sitter-bash#337), and to a shell they are plain anyway.
fn only_ascii(command: &str) -> Cow<'_, [u8]> {
    if command.is_ascii() {
        return Cow::Borrowed(command.as_bytes());
    }
    let plain = |byte: u8| if byte.is_ascii() { byte } else { b'.' };
    Cow::Owned(command.bytes().map(plain).collect())
}

/// `command` is well-formed as far as the grammar knows.
pub(crate) fn parses(command: &str) -> bool {
    parse(command).is_some_and(|tree| !tree.root_node().has_error())
}
