//! Rules that deny or ask, looked for in everything that might run.

use super::file::stop_by_path;
use super::{Verdict, quote};
use crate::call::ToolCall;
use crate::decision::Decision;
use crate::risk::written_paths;
use crate::rule::PathTool;
use crate::rules::Rules;
use crate::shell::command::{Command, RedirectKind, Word, is_plain, join};
use crate::shell::wrappers::{program_name, read_through};

/// Longer commands are not read; they are denied if anything could deny them.
const MAX_BYTES: usize = 1024 * 1024;

/// More files than these are not looked up; such a command asks.
const MAX_FILES: usize = 2_000;

/// Programs that show the files they are given.
const READERS: &[&str] = &[
    "cat", "head", "tail", "less", "more", "grep", "egrep", "fgrep", "rg", "sed", "awk", "cut",
    "sort", "uniq", "wc", "nl", "tac", "od", "xxd", "hexdump", "strings", "base64", "diff", "cp",
    "mv", "tee", "vi", "vim", "nano", "source", ".", "bat", "jq",
];

pub(super) fn judge(rules: &Rules, call: &ToolCall<'_>, command: &str, verdict: &mut Verdict) {
    if command.len() > MAX_BYTES {
        too_long(rules, verdict);
        return;
    }
    let stops = [Decision::Deny, Decision::Ask];
    let by_command = stops.map(|effect| !rules.index(effect).commands.is_empty());
    let by_path = stops.iter().any(|effect| {
        let paths = &rules.index(*effect).paths;
        paths.has(PathTool::Read) || paths.has(PathTool::Edit)
    });
    if by_command.contains(&true) {
        stop_by_text(rules, command.trim(), verdict);
    }
    if by_command == [false, false] && !by_path {
        return;
    }
    let mut files = Files {
        rules,
        call,
        left: MAX_FILES,
    };
    read_through(command, &mut |found| {
        if verdict.is_settled() {
            return;
        }
        if by_command.contains(&true) && may_stop(rules, &found) {
            for text in spellings(&found) {
                stop_by_text(rules, &text, verdict);
            }
        }
        if by_path {
            files.stop(&found, verdict);
        }
    });
}

fn too_long(rules: &Rules, verdict: &mut Verdict) {
    verdict.doubt("the command is too long to be read");
    for effect in [Decision::Deny, Decision::Ask] {
        let commands = &rules.index(effect).commands;
        if !commands.is_empty() {
            verdict.stop(
                effect,
                commands.all(),
                "a command that is too long to be read",
            );
        }
    }
}

fn stop_by_text(rules: &Rules, text: &str, verdict: &mut Verdict) {
    for effect in [Decision::Deny, Decision::Ask] {
        let mut hits = Vec::new();
        rules.index(effect).commands.find(text, &mut hits);
        if !hits.is_empty() {
            let ids = hits.into_iter().map(|hit| hit.id).collect();
            verdict.stop(effect, ids, &quote(text));
        }
    }
}

/// Most commands begin with a word that no rule is about.
fn may_stop(rules: &Rules, command: &Command) -> bool {
    let Some(program) = command
        .words
        .first()
        .filter(|_| command.assignments.is_empty())
    else {
        return true;
    };
    let text = program.text.as_str();
    let name = program_name(program);
    let indexes = [Decision::Deny, Decision::Ask].map(|effect| &rules.index(effect).commands);
    let may_match = |word: &str| indexes.iter().any(|index| index.may_match(word));
    text.contains(' ')
        || may_match(text)
        || name.len() != text.len() && may_match(name)
        || !is_plain(text) && may_match(&join([program]))
}

/// The ways in which a rule's author may have written this command.
fn spellings(command: &Command) -> Vec<String> {
    let words = command.words.iter().map(|word| word.text.as_str());
    let plain = words.collect::<Vec<_>>().join(" ");
    let mut spellings = vec![join(&command.words)];
    if !command.assignments.is_empty() {
        spellings.push(command.text());
    }
    if let Some(program) = command.words.first()
        && program.text.contains('/')
    {
        let rest = plain.get(program.text.len()..).unwrap_or_default();
        spellings.push(format!("{}{rest}", program_name(program)));
    }
    spellings.push(plain);
    spellings.dedup();
    spellings.retain(|text| !text.is_empty());
    spellings
}

/// Looks up the files that commands name.
struct Files<'a> {
    rules: &'a Rules,
    call: &'a ToolCall<'a>,
    left: usize,
}

impl Files<'_> {
    /// Redirects, and the operands of programs that show or change files.
    fn stop(&mut self, command: &Command, verdict: &mut Verdict) {
        for redirect in &command.redirects {
            let tool = match redirect.kind {
                RedirectKind::Read => PathTool::Read,
                RedirectKind::Write | RedirectKind::Append => PathTool::Edit,
                RedirectKind::Duplicate | RedirectKind::HereText => continue,
            };
            self.look_up(tool, &redirect.target, verdict);
        }
        let [program, arguments @ ..] = command.words.as_slice() else {
            return;
        };
        if arguments.is_empty() {
            return;
        }
        let name = program_name(program);
        if READERS.contains(&name) {
            let operands = arguments.iter().filter(|word| !word.text.starts_with('-'));
            for operand in operands {
                self.look_up(PathTool::Read, operand, verdict);
            }
        }
        for target in written_paths(name, arguments) {
            self.look_up(PathTool::Edit, target, verdict);
        }
    }

    fn look_up(&mut self, tool: PathTool, word: &Word, verdict: &mut Verdict) {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                stop_by_path(self.rules, self.call, tool, &word.text, verdict);
            }
            None if verdict.doubts.is_empty() => {
                verdict.doubt("the command names more files than are looked up");
            }
            None => {}
        }
    }
}
