//! What a request is about: all of its input, and one line of it for lists.

use serde_json::Value;
use serde_json::value::RawValue;

use super::form::Form;
use super::form_lines;
use super::line::{Line, Style};
use super::request::{Kind, Request};
use super::visible::{self, Strictness};
use crate::mask::mask;

/// Where a line of the input begins, and where it only goes on.
const BEGINS: &str = "│ ";
pub(super) const GOES_ON: &str = "┆ ";

/// Where the agent keeps a plan.
const PLAN_FILE: &str = "planFilePath";

/// The first field that is there says the most about a call.
const TELLING: [&str; 9] = [
    "command",
    "file_path",
    "notebook_path",
    "path",
    "url",
    "query",
    "pattern",
    "prompt",
    "skill",
];

/// One line for lists: the command, path, address or question, with likely secrets masked.
pub(super) fn summary(request: &Request) -> String {
    let text = match (request.kind, Form::of(request)) {
        (_, Some(Form::Questions(questions))) => {
            let more = questions.len().saturating_sub(1);
            let first = questions.into_iter().next();
            let first = first.map(|question| question.text).unwrap_or_default();
            if more > 0 {
                format!("{first} (and {more} more)")
            } else {
                first
            }
        }
        (Kind::Plan, _) => {
            let plan = request.text_field("plan").unwrap_or_default();
            let first = plan.lines().find(|line| !line.trim().is_empty());
            let first = first.map(|line| line.trim_start_matches(['#', ' ']));
            first.unwrap_or("(no plan was sent)").to_owned()
        }
        (Kind::Form, _) => request.detail.title.clone().unwrap_or_default(),
        (Kind::Tool | Kind::Questions | Kind::Other, _) => {
            let mut telling = TELLING.iter().filter_map(|name| request.text_field(name));
            telling
                .next()
                .unwrap_or_else(|| request.input.get().to_owned())
        }
    };
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let text = lines.collect::<Vec<_>>().join(" ⏎ ");
    mask(&text).into_owned()
}

/// All of the input.
pub(super) fn lines(request: &Request) -> Vec<Line> {
    match (request.kind, Form::of(request)) {
        (_, Some(form)) => form_lines::lines(request, &form),
        (Kind::Plan, _) => match request.text_field("plan") {
            Some(plan) => {
                let mut shown = block(&plan, Style::Plain, Strictness::Prose);
                let mut known = vec!["plan"];
                // Apart from the plan: they are not what it says.
                if let Some(file) = request.text_field(PLAN_FILE) {
                    known.push(PLAN_FILE);
                    let told = Line::own(Style::Faint, "The plan is kept in ");
                    shown.extend([Line::default(), told.words(Style::Plain, &file)]);
                }
                let rest = rest(request, &known);
                if !rest.is_empty() {
                    shown.push(Line::default());
                    shown.extend(rest);
                }
                shown
            }
            None => fields(request),
        },
        (Kind::Tool, _) => call_lines(request),
        (Kind::Questions | Kind::Form | Kind::Other, _) => fields(request),
    }
}

fn call_lines(request: &Request) -> Vec<Line> {
    let path = request.text_field("file_path");
    match (request.tool_name.as_str(), path) {
        ("Bash", _) => {
            let Some(command) = request.text_field("command") else {
                return fields(request);
            };
            let mut shown = command_lines(&command, &request.detail.command_breaks);
            // The description is shown as the agent's words.
            let said = request.text_field("description");
            let is_said = said.is_some() && said == request.detail.description;
            let known: &[&str] = if is_said {
                &["command", "description"]
            } else {
                &["command"]
            };
            shown.extend(rest(request, known));
            shown
        }
        ("Edit", Some(path)) => {
            let (old, new) = (
                request.text_field("old_string"),
                request.text_field("new_string"),
            );
            let (Some(old), Some(new)) = (old, new) else {
                return fields(request);
            };
            let mut shown = vec![path_line(&path)];
            shown.extend(change(&old, &new));
            shown.extend(rest(request, &["file_path", "old_string", "new_string"]));
            shown
        }
        ("Write", Some(path)) => {
            let Some(content) = request.text_field("content") else {
                return fields(request);
            };
            let mut shown = vec![path_line(&path)];
            shown.extend(marked("+ ", &content, Style::Added));
            shown.extend(rest(request, &["file_path", "content"]));
            shown
        }
        ("MultiEdit", Some(path)) => {
            multiple_edits(request, &path).unwrap_or_else(|| fields(request))
        }
        _ => fields(request),
    }
}

