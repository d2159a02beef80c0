//! What a settings file says, key by key.

use sayso_protocol::{Finding, FindingKind};
use serde_json::{Map, Value};

/// Keys that run nothing and allow nothing. Every other key is shown.
const HARMLESS: [&str; 13] = [
    "$schema",
    "alwaysThinkingEnabled",
    "attribution",
    "cleanupPeriodDays",
    "companyAnnouncements",
    "includeCoAuthoredBy",
    "language",
    "model",
    "outputStyle",
    "respectGitignore",
    "showTurnDuration",
    "spinnerTipsEnabled",
    "theme",
];

/// Keys whose value is a command that Claude runs for itself.
const HELPERS: [&str; 8] = [
    "apiKeyHelper",
    "awsAuthRefresh",
    "awsCredentialExport",
    "fileSuggestion",
    "gcpAuthRefresh",
    "otelHeadersHelper",
    "statusLine",
    "subagentStatusLine",
];

pub(super) fn in_settings(source: &str, settings: &Map<String, Value>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (key, value) in settings {
        match key.as_str() {
            "hooks" => findings.extend(hooks(source, value)),
            "env" => findings.extend(each(FindingKind::Environment, source, key, value)),
            "permissions" => findings.extend(permissions(source, value)),
            "mcpServers" => findings.extend(each(FindingKind::McpServer, source, key, value)),
            "enabledPlugins" | "extraKnownMarketplaces" | "pluginConfigs" => {
                findings.extend(each(FindingKind::Plugin, source, key, value));
            }
            "enableAllProjectMcpServers" | "enabledMcpjsonServers" => {
                findings.push(finding(FindingKind::McpServer, source, key, value));
            }
            key if HELPERS.contains(&key) => {
                findings.push(finding(FindingKind::Helper, source, key, value));
            }
            key if HARMLESS.contains(&key) => {}
            key => findings.push(finding(FindingKind::Setting, source, key, value)),
        }
    }
    findings
}

pub(super) fn in_servers(source: &str, file: &Map<String, Value>) -> Vec<Finding> {
    let servers = file.get("mcpServers").cloned();
    let servers = servers.unwrap_or_else(|| Value::Object(file.clone()));
    each(FindingKind::McpServer, source, "mcpServers", &servers)
}

/// `{"tasks": [{"cron": …, "prompt": …}]}`: what the agent is told at certain times, by nobody.
pub(super) fn in_tasks(source: &str, file: &Map<String, Value>) -> Vec<Finding> {
    let name = "Messages that are sent by themselves";
    match file.get("tasks") {
        Some(tasks) if is_empty(tasks) => Vec::new(),
        Some(tasks) => vec![finding(FindingKind::Setting, source, name, tasks)],
        None => vec![finding(
            FindingKind::Setting,
            source,
            name,
            &Value::Object(file.clone()),
        )],
    }
}

/// A script that the agent can run.
pub(super) fn in_workflow(source: &str, text: &str) -> Vec<Finding> {
    vec![Finding {
        kind: FindingKind::Setting,
        source: source.to_owned(),
        name: "Workflow".to_owned(),
        detail: text.to_owned(),
    }]
}

/// The head of an agent, a command or a skill. Only what runs by itself counts, not what it tells the model.
pub(super) fn in_text(source: &str, text: &str) -> Vec<Finding> {
    const RUNS: [(&str, FindingKind); 4] = [
        ("hooks", FindingKind::Hook),
        ("mcpServers", FindingKind::McpServer),
        ("permissionMode", FindingKind::Permission),
        ("allowed-tools", FindingKind::Permission),
    ];
    let text = text.trim_start_matches(|first: char| first == '\u{feff}' || first.is_whitespace());
    let Some(head) = text.strip_prefix("---") else {
        return Vec::new();
    };
    // What only looks like the end of the head is none: more of the text counts rather than less.
    let lines: Vec<&str> = head
        .lines()
        .take_while(|line| line.trim_end() != "---")
        .collect();
    let found = |kind: FindingKind, name: &str| Finding {
        kind,
        source: source.to_owned(),
        name: name.to_owned(),
        detail: lines.join("\n").trim().to_owned(),
    };
    let runs = RUNS.iter().filter(|(key, _)| {
        let says = |line: &&str| is_key(line, key);
        lines.iter().any(says)
    });
    let mut findings: Vec<Finding> = runs.map(|(key, kind)| found(*kind, key)).collect();
    if findings.is_empty() && !lines.iter().all(|line| is_plain(line)) {
        findings.push(found(FindingKind::Unreadable, "Written in an unusual way"));
    }
    findings
}

