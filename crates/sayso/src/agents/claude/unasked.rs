//! Which tool calls the agent must ask about, as far as that can be told from outside. For an alarm, not for
//! a decision: where the agent has good reasons of its own, nothing is said.

use std::path::Path;

use sayso_claude::PermissionMode;
use sayso_policy::risk::{self, RiskKind};
use sayso_policy::{Decision, Entry, Rule, RuleId, Rules, Source, evaluate, shell};
use sayso_protocol::{AgentRules, RuleEffect};

use crate::rules::Call;

const EDIT_TOOLS: [&str; 4] = ["Write", "Edit", "MultiEdit", "NotebookEdit"];

/// What the agent runs unasked because it only reads.
#[rustfmt::skip]
const READERS: &[&str] = &[
    "[", "awk", "base64", "basename", "cal", "cat", "cd", "cmp", "column", "comm", "cut", "date", "df",
    "diff", "dirname", "du", "echo", "egrep", "env", "expr", "false", "fd", "fgrep", "file", "find",
    "fold", "free", "grep", "groups", "head", "hostname", "id", "jq", "less", "ls", "nl", "paste",
    "printenv", "printf", "ps", "pwd", "readlink", "realpath", "rg", "seq", "sleep", "sort", "stat",
    "tail", "test", "tr", "tree", "true", "type", "uname", "uniq", "uptime", "wc", "which", "who",
    "whoami", "xargs", "xxd",
];
/// Of programs that do all kinds of things, the words with which they only read.
#[rustfmt::skip]
const READING_WORDS: &[(&str, &[&str])] = &[
    ("git", &[
        "blame", "branch", "cat-file", "config", "describe", "diff", "diff-tree", "for-each-ref", "grep",
        "log", "ls-files", "ls-remote", "ls-tree", "merge-base", "reflog", "remote", "rev-list",
        "rev-parse", "shortlog", "show", "status",
    ]),
    ("docker", &["images", "inspect", "logs", "ps"]),
    ("gh", &["checks", "diff", "list", "status", "view"]),
    ("node", &["--version", "-v"]),
    ("python3", &["--version", "-V"]),
];
/// What the mode that accepts edits also runs.
const EDITING_PROGRAMS: [&str; 8] = ["cp", "ln", "mkdir", "mv", "rm", "rmdir", "sed", "touch"];

/// False when no call of this tool has to be asked about in this mode, whatever its input.
pub fn may_have_to_ask(tool_name: &str, mode: &PermissionMode) -> bool {
    let edits = EDIT_TOOLS.contains(&tool_name);
    match mode {
        PermissionMode::BypassPermissions | PermissionMode::Auto => return false,
        PermissionMode::AcceptEdits if edits => return false,
        _ => {}
    }
    match tool_name {
        "Bash" | "WebSearch" => true,
        // Fetching has a list of addresses in the agent itself that nobody is asked about.
        name => edits || (name.starts_with("mcp__") && !name.starts_with("mcp__ide__")),
    }
}

/// True when `call`, in this mode, is nothing that the agent runs without asking.
pub fn must_ask(call: &Call, mode: &PermissionMode) -> bool {
    if !may_have_to_ask(&call.tool_name, mode) {
        return false;
    }
    match call.tool_name.as_str() {
        "Bash" => {
            let command = call.input["command"].as_str().unwrap_or_default();
            let accepts_edits = *mode == PermissionMode::AcceptEdits;
            command_must_ask(command, call, accepts_edits)
        }
        name => !EDIT_TOOLS.contains(&name) || !is_own_file(call),
    }
}