fn multiple_edits(request: &Request, path: &str) -> Option<Vec<Line>> {
    let edits: Vec<Value> = serde_json::from_str(request.fields()?.get("edits")?.get()).ok()?;
    let mut shown = vec![path_line(path)];
    for edit in edits {
        // One with further fields is shown as it stands, with all the others.
        let edit = edit.as_object().filter(|edit| edit.len() == 2)?;
        let text = |name: &str| edit.get(name)?.as_str();
        shown.extend(change(text("old_string")?, text("new_string")?));
        shown.push(Line::default());
    }
    shown.extend(rest(request, &["file_path", "edits"]));
    Some(shown)
}

fn path_line(path: &str) -> Line {
    Line::own(Style::Faint, BEGINS)
        .words(Style::Strong, path)
        .continued_by(GOES_ON)
}

fn change(old: &str, new: &str) -> Vec<Line> {
    let mut shown = Vec::new();
    if !old.is_empty() {
        shown.extend(marked("- ", old, Style::Removed));
    }
    if !new.is_empty() {
        shown.extend(marked("+ ", new, Style::Added));
    }
    shown
}

fn marked(mark: &str, text: &str, style: Style) -> Vec<Line> {
    let lines = visible::lines(text, Strictness::Exact).into_iter();
    lines
        .map(|pieces| {
            Line::own(style, mark)
                .pieces(style, pieces)
                .continued_by(GOES_ON)
        })
        .collect()
}

/// Text as it is, each of its lines marked where it begins.
pub(super) fn block(text: &str, style: Style, strictness: Strictness) -> Vec<Line> {
    let lines = visible::lines(text, strictness).into_iter();
    lines
        .map(|pieces| {
            Line::own(Style::Faint, BEGINS)
                .pieces(style, pieces)
                .continued_by(GOES_ON)
        })
        .collect()
}

/// Each part of a compound command on a row of its own.
fn command_lines(command: &str, breaks: &[u32]) -> Vec<Line> {
    let mut shown = Vec::new();
    let mut part = String::new();
    let mut goes_on = false;
    let mut units = 0_u32;
    let mut flush = |part: &mut String, goes_on: bool| {
        let mut lines = block(part, Style::Strong, Strictness::Exact).into_iter();
        if goes_on && let Some(first) = visible::lines(part, Strictness::Exact).into_iter().next() {
            lines.next();
            shown.push(
                Line::own(Style::Faint, GOES_ON)
                    .pieces(Style::Strong, first)
                    .continued_by(GOES_ON),
            );
        }
        shown.extend(lines);
        part.clear();
    };
    for letter in command.chars() {
        if breaks.contains(&units) && !part.is_empty() {
            let ends_line = part.ends_with('\n');
            flush(&mut part, goes_on);
            goes_on = !ends_line;
        }
        part.push(letter);
        units = units.saturating_add(u32::try_from(letter.len_utf16()).unwrap_or(1));
    }
    flush(&mut part, goes_on);
    shown
}

fn fields(request: &Request) -> Vec<Line> {
    rest(request, &[])
}

/// The fields that were not shown yet; nothing of an input is left out.
fn rest(request: &Request, known: &[&str]) -> Vec<Line> {
    let Some(fields) = request.fields() else {
        return block(request.input.get(), Style::Plain, Strictness::Exact);
    };
    let mut shown = Vec::new();
    for (name, value) in fields {
        if known.contains(&name.as_str()) {
            continue;
        }
        shown.extend(field(&name, &value));
    }
    shown
}

fn field(name: &str, value: &RawValue) -> Vec<Line> {
    let text = match serde_json::from_str::<String>(value.get()) {
        Ok(text) => text,
        Err(_) => indented(value),
    };
    let lines = visible::lines(&text, Strictness::Exact);
    let head = Line::own(Style::Faint, BEGINS)
        .words(Style::Faint, name)
        .and(Style::Faint, ": ")
        .continued_by(GOES_ON);
    match <[_; 1]>::try_from(lines) {
        Ok([only]) => vec![head.pieces(Style::Plain, only)],
        Err(lines) if lines.is_empty() => vec![head],
        Err(lines) => {
            let mut shown = vec![head];
            shown.extend(lines.into_iter().map(|pieces| {
                Line::own(Style::Faint, "│   ")
                    .pieces(Style::Plain, pieces)
                    .continued_by("┆   ")
            }));
            shown
        }
    }
}

/// Numbers that do not fit into a machine word stay as they were written.
fn indented(value: &RawValue) -> String {
    let is_nested = value.get().starts_with(['{', '[']);
    let parsed: Option<Value> = serde_json::from_str(value.get()).ok();
    match parsed {
        Some(parsed) if is_nested => {
            serde_json::to_string_pretty(&parsed).unwrap_or_else(|_| value.get().to_owned())
        }
        Some(_) | None => value.get().to_owned(),
    }
}
