//! Programs that run other programs: what `sudo`, `xargs` or `bash -c` runs is
//! found as a command of its own, beside the command that runs it.

use std::sync::LazyLock;

use super::command::{Command, RedirectKind, Word};
use super::reader;
use crate::programs::{SHELLS, is_shell};
use crate::texts::Texts;

/// Wrappers inside wrappers; deeper ones count as not read.
const MAX_DEPTH: usize = 8;

/// Bytes of inner commands and code that are read, over all wrappers.
const MAX_INNER_BYTES: usize = 256 * 1024;

/// How to find the inner command of one wrapper.
struct Wrapper {
    name: &'static str,
    /// Options whose value is the next word.
    valued: &'static [&'static str],
    /// Words between the options and the inner command.
    positional: usize,
}

const fn wrapper(
    name: &'static str,
    valued: &'static [&'static str],
    positional: usize,
) -> Wrapper {
    Wrapper {
        name,
        valued,
        positional,
    }
}

const WRAPPERS: &[Wrapper] = &[
    wrapper("env", &["-u", "--unset", "-C", "--chdir"], 0),
    wrapper("nohup", &[], 0),
    wrapper("setsid", &[], 0),
    wrapper("command", &[], 0),
    wrapper("builtin", &[], 0),
    wrapper("exec", &["-a"], 0),
    wrapper("noglob", &[], 0),
    wrapper("nocorrect", &[], 0),
    wrapper("time", &["-f", "-o", "--format", "--output"], 0),
    wrapper("nice", &["-n", "--adjustment"], 0),
    wrapper("ionice", &["-c", "-n", "--class", "--classdata"], 0),
    wrapper("chrt", &[], 1),
    wrapper("taskset", &[], 1),
    wrapper("stdbuf", &["-i", "-o", "-e"], 0),
    wrapper("unbuffer", &[], 0),
    wrapper("timeout", &["-s", "-k", "--signal", "--kill-after"], 1),
    wrapper(
        "sudo",
        &[
            "-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-D", "-R", "--user", "--group",
            "--host", "--prompt", "--chdir", "--chroot",
        ],
        0,
    ),
    wrapper("doas", &["-u", "-C"], 0),
    wrapper("pkexec", &["--user"], 0),
    wrapper("runuser", &["-u", "-g", "-G"], 0),
    wrapper(
        "xargs",
        &[
            "-I",
            "-n",
            "-P",
            "-L",
            "-d",
            "-E",
            "-s",
            "-a",
            "--max-args",
            "--max-procs",
            "--delimiter",
            "--arg-file",
            "--replace",
            "--max-lines",
        ],
        0,
    ),
    wrapper("watch", &["-n", "--interval"], 0),
    wrapper("flock", &["-w", "-E", "--timeout"], 1),
    wrapper("chroot", &[], 1),
    wrapper("unshare", &[], 0),
    wrapper("nsenter", &["-t", "--target"], 0),
    wrapper("strace", &["-o", "-e", "-p", "-s"], 0),
    wrapper("ltrace", &["-o", "-e", "-p"], 0),
    wrapper("caffeinate", &["-t", "-w"], 0),
    wrapper("parallel", &["-j", "--jobs"], 0),
    wrapper("entr", &[], 0),
    wrapper("busybox", &[], 0),
    wrapper("toybox", &[], 0),
];

/// Every command in `text`, and every command that one of them runs, one after
/// the other. True when everything could be read.
pub(crate) fn read_through(text: &str, found: &mut dyn FnMut(&Command)) -> bool {
    let mut through = Through {
        found,
        complete: true,
        inner_bytes: MAX_INNER_BYTES,
    };
    through.text(text, 0);
    through.complete
}

struct Through<'f> {
    found: &'f mut dyn FnMut(&Command),
    complete: bool,
    /// How much may still be read of what wrappers run.
    inner_bytes: usize,
}

impl Through<'_> {
    fn text(&mut self, text: &str, depth: usize) {
        let complete = reader::read_each(text, &mut |command| self.command(command, depth));
        self.complete &= complete;
    }

    fn command(&mut self, command: &Command, depth: usize) {
        if !runs_others(command) {
            return (self.found)(command);
        }
        (self.found)(command);
        let sizes = command.words.iter().map(|word| word.text.len().max(1));
        let left = self.inner_bytes.checked_sub(sizes.sum());
        let Some(left) = left.filter(|_| depth < MAX_DEPTH) else {
            self.complete = false;
            return;
        };
        self.inner_bytes = left;
        for inner in inner_commands(command) {
            self.command(&inner, depth + 1);
        }
        for text in inner_code(command) {
            self.text(&text, depth + 1);
        }
    }
}

fn runs_others(command: &Command) -> bool {
    let Some(program) = command.words.first() else {
        return false;
    };
    RUNNING_OTHERS.contains(program_name(program))
}