fn command_must_ask(command: &str, call: &Call, accepts_edits: bool) -> bool {
    let outline = shell::outline(command);
    let reads = |words: &Vec<String>| {
        let name = words.first().and_then(|name| name.rsplit('/').next());
        name.is_some_and(|name| {
            is_reader(name, words) || (accepts_edits && EDITING_PROGRAMS.contains(&name))
        })
    };
    let telling = |kind: RiskKind| match kind {
        RiskKind::Deletes | RiskKind::Overwrites => !accepts_edits,
        RiskKind::Privilege
        | RiskKind::Network
        | RiskKind::PipesIntoShell
        | RiskKind::Installs
        | RiskKind::GitHistory => true,
        RiskKind::OutsideProject
        | RiskKind::ProtectedPath
        | RiskKind::LongRunning
        | RiskKind::Unknown => false,
    };
    let risks = risk::read(&call.facts());
    (outline.writes && !accepts_edits)
        || !outline.commands.iter().all(reads)
        || risks.iter().any(|risk| telling(risk.kind))
}

fn is_reader(name: &str, words: &[String]) -> bool {
    let in_place = |word: &String| word.starts_with("-i") || word.starts_with("--in-place");
    let reading = READING_WORDS.iter().find(|(program, _)| *program == name);
    match (name, reading) {
        ("sed", _) => !words.iter().any(in_place),
        (_, Some((_, reading))) => words.iter().any(|word| reading.contains(&word.as_str())),
        _ => READERS.contains(&name),
    }
}

/// Plans, notes to itself and scratch files: the agent writes those as it likes.
fn is_own_file(call: &Call) -> bool {
    let path = ["file_path", "notebook_path"]
        .iter()
        .find_map(|field| call.input[*field].as_str());
    let Some(path) = path.map(Path::new) else {
        return false;
    };
    let own = Path::new(&call.home).join(".claude");
    let has_parents = path.components().any(|part| part.as_os_str() == "..");
    let scratch = path
        .components()
        .nth(2)
        .is_some_and(|folder| folder.as_os_str().to_string_lossy().starts_with("claude-"));
    !has_parents
        && (path.starts_with(own.join("plans"))
            || path.starts_with(own.join("projects"))
            || path.starts_with(own.join("agent-memory"))
            || (path.starts_with("/tmp") && scratch))
}

/// True when one of the agent's own rules may have allowed it. A rule that is wider than Sayso would take it
/// still explains what happened.
pub fn explained(call: &Call, rules: &AgentRules) -> bool {
    let allowing = || {
        rules
            .rules
            .iter()
            .filter(|rule| rule.effect == RuleEffect::Allow)
    };
    let entries = allowing().enumerate().filter_map(|(number, rule)| {
        Some(Entry {
            id: RuleId::new(&number.to_string()),
            effect: Decision::Allow,
            rule: Rule::parse(&rule.rule).ok()?,
            source: Source::Session,
        })
    });
    evaluate(&Rules::new(entries), &call.facts()).decision == Decision::Allow
        || allowing().any(|rule| names(&rule.rule, call))
}

/// The rule names the tool, or begins like one of the commands.
fn names(rule: &str, call: &Call) -> bool {
    let (tool, specifier) = match rule.split_once('(') {
        Some((tool, rest)) => (tool, rest.strip_suffix(')').unwrap_or(rest)),
        None => (rule, ""),
    };
    let edits = EDIT_TOOLS.contains(&call.tool_name.as_str()) && tool == "Edit";
    if tool != call.tool_name && !edits {
        return tool.starts_with("mcp__") && call.tool_name.starts_with(tool.trim_end_matches('*'));
    }
    if specifier.is_empty() || specifier == "*" {
        return true;
    }
    let Some(command) = call.input["command"].as_str() else {
        return edits;
    };
    let start = specifier
        .split(['*', ':'])
        .next()
        .unwrap_or_default()
        .trim();
    let starts = |words: &Vec<String>| words.join(" ").starts_with(start);
    !start.is_empty() && shell::outline(command).commands.iter().any(starts)
}

#[cfg(test)]
mod tests {
    use sayso_protocol::AgentRule;
    use serde_json::{Value, json};

    use super::*;

    fn call(tool: &str, input: Value) -> Call {
        Call {
            home: "/home/me".to_owned(),
            ..Call::new(tool, input, Path::new("/srv/project"))
        }
    }

    fn bash(command: &str) -> Call {
        call("Bash", json!({"command": command}))
    }

