//! The risks of a shell command, from all commands found in it.

use std::cell::LazyCell;

use super::{Risk, RiskKind, files, git, programs, risk};
use crate::call::ToolCall;
use crate::programs::{is_interpreter, is_shell};
use crate::shell::command::{Command, Redirect, RedirectKind, Word};
use crate::shell::parses;
use crate::shell::wrappers::{program_name, read_through, script_word};

/// More commands than a human would read are not read here either.
const MAX_COMMANDS: usize = 1_000;

pub(super) fn read(command: &str, call: &ToolCall<'_>) -> Vec<Risk> {
    let mut risks = Vec::new();
    let mut count = 0;
    let complete = read_through(command, &mut |found| {
        count += 1;
        if count <= MAX_COMMANDS {
            read_command(found, call, &mut risks);
        }
    });
    if !complete || count > MAX_COMMANDS || !parses(command) {
        risks.push(risk(RiskKind::Unknown, command));
    }
    risks
}

fn read_command(command: &Command, call: &ToolCall<'_>, risks: &mut Vec<Risk>) {
    for redirect in &command.redirects {
        read_redirect(redirect, call, risks);
    }
    let Some((program, arguments)) = command.words.split_first() else {
        return;
    };
    // Of most commands there is nothing to tell.
    let text = LazyCell::new(|| command.text());
    if !program.literal {
        risks.push(risk(RiskKind::Unknown, &text));
        return;
    }
    let name = program_name(program);
    let kinds = if name == "git" {
        git::kinds(arguments)
    } else {
        programs::kinds(name, arguments)
    };
    risks.extend(kinds.into_iter().map(|kind| risk(kind, &text)));
    risks.extend(unread_code(command, name, arguments));
    if program.text.contains('/') && !is_system_folder(&program.text) {
        risks.push(risk(RiskKind::Unknown, &program.text));
    }
    for word in programs::written_paths(name, arguments) {
        match path_text(word, call) {
            Some(path) => risks.extend(files::written(call, &path, &text)),
            None => risks.push(risk(RiskKind::Unknown, &text)),
        }
    }
    if matches!(name, "cd" | "pushd")
        && let Some(path) = arguments.first().and_then(|word| path_text(word, call))
        && path != "-"
    {
        risks.extend(files::outside(call, &path, &text));
    }
}

fn is_system_folder(program: &str) -> bool {
    [
        "/bin/",
        "/usr/bin/",
        "/usr/local/bin/",
        "/sbin/",
        "/usr/sbin/",
    ]
    .iter()
    .any(|folder| {
        program
            .strip_prefix(folder)
            .is_some_and(|name| !name.contains('/'))
    })
}

fn read_redirect(redirect: &Redirect, call: &ToolCall<'_>, risks: &mut Vec<Risk>) {
    let target = &redirect.target;
    if target.text.starts_with("/dev/tcp/") || target.text.starts_with("/dev/udp/") {
        risks.push(risk(RiskKind::Network, &target.text));
        return;
    }
    match redirect.kind {
        RedirectKind::Read | RedirectKind::Duplicate | RedirectKind::HereText => {}
        RedirectKind::Write | RedirectKind::Append => match path_text(target, call) {
            Some(path) if is_stream(&path) => {}
            Some(path) if path.starts_with("/dev/") => {
                risks.push(risk(RiskKind::Overwrites, &format!("> {}", target.text)));
            }
            Some(path) => {
                let words = format!("> {}", target.text);
                risks.extend(files::written(call, &path, &words));
            }
            None if target.text.starts_with('>') => {}
            None => risks.push(risk(RiskKind::Unknown, &format!("> {}", target.text))),
        },
    }
}

fn is_stream(path: &str) -> bool {
    matches!(
        path,
        "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin" | "/dev/tty"
    ) || path.starts_with("/dev/fd/")
}

/// The path a word stands for, if that can be told.
fn path_text(word: &Word, call: &ToolCall<'_>) -> Option<String> {
    if word.literal {
        return Some(word.text.clone());
    }
    let known = [
        ("$HOME", call.home),
        ("${HOME}", call.home),
        ("$PWD", call.cwd),
    ];
    known.iter().find_map(|(variable, value)| {
        let rest = word.text.strip_prefix(variable)?;
        let separate = rest.is_empty() || rest.starts_with('/');
        (separate && !rest.contains(['$', '`'])).then(|| format!("{value}{rest}"))
    })
}

/// Code that is not in the text: from a pipe, a substitution, a file.
fn unread_code(command: &Command, name: &str, arguments: &[Word]) -> Option<Risk> {
    if name == "eval" {
        let word = arguments.iter().find(|word| !word.literal)?;
        return Some(unread_word(command, name, word));
    }
    let is_shell = is_shell(name);
    if !is_shell && !is_interpreter(name) && !matches!(name, "source" | ".") {
        return None;
    }
    if let Some(script) = script_word(arguments).filter(|_| is_shell) {
        return (!script.literal).then(|| unread_word(command, name, script));
    }
    let is_operand = |word: &&Word| !word.text.starts_with('-') && !word.text.is_empty();
    if let Some(word) = arguments.iter().find(is_operand) {
        return Some(unread_word(command, name, word));
    }
    let from_file = command
        .redirects
        .iter()
        .any(|redirect| match redirect.kind {
            RedirectKind::Read => true,
            // A shell's own language is read, see `wrappers`.
            RedirectKind::HereText => !is_shell,
            RedirectKind::Write | RedirectKind::Append | RedirectKind::Duplicate => false,
        });
    if from_file || takes_code_option(arguments) {
        return Some(risk(RiskKind::Unknown, &command.text()));
    }
    let words = format!("| {}", command.text());
    command
        .piped
        .then(|| risk(RiskKind::PipesIntoShell, &words))
}

/// A script that is not there to be read: the output of another command, or
/// the content of a file or a variable.
fn unread_word(command: &Command, name: &str, word: &Word) -> Risk {
    let substituted = word.text.contains("$()") || word.text.starts_with('<');
    if !word.literal && substituted {
        piped(name, word)
    } else {
        risk(RiskKind::Unknown, &command.text())
    }
}

fn piped(name: &str, word: &Word) -> Risk {
    risk(RiskKind::PipesIntoShell, &format!("{name} {}", word.text))
}

/// `python -c`, `node -e`, `perl -ne` and modules: code or a name follows.
fn takes_code_option(arguments: &[Word]) -> bool {
    arguments.iter().any(|word| {
        let letters = word.text.strip_prefix('-').unwrap_or_default();
        word.text.starts_with("--eval")
            || word.text.starts_with("--print")
            || letters
                .chars()
                .next_back()
                .is_some_and(|last| "cemnr".contains(last))
                && letters.len() <= 3
    })
}