fn is_key(line: &str, key: &str) -> bool {
    let rest = line.trim_start().trim_start_matches(['"', '\'']);
    rest.strip_prefix(key).is_some_and(|rest| {
        let rest = rest.trim_start_matches(['"', '\'']);
        rest.trim_start().starts_with(':')
    })
}

/// Braces, quotes and marks before a key can hide its name.
fn is_plain(line: &str) -> bool {
    !line
        .trim_start()
        .starts_with(['{', '"', '\'', '?', '&', '*', '!', '<', '%', '|', '>'])
}

/// `{"Event": [{"matcher": …, "hooks": [{"type": "command", "command": …}]}]}`, and whatever else stands there.
fn hooks(source: &str, value: &Value) -> Vec<Finding> {
    let Some(events) = value.as_object() else {
        return vec![finding(FindingKind::Hook, source, "hooks", value)];
    };
    let mut findings = Vec::new();
    for (event, groups) in events {
        let groups = groups.as_array().cloned();
        for group in groups.unwrap_or_else(|| vec![Value::Null]) {
            let name = match group.get("matcher").and_then(Value::as_str) {
                Some(matcher) if !matcher.is_empty() => format!("{event} ({matcher})"),
                Some(_) | None => event.clone(),
            };
            match group.get("hooks").and_then(Value::as_array) {
                Some(hooks) => findings.extend(
                    hooks
                        .iter()
                        .map(|hook| finding(FindingKind::Hook, source, &name, hook)),
                ),
                None => findings.push(finding(
                    FindingKind::Hook,
                    source,
                    &name,
                    events.get(event).unwrap_or(value),
                )),
            }
        }
    }
    findings
}

/// Refusals and questions make an agent more careful; the rest makes it less so.
fn permissions(source: &str, value: &Value) -> Vec<Finding> {
    let Some(permissions) = value.as_object() else {
        return vec![finding(
            FindingKind::Permission,
            source,
            "permissions",
            value,
        )];
    };
    permissions
        .iter()
        .filter(|(key, value)| match key.as_str() {
            "deny" | "ask" | "disableBypassPermissionsMode" | "disableAutoMode" => false,
            "defaultMode" => !matches!(value.as_str(), Some("default" | "plan" | "dontAsk")),
            _ => !is_empty(value),
        })
        .map(|(key, value)| finding(FindingKind::Permission, source, key, value))
        .collect()
}

/// One finding for each entry of an object; the whole of anything else.
fn each(kind: FindingKind, source: &str, key: &str, value: &Value) -> Vec<Finding> {
    match value.as_object() {
        Some(object) => object
            .iter()
            .map(|(name, value)| finding(kind, source, name, value))
            .collect(),
        None if is_empty(value) => Vec::new(),
        None => vec![finding(kind, source, key, value)],
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn finding(kind: FindingKind, source: &str, name: &str, value: &Value) -> Finding {
    Finding {
        kind,
        source: source.to_owned(),
        name: name.to_owned(),
        detail: detail(value),
    }
}

/// The command itself where there is one, with all that stands beside it.
fn detail(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(entry) => {
            let plain = |key: &str| entry.get(key).and_then(Value::as_str);
            let others = entry
                .keys()
                .filter(|key| !matches!(key.as_str(), "type" | "command" | "timeout"))
                .count();
            match plain("command") {
                Some(command) if others == 0 => command.to_owned(),
                Some(_) | None => serde_json::to_string_pretty(value).unwrap_or_default(),
            }
        }
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let items = items.iter().filter_map(Value::as_str);
            items.collect::<Vec<_>>().join("\n")
        }
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}
