//! Whether rules cover one part of a command.

use super::{quote, targets};
use crate::call::ToolCall;
use crate::decision::Decision;
use crate::programs::{objection, runs_its_input};
use crate::rules::{Hit, RuleId, Rules};
use crate::shell::strict::{Assignment, Plain, PlainWord, join};

const MAX_WRAPPERS: usize = 4;

/// Variables that choose colours and detail, and nothing that runs.
const SAFE_VARIABLES: &[&str] = &[
    "NODE_ENV",
    "CI",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "LANG",
    "LC_ALL",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
];

/// The rules that allow `part`, or why none does.
pub(super) fn covering(
    rules: &Rules,
    call: &ToolCall<'_>,
    part: &Plain<'_>,
) -> Result<Vec<RuleId>, String> {
    let shown = quote(part.source);
    if let Some(assignment) = part.assignments.iter().find(|one| !is_safe(one)) {
        let name = &assignment.name;
        return Err(format!("`{name}=…` before {shown} may change what it runs"));
    }
    let inner = without_wrappers(&part.words);
    for program in [part.words.first(), inner.first()].into_iter().flatten() {
        if !is_program_name(program) {
            let program = quote(&program.text);
            return Err(format!(
                "{program} in {shown} is not the plain name of a program"
            ));
        }
    }
    let index = &rules.index(Decision::Allow).commands;
    let mut hits = Vec::new();
    index.find(&join(inner), &mut hits);
    if inner.len() == part.words.len() {
        index.find(part.source, &mut hits);
    } else {
        hits.extend(exact_hits(rules, part));
    }
    if hits.is_empty() {
        return Err(format!("{shown} is not covered by any rule"));
    }
    if let Some(reason) = targets::objection(call, inner) {
        return Err(format!("{shown}: {reason}"));
    }
    let program = inner.first().map_or("", |word| word.text.as_str());
    if part.piped && runs_its_input(program) {
        return Err(format!("{shown} runs what another command writes"));
    }
    let exact: Vec<&Hit> = hits.iter().filter(|hit| hit.exact).collect();
    if exact.is_empty()
        && let Some(reason) = objection(inner)
    {
        return Err(format!(
            "{shown} needs a rule with the whole command: {reason}"
        ));
    }
    Ok(hits.into_iter().map(|hit| hit.id).collect())
}

/// Rules that name the whole part, its wrappers included.
fn exact_hits(rules: &Rules, part: &Plain<'_>) -> Vec<Hit> {
    let index = &rules.index(Decision::Allow).commands;
    let mut hits = Vec::new();
    index.find(part.source, &mut hits);
    index.find(&join(&part.words), &mut hits);
    hits.retain(|hit| hit.exact);
    hits
}

fn is_safe(assignment: &Assignment) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.,:=@+-".contains(&byte);
    SAFE_VARIABLES.contains(&assignment.name.as_str()) && assignment.value.bytes().all(plain)
}

fn is_program_name(word: &PlainWord) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.+".contains(&byte);
    let starts = word
        .text
        .starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_');
    word.bare && !word.glob && starts && word.text.bytes().all(plain)
}

/// Wrappers that run their arguments as they stand, without options.
fn without_wrappers(words: &[PlainWord]) -> &[PlainWord] {
    let mut words = words;
    for _ in 0..MAX_WRAPPERS {
        let [wrapper, rest @ ..] = words else {
            return words;
        };
        let inner = match (wrapper.text.as_str(), rest) {
            ("nohup" | "time" | "command" | "builtin", inner) => inner,
            ("timeout", [duration, inner @ ..]) if is_duration(&duration.text) => inner,
            _ => return words,
        };
        if !wrapper.bare || !inner.first().is_some_and(is_program_name) {
            return words;
        }
        words = inner;
    }
    words
}

fn is_duration(text: &str) -> bool {
    let number = text.strip_suffix(['s', 'm', 'h', 'd']).unwrap_or(text);
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole) && digits(part)
}
