//! Rules that deny or ask, looked for in everything that might run.

use super::file::stop_by_path;
use super::{Verdict, quote};
use crate::call::ToolCall;
use crate::decision::Decision;
use crate::risk::written_paths;
use crate::rule::PathTool;
use crate::rules::{CommandIndex, Rules};
use crate::shell::command::{Command, RedirectKind, Word, write_words};
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
    let effects = [Decision::Deny, Decision::Ask];
    let by_command = effects.map(|effect| (effect, &rules.index(effect).commands));
    let by_command: Stops<'_> = by_command
        .into_iter()
        .filter(|(_, commands)| !commands.is_empty())
        .collect();
    let by_path = effects.map(|effect| &rules.index(effect).paths);
    let by_path = by_path.iter().any(|paths| !paths.is_empty());
    if by_command.is_empty() && !by_path {
        return;
    }
    let written = command.trim();
    stop_by_text(&by_command, written, &|| quote(written), verdict);
    let mut files = Files {
        rules,
        call,
        left: MAX_FILES,
        exhausted: false,
    };
    let mut text = String::new();
    read_through(command, &mut |found| {
        if verdict.is_settled() {
            return;
        }
        if may_stop(&by_command, found) {
            stop_by_spellings(&by_command, found, &mut text, verdict);
        }
        if by_path {
            files.stop(found, verdict);
        }
    });
    if files.exhausted {
        verdict.doubt("the command names more files than are looked up");
    }
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

/// The rules about commands that deny, and those that ask; none that are empty.
type Stops<'a> = Vec<(Decision, &'a CommandIndex)>;

/// `shown` is what the reason names.
fn stop_by_text(stops: &Stops<'_>, text: &str, shown: &dyn Fn() -> String, verdict: &mut Verdict) {
    for (effect, commands) in stops {
        let mut hits = Vec::new();
        commands.find(text, &mut hits);
        if !hits.is_empty() {
            let ids = hits.into_iter().map(|hit| hit.id).collect();
            verdict.stop(*effect, ids, &shown());
        }
    }
}

/// Most commands begin with a word that no rule is about. Only to save time:
/// a command that could be passed over may be looked at nevertheless.
fn may_stop(stops: &Stops<'_>, command: &Command) -> bool {
    let Some(program) = command
        .words
        .first()
        .filter(|_| command.assignments.is_empty())
    else {
        return true;
    };
    let text = program.text.as_str();
    let may_match = |word: &str| stops.iter().any(|(_, commands)| commands.may_match(word));
    text.contains(' ') || may_match(text) || may_match(program_name(program))
}

/// In all the ways in which a rule's author may have written this command.
/// `text` is a place to write them down, so that none needs its own.
fn stop_by_spellings(
    stops: &Stops<'_>,
    command: &Command,
    text: &mut String,
    verdict: &mut Verdict,
) {
    let shown = || quote(&command.text());
    let quotes = stops.iter().any(|(_, commands)| commands.has_quotes);
    if quotes {
        text.clear();
        write_words(text, &command.words);
        stop_by_text(stops, text, &shown, verdict);
    }
    if !command.assignments.is_empty() {
        stop_by_text(stops, &command.text(), &shown, verdict);
    }
    let Some(program) = command.words.first() else {
        return;
    };
    text.clear();
    for word in &command.words {
        text.push_str(&word.text);
        text.push(' ');
    }
    text.pop();
    stop_by_text(stops, text, &shown, verdict);
    if program.text.contains('/') {
        let folder = program.text.len() - program_name(program).len();
        let by_name = text.get(folder..).unwrap_or_default();
        stop_by_text(stops, by_name, &shown, verdict);
    }
}

/// Looks up the files that commands name.
struct Files<'a> {
    rules: &'a Rules,
    call: &'a ToolCall<'a>,
    left: usize,
    exhausted: bool,
}

impl Files<'_> {
    /// Redirects, and the operands of programs that show or change files.
    fn stop(&mut self, command: &Command, verdict: &mut Verdict) {
        if self.exhausted {
            return;
        }
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
            None => self.exhausted = true,
        }
    }
}
