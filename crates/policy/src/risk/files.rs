//! Paths that are read or written.

use super::{Risk, RiskKind, risk};
use crate::call::ToolCall;
use crate::path::{absolute, holds_credentials, is_protected, is_within, joined, resolve};

pub(super) fn read(call: &ToolCall<'_>) -> Vec<Risk> {
    // Without a path the tools that search look through the working folder.
    let Some(path) = call.path() else {
        return Vec::new();
    };
    let mut risks = outside(call, path, path);
    if places(call, path)
        .iter()
        .any(|place| holds_credentials(place))
    {
        risks.push(risk(RiskKind::ProtectedPath, path));
    }
    risks
}

pub(super) fn edit(call: &ToolCall<'_>) -> Vec<Risk> {
    match call.path() {
        Some(path) => written(call, path, path),
        None => vec![risk(RiskKind::Unknown, call.tool_name)],
    }
}

/// The risks of writing to `path`, told with `words`.
pub(super) fn written(call: &ToolCall<'_>, path: &str, words: &str) -> Vec<Risk> {
    let mut risks = outside(call, path, words);
    let guarded = |place: &String| is_protected(place) || holds_credentials(place);
    if places(call, path).iter().any(guarded) {
        risks.push(risk(RiskKind::ProtectedPath, words));
    }
    risks
}

pub(super) fn outside(call: &ToolCall<'_>, path: &str, words: &str) -> Vec<Risk> {
    let root = absolute(call.project_root, "/", None);
    let real_root = resolve(&root, call.links);
    let is_inside = |place: &String| {
        is_within(place, &root)
            || real_root
                .as_ref()
                .is_some_and(|real| is_within(place, real))
    };
    let leaves = !places(call, path).iter().all(is_inside);
    let circular = resolve(&joined(call, path), call.links).is_none();
    if leaves || circular {
        vec![risk(RiskKind::OutsideProject, words)]
    } else {
        Vec::new()
    }
}

/// Where the path says it leads, and where its links lead.
fn places(call: &ToolCall<'_>, path: &str) -> Vec<String> {
    let stated = absolute(path, call.cwd, Some(call.home));
    let mut places: Vec<String> = resolve(&joined(call, path), call.links)
        .into_iter()
        .collect();
    places.push(stated);
    places
}
