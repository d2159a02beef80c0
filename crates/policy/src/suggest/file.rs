//! Rules for a file and its folder.

use super::SuggestionKind;
use crate::call::ToolCall;
use crate::path::absolute;

pub(super) fn texts(call: &ToolCall<'_>, tool: &str) -> Vec<(SuggestionKind, Vec<String>)> {
    let Some(path) = call.path() else {
        return Vec::new();
    };
    let path = absolute(path, call.cwd, None);
    let (folder, _) = path.rsplit_once('/').unwrap_or_default();
    let exact = pattern(call, &path);
    let below = pattern(call, &format!("{folder}/"));
    vec![
        (SuggestionKind::Exact, vec![format!("{tool}({exact})")]),
        (SuggestionKind::Folder, vec![format!("{tool}({below}**)")]),
    ]
}

/// Relative to the working folder where it can be, otherwise from the root.
fn pattern(call: &ToolCall<'_>, path: &str) -> String {
    let cwd = absolute(call.cwd, "/", None);
    let relative = path.strip_prefix(cwd.trim_end_matches('/'));
    match relative.and_then(|rest| rest.strip_prefix('/')) {
        Some(relative) => format!("./{}", escape(relative)),
        None => format!("/{}", escape(path)),
    }
}

/// So that the pattern matches this path only.
fn escape(path: &str) -> String {
    let mut escaped = String::with_capacity(path.len());
    for character in path.chars() {
        if "*?[]{}\\!# ".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}
