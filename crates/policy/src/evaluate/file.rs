//! Tools that read or write files, by the path they name.

use super::{Verdict, quote};
use crate::call::{Tool, ToolCall};
use crate::decision::Decision;
use crate::path::{MAX_BYTES, absolute, doubt, is_protected, joined, resolve};
use crate::rule::PathTool;
use crate::rules::{RuleId, Rules};

pub(super) fn judge(rules: &Rules, call: &ToolCall<'_>, verdict: &mut Verdict) {
    let searches = matches!(call.tool_name, "Glob" | "Grep" | "LS");
    let path = match call.path() {
        Some(path) => path,
        None if searches => ".",
        None => {
            verdict.doubt("the call names no path");
            return;
        }
    };
    if call.has_stray_path() {
        verdict.doubt("the call names more than one path");
    }
    if call
        .text("pattern")
        .is_some_and(|pattern| call.tool_name == "Glob" && leaves(pattern))
    {
        verdict.doubt("the pattern leads out of its folder");
    }
    let edits = call.tool() == Tool::Edit;
    let tool = if edits {
        PathTool::Edit
    } else {
        PathTool::Read
    };
    stop_by_path(rules, call, tool, path, verdict);
    if searches && rules.index(Decision::Deny).paths.has(PathTool::Read) {
        verdict.doubt("a search may show files that a rule denies");
    }
    match allowed_by_path(rules, call, tool, path, searches) {
        Ok(ids) if ids.is_empty() && verdict.allow.is_empty() => {
            verdict.doubt(format!("{} is not covered by any rule", quote(path)));
        }
        Ok(ids) => verdict.allow.extend(ids),
        Err(reason) => verdict.doubt(reason),
    }
}

fn leaves(pattern: &str) -> bool {
    let goes_up = pattern.split('/').any(|component| component.contains(".."));
    goes_up || pattern.starts_with(['/', '~', '\\'])
}

/// Rules that deny or ask hold for the path as it is written, and for the place
/// it leads to. A file that may not be read may not be written either.
pub(super) fn stop_by_path(
    rules: &Rules,
    call: &ToolCall<'_>,
    tool: PathTool,
    path: &str,
    verdict: &mut Verdict,
) {
    if path.len() > MAX_BYTES {
        // No system opens it, and no rule can allow it.
        return;
    }
    let tools: &[PathTool] = match tool {
        PathTool::Read => &[PathTool::Read],
        PathTool::Edit => &[PathTool::Edit, PathTool::Read],
    };
    let mut places = vec![absolute(path, call.cwd, Some(call.home))];
    places.extend(resolve(&joined(call, path), call.links));
    places.dedup();
    for effect in [Decision::Deny, Decision::Ask] {
        let index = &rules.index(effect).paths;
        for (tool, place) in tools
            .iter()
            .flat_map(|tool| places.iter().map(move |place| (tool, place)))
        {
            if let Some(ids) = index.find(call, *tool, place) {
                verdict.stop(effect, ids, &quote(path));
            }
        }
    }
}

/// The rules that allow both the path and the place it leads to; a reason when
/// no rule may.
fn allowed_by_path(
    rules: &Rules,
    call: &ToolCall<'_>,
    tool: PathTool,
    path: &str,
    searches: bool,
) -> Result<Vec<RuleId>, String> {
    if let Some(reason) = doubt(path) {
        return Err(reason.to_owned());
    }
    let written = absolute(path, call.cwd, None);
    let Some(real) = resolve(&joined(call, path), call.links) else {
        return Err(format!("the links of {} go in circles", quote(path)));
    };
    if tool == PathTool::Edit && (is_protected(&written) || is_protected(&real)) {
        let path = quote(path);
        return Err(format!(
            "{path} is protected: it can make other programs run something"
        ));
    }
    let index = &rules.index(Decision::Allow).paths;
    let find = |place: &str| {
        // A search looks at everything below its folder.
        let place = if searches {
            format!("{place}/ /x")
        } else {
            place.to_owned()
        };
        index.find(call, tool, &place)
    };
    let (Some(mut ids), Some(real_ids)) = (find(&written), find(&real)) else {
        return Ok(Vec::new());
    };
    ids.extend(real_ids);
    Ok(ids)
}
