//! What is read from strangers, with input that is made to be misread. How the inputs are made and how a
//! failure is repeated is told in `CONTRIBUTING.md`.

#![expect(
    clippy::unwrap_used,
    reason = "clippy knows test functions, but not the helpers of an integration test"
)]

mod checker;

use std::process::{Command, Stdio};
use std::sync::Mutex;

use checker::{bash, call};
use sayso_fuzzing::Target;
use sayso_policy::{Decision, Rule, path, risk, settings, shell, suggest, too_broad};
use serde_json::{Value, json};

fn target(name: &str) -> Target {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus");
    Target::new(format!("{folder}/{name}"))
}

/// The cases that are tested one by one are beginnings, too.
fn cases(file: &str, field: &str) -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases");
    let text = std::fs::read_to_string(format!("{folder}/{file}")).unwrap();
    let cases: Value = serde_json::from_str(&text).unwrap();
    let mut found = Vec::new();
    collect(&cases, field, &mut found);
    assert!(!found.is_empty());
    found
}

fn collect(value: &Value, field: &str, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, field, found)),
        Value::Object(fields) => {
            if let Some(text) = fields.get(field).and_then(Value::as_str) {
                found.push(text.to_owned());
            }
            fields.values().for_each(|item| collect(item, field, found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Seen by nobody, so nobody can have meant it.
fn has_control_character(text: &str) -> bool {
    text.chars().any(char::is_control)
}

#[test]
fn rules() {
    let words = [
        "Bash(",
        "Edit(",
        "Read(",
        "WebFetch(domain:",
        "mcp__",
        "__",
        ":*)",
        "/**",
        ")",
        "//",
        "~/",
        "*",
        " *",
        "(*)",
        "Agent(",
        "(a:b)",
    ];
    let seeds = cases("shell_cases.json", "rule");
    target("rules")
        .seeds(seeds)
        .dictionary(words)
        .longest(600)
        .run(|input| {
            let text = String::from_utf8_lossy(input);
            let rule = match Rule::parse(&text) {
                Ok(rule) => rule,
                Err(error) => return (Err(error.to_string()), String::new()),
            };
            assert!(
                !has_control_character(&text),
                "nobody sees what this rule says"
            );
            assert_eq!(rule.to_string(), text);
            let again = Rule::parse(&rule.to_string());
            assert_eq!(format!("{again:?}"), format!("{:?}", Ok::<_, ()>(&rule)));
            let exported = settings::export([(Decision::Deny, &rule)]);
            let imported = settings::import(&exported);
            assert_eq!(imported.rules, [(Decision::Deny, rule.clone())]);
            // What a rule means does not depend on being asked twice, and a rule that cannot allow does not.
            let calls = [
                bash("git status; ls src"),
                call("Edit", json!({ "file_path": "/w/proj/src/a.rs" })),
                call("WebFetch", json!({ "url": "https://a.example.com/x" })),
                call("mcp__gh__get_x", json!({ "a": "b" })),
            ];
            let mut decisions = String::new();
            for call in calls {
                let allowed = call.allow(rule.as_str());
                let decision = allowed.evaluate().decision;
                assert!(decision == Decision::Ask || rule.inert(Decision::Allow).is_none());
                let denied = allowed.deny(rule.as_str()).evaluate().decision;
                assert_ne!(denied, Decision::Allow, "deny beats allow");
                decisions.push_str(&format!("{decision:?}{denied:?}"));
            }
            let broad = too_broad(&rule).unwrap_or_default();
            let debugged = format!("{rule:?}");
            let kind = debugged.split("subject: ").nth(1).unwrap_or_default();
            let kind: String = kind.chars().filter(|sign| !sign.is_lowercase()).collect();
            (Ok(broad), decisions + &kind)
        });
}

#[test]
fn commands() {
    let words = [
        "&&",
        "||",
        ";",
        "|",
        "|&",
        "&",
        "$(",
        "`",
        "${",
        "$((",
        "<(",
        ">(",
        "<<E\n",
        "\nE\n",
        "<<-",
        "<<<",
        ">&2",
        "2>&1",
        ">|",
        "&>",
        "if ",
        "then ",
        "fi",
        "case x in ",
        "esac",
        ";;",
        "for i in ",
        "do ",
        "done",
        "while ",
        "[[ ",
        " ]]",
        "{ ",
        "; }",
        "( ",
        " )",
        "f() ",
        "!",
        "time ",
        "coproc ",
        "function ",
        "A=1 ",
        "a[0]=1 ",
        "a=(",
        "sudo ",
        "env ",
        "bash -c ",
        "eval ",
        "git status",
        "ls ",
        "rm -rf ",
        "xargs ",
        "find . -exec ",
        "'",
        "\"",
        "$'",
        "$\"",
        "\\\n",
        "\\",
        "#",
        "~",
        "*",
        "{a,b}",
        "@(",
        "timeout 5 ",
    ];
    let understood = Mutex::new(Vec::new());
    let seeds = cases("shell_cases.json", "command");
    target("commands")
        .seeds(seeds)
        .dictionary(words)
        .longest(1500)
        .run(|input| {
            let command = String::from_utf8_lossy(input);
            let lists = shell::argument_lists(&command);
            let check = bash(&command)
                .allow("Bash")
                .allow("Bash(ls:*)")
                .allow("Bash(git status:*)");
            let decision = check.evaluate().decision;
            if decision == Decision::Allow {
                assert!(lists.is_some(), "allowed without being understood");
                assert!(
                    !has_control_character(&command),
                    "allowed with what nobody sees"
                );
            }
            if let Some(lists) = &lists {
                assert!(lists.iter().all(|list| !list.is_empty()));
                // Half of the words could be said by two commands, but none by nobody.
                let letters =
                    |text: &str| text.chars().filter(|sign| sign.is_alphanumeric()).count();
                let said: usize = lists.iter().flatten().map(|word| letters(word)).sum();
                assert!(
                    said <= letters(&command),
                    "{lists:?} is more than was written"
                );
                let deny = bash(&command)
                    .allow("Bash")
                    .deny(&first_program_rule(lists));
                assert_eq!(deny.evaluate().decision, Decision::Deny, "{lists:?}");
                understood
                    .lock()
                    .unwrap()
                    .push(command.clone().into_owned());
            }
            let risks = format!("{:?}", risk::read(&check.call()));
            for suggestion in suggest(&check.call()) {
                let with = |check: checker::Check, rule: &Rule| check.allow(rule.as_str());
                let allowed = suggestion.rules.iter().fold(bash(&command), with);
                let allows = allowed.evaluate().decision == Decision::Allow;
                assert_eq!(allows, suggestion.allows, "{suggestion:?}");
            }
            path::mentioned(&check.call());
            let breaks = shell::breaks(&command);
            assert!(breaks.is_sorted());
            assert!(
                breaks
                    .iter()
                    .all(|at| command.is_char_boundary(*at) && *at < command.len())
            );
            let shape: String = risks
                .chars()
                .filter(char::is_ascii_uppercase)
                .take(40)
                .collect();
            (
                decision as u8,
                lists.map(|lists| lists.len().min(9)),
                breaks.len().min(9),
                shape,
            )
        });
    bash_reads(&understood.into_inner().unwrap());
}

/// A rule against the program of the first list, or against all where no rule can name it.
fn first_program_rule(lists: &[Vec<String>]) -> String {
    let program = lists.first().and_then(|list| list.first());
    let plain = |program: &&String| !program.is_empty() && !program.contains(['*', '\\', ' ']);
    let named = program
        .filter(plain)
        .map(|program| format!("Bash({program} *)"));
    named
        .filter(|text| Rule::parse(text).is_ok())
        .unwrap_or_else(|| "Bash".to_owned())
}

/// What is understood for certain must be something that bash takes at all. Nothing is run: `-n` only reads.
fn bash_reads(commands: &[String]) {
    let sampled = commands.iter().step_by((commands.len() / 500).max(1));
    for command in sampled {
        let read = Command::new("bash")
            .args(["--norc", "--noprofile", "-n", "-c", "--", command])
            .env_clear()
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::null())
            .output();
        let Ok(read) = read else {
            return;
        };
        let told = String::from_utf8_lossy(&read.stderr);
        assert!(
            read.status.success(),
            "bash does not read {command:?}: {told}"
        );
    }
}

#[test]
fn settings_files() {
    let words = [
        "\"permissions\":",
        "\"allow\":[",
        "\"ask\":[",
        "\"deny\":[",
        "\"Bash(",
        ")\",",
        "],",
        "{",
        "}",
    ];
    target("settings").dictionary(words).run(|input| {
        let Ok(value) = serde_json::from_slice::<Value>(input) else {
            return None;
        };
        let imported = settings::import(&value);
        let entries = |name: &str| value["permissions"][name].as_array().map_or(0, Vec::len);
        let all = entries("allow") + entries("ask") + entries("deny");
        assert_eq!(
            imported.rules.len() + imported.refused.len(),
            all,
            "none is lost"
        );
        let rules = imported.rules.iter().map(|(effect, rule)| (*effect, rule));
        assert_eq!(
            settings::import(&settings::export(rules)).rules,
            imported.rules
        );
        let refused: Vec<_> = imported
            .refused
            .iter()
            .map(|refused| refused.error.to_string())
            .collect();
        Some((imported.rules.len().min(9), refused))
    });
}