/// Looked up for every command, so it had better be quick.
static RUNNING_OTHERS: LazyLock<Texts<()>> = LazyLock::new(|| {
    let wrappers = WRAPPERS.iter().map(|wrapper| wrapper.name);
    let others = ["find", "su", "script", "eval", "trap"];
    let mut names = Texts::default();
    for name in wrappers.chain(others).chain(SHELLS.iter().copied()) {
        names.entry(name.to_owned());
    }
    names
});

/// The name a program is known by, whatever folder it is called from.
pub(crate) fn program_name(word: &Word) -> &str {
    let text = word.text.as_str();
    let slash = text.bytes().rposition(|byte| byte == b'/');
    slash.map_or(text, |slash| &text[slash + 1..])
}

/// The commands that a wrapper would run, as they stand in its words.
fn inner_commands(command: &Command) -> Vec<Command> {
    match command.words.split_first() {
        Some((program, arguments)) if program_name(program) == "find" => after_exec(arguments),
        _ => wrapped(command).into_iter().collect(),
    }
}

fn wrapped(command: &Command) -> Option<Command> {
    let (program, arguments) = command.words.split_first()?;
    let name = program_name(program);
    let wrapper = WRAPPERS.iter().find(|wrapper| wrapper.name == name)?;
    let looks_up = name == "command" && arguments.iter().any(|word| word.is("-v") || word.is("-V"));
    if looks_up {
        return None;
    }
    let mut rest = skip_options(arguments, wrapper.valued);
    let mut assignments = Vec::new();
    if matches!(name, "env" | "sudo" | "doas") {
        // Any name will do for these, not only what a shell takes for one.
        let assigns = |word: &&Word| word.text.contains('=');
        let count = rest.iter().take_while(assigns).count();
        assignments = rest.get(..count)?.to_vec();
        rest = rest.get(count..)?;
    }
    let words = rest.get(wrapper.positional..)?.to_vec();
    if words.is_empty() {
        return None;
    }
    Some(Command {
        assignments,
        words,
        redirects: Vec::new(),
        piped: command.piped,
    })
}

fn skip_options<'a>(words: &'a [Word], valued: &[&str]) -> &'a [Word] {
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        if word.is("--") {
            return after;
        }
        if !word.text.starts_with('-') || word.text == "-" {
            return rest;
        }
        let takes_next = valued.contains(&word.text.as_str()) && !after.is_empty();
        rest = if takes_next { &after[1..] } else { after };
    }
    rest
}

/// `find … -exec rm {} +`
fn after_exec(arguments: &[Word]) -> Vec<Command> {
    let runs = |word: &Word| matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir");
    let ends = |word: &Word| matches!(word.text.as_str(), ";" | "+");
    let commands = arguments.split(runs).skip(1).map(|after| Command {
        words: after.split(ends).next().unwrap_or_default().to_vec(),
        ..Command::default()
    });
    commands
        .filter(|command| !command.words.is_empty())
        .collect()
}

/// Shell source that a command is given: `bash -c`, `eval`, `trap`, a heredoc.
fn inner_code(command: &Command) -> Vec<String> {
    let Some((program, arguments)) = command.words.split_first() else {
        return Vec::new();
    };
    let name = program_name(program);
    let mut code = Vec::new();
    if is_shell(name) {
        code.extend(script_word(arguments).map(|word| word.text.clone()));
        let heredocs = command.redirects.iter();
        let heredocs = heredocs.filter(|redirect| redirect.kind == RedirectKind::HereText);
        code.extend(heredocs.map(|redirect| redirect.target.text.clone()));
    }
    match name {
        "su" | "runuser" | "script" | "flock" => {
            code.extend(script_word(arguments).map(|word| word.text.clone()));
        }
        "eval" => code.push(plain_join(arguments)),
        "watch" => code.push(plain_join(skip_options(arguments, &["-n", "--interval"]))),
        "trap" => code.extend(arguments.first().map(|word| word.text.clone())),
        "env" => {
            let split = arguments.iter().position(|word| word.is("-S"));
            code.extend(split.map(|at| plain_join(&arguments[at + 1..])));
        }
        _ => {}
    }
    // Code that is only a substitution is nowhere in the text.
    code.retain(|text| !text.is_empty() && text != "$()");
    code
}

/// The word after `-c`, also in a cluster such as `-lc`.
pub(crate) fn script_word(arguments: &[Word]) -> Option<&Word> {
    let is_script_option = |word: &Word| {
        let letters = word.text.strip_prefix('-').unwrap_or_default();
        word.is("--command")
            || letters.ends_with('c') && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    let at = arguments.iter().position(is_script_option)?;
    arguments.get(at + 1)
}

fn plain_join(words: &[Word]) -> String {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    texts.join(" ")
}
