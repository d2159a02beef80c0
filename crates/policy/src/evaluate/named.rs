//! Rules that are about a tool, a server, an agent or a field as a whole.

use serde_json::Value;

use super::Verdict;
use crate::call::{Tool, ToolCall};
use crate::decision::Decision;
use crate::rules::{Index, RuleId, Rules};

pub(super) fn judge(rules: &Rules, call: &ToolCall<'_>, verdict: &mut Verdict) {
    for effect in [Decision::Deny, Decision::Ask, Decision::Allow] {
        let ids = matches(rules.index(effect), call);
        if !ids.is_empty() {
            verdict.stop(effect, ids, call.tool_name);
        }
    }
    if matches!(call.tool_name, "AskUserQuestion" | "ExitPlanMode") {
        verdict.doubt("a question to the user is never answered by a rule");
    }
}

fn matches(index: &Index, call: &ToolCall<'_>) -> Vec<RuleId> {
    let mut ids = Vec::new();
    let kind = match call.tool() {
        Tool::Read => Some("Read"),
        Tool::Edit => Some("Edit"),
        Tool::Agent => Some("Agent"),
        _ => None,
    };
    let names = [
        Some(call.tool_name),
        kind.filter(|kind| *kind != call.tool_name),
    ];
    for name in names.into_iter().flatten() {
        ids.extend(index.tools.get(name).into_iter().flatten().cloned());
    }
    for (pattern, id) in &index.tools_like {
        if pattern.matches(call.tool_name) {
            ids.push(id.clone());
        }
    }
    if let Some((server, tool)) = server_tool(call.tool_name) {
        let rules = index.servers.get(server).into_iter().flatten();
        let fitting = rules.filter(|(pattern, _)| pattern.matches(tool));
        ids.extend(fitting.map(|(_, id)| id.clone()));
    }
    if call.tool() == Tool::Agent
        && let Some(name) = call.text("subagent_type")
    {
        ids.extend(index.agents.get(name).into_iter().flatten().cloned());
    }
    for parameter in &index.parameters {
        let value = call.input.get(&parameter.name).and_then(scalar);
        let fits = |value: &String| parameter.value.matches(value);
        if parameter.tool == call.tool_name && value.as_ref().is_some_and(fits) {
            ids.push(parameter.id.clone());
        }
    }
    ids
}

fn server_tool(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("mcp__")?.split_once("__")
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