    #[test]
    fn what_only_reads_may_run_unasked() {
        for command in [
            "ls -la",
            "ls *.rs | head -5",
            "git status && git log --oneline -3 2>/dev/null",
            "cd sub && grep -rn needle .",
            "echo \"$HOME\"",
            "sed -n 1,5p file",
            "node --version",
        ] {
            assert!(
                !must_ask(&bash(command), &PermissionMode::Default),
                "{command}"
            );
        }
    }

    #[test]
    fn what_does_more_must_ask() {
        for command in [
            "touch x",
            "rm -rf build",
            "echo x > file",
            "curl https://example.org",
            "git push",
            "npm test",
            "find . -delete",
            "sed -i s/a/b/ file",
            "ls; touch x",
            "echo $(touch x)",
            "node -e 1",
        ] {
            assert!(
                must_ask(&bash(command), &PermissionMode::Default),
                "{command}"
            );
        }
        let write = call(
            "Write",
            json!({"file_path": "/srv/project/x", "content": ""}),
        );
        for mode in [
            PermissionMode::Default,
            PermissionMode::Plan,
            PermissionMode::DontAsk,
        ] {
            assert!(must_ask(&write, &mode));
        }
        assert!(must_ask(
            &call("mcp__files__delete", json!({})),
            &PermissionMode::Default
        ));
        assert!(!must_ask(
            &call("Read", json!({"file_path": "/etc/passwd"})),
            &PermissionMode::Default
        ));
    }

    #[test]
    fn a_mode_explains_what_it_is_for() {
        let write = call(
            "Write",
            json!({"file_path": "/srv/project/x", "content": ""}),
        );
        assert!(!must_ask(&write, &PermissionMode::AcceptEdits));
        assert!(!must_ask(
            &bash("mkdir a && mv b a"),
            &PermissionMode::AcceptEdits
        ));
        assert!(must_ask(
            &bash("mkdir a && npm install"),
            &PermissionMode::AcceptEdits
        ));
        for mode in [PermissionMode::BypassPermissions, PermissionMode::Auto] {
            assert!(!must_ask(&bash("rm -rf build"), &mode));
        }
    }

    #[test]
    fn the_agents_own_files_are_its_own() {
        let write = |path: &str| {
            let call = call("Write", json!({"file_path": path, "content": ""}));
            must_ask(&call, &PermissionMode::Plan)
        };
        assert!(!write("/home/me/.claude/plans/one.md"));
        assert!(!write("/tmp/claude-0/scratchpad/x"));
        assert!(write("/home/me/.claude/settings.json"));
        assert!(write("/home/me/.claude/plans/../settings.json"));
        assert!(write("/tmp/other"));
    }

    #[test]
    fn a_rule_of_the_agent_explains_what_it_names() {
        let explains = |rule: &str, call: &Call| {
            let rules =
                [("allow", rule), ("deny", "Bash(curl:*)")].map(|(effect, rule)| AgentRule {
                    rule: rule.to_owned(),
                    effect: match effect {
                        "allow" => RuleEffect::Allow,
                        _ => RuleEffect::Deny,
                    },
                    source: "userSettings".to_owned(),
                    handed_over: false,
                });
            explained(
                call,
                &AgentRules {
                    rules: rules.into(),
                },
            )
        };
        assert!(explains("Bash(npm test:*)", &bash("npm test -- --watch")));
        assert!(explains("Bash(npm *)", &bash("npm run build > log.txt")));
        assert!(explains("Bash", &bash("rm -rf /")));
        assert!(!explains("Bash(npm test:*)", &bash("rm -rf build")));
        assert!(!explains(
            "Bash(npm test:*)",
            &bash("curl https://example.org")
        ));
        let write = call(
            "Write",
            json!({"file_path": "/srv/project/src/x", "content": ""}),
        );
        assert!(explains("Edit(src/**)", &write));
        assert!(explains("Write", &write));
        assert!(!explains("Read", &write));
        let tool = call("mcp__files__delete", json!({}));
        assert!(explains("mcp__files", &tool));
        assert!(explains("mcp__files__*", &tool));
        assert!(!explains("mcp__mail", &tool));
    }
}
