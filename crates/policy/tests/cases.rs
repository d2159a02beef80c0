//! Known bypasses and documented behaviour, as tables. Each case is one rule,
//! one call and the decision that must come of it.

#![expect(
    clippy::expect_used,
    reason = "a case that cannot be read fails the test"
)]

use sayso_policy::{Decision, Entry, Link, Rule, RuleId, Rules, Source, ToolCall, evaluate};
use serde_json::{Value, json};

fn field<'a>(case: &'a Value, name: &str) -> &'a str {
    case[name].as_str().expect(name)
}

fn cases(text: &str) -> Vec<Value> {
    serde_json::from_str(text).expect("a list of cases")
}

/// A rule that is refused when it is made cannot match.
fn rules(text: &str, effect: Decision, source: Source) -> Rules {
    let entry = Rule::parse(text).ok().map(|rule| Entry {
        id: RuleId::new("the rule"),
        effect,
        rule,
        source,
    });
    Rules::new(entry)
}

#[track_caller]
fn check(cases: &[Value], decide: impl Fn(&Value) -> Decision) {
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let decision = decide(case).to_string();
            let expected = field(case, "expect");
            (decision != expected).then(|| format!("{decision} instead of {case}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn shell_cases() {
    let cases = cases(include_str!("cases/shell_cases.json"));
    check(&cases, |case| {
        let rules = rules(field(case, "rule"), Decision::Allow, Source::Session);
        let input = json!({ "command": field(case, "command") });
        let call = ToolCall {
            tool_name: "Bash",
            input: &input,
            cwd: "/w/proj",
            home: "/home/u",
            project_root: "/w/proj",
            links: &[],
        };
        evaluate(&rules, &call).decision
    });
}

#[test]
fn path_cases() {
    let cases = cases(include_str!("cases/path_cases.json"));
    check(&cases, |case| {
        let effect = match field(case, "list") {
            "allow" => Decision::Allow,
            "ask" => Decision::Ask,
            _ => Decision::Deny,
        };
        let source = match field(case, "source") {
            "user" => Source::User,
            "project" => Source::Project,
            _ => Source::Session,
        };
        let rules = rules(field(case, "rule"), effect, source);
        let input = json!({ "file_path": field(case, "path") });
        let entries = case["fs"].as_array().cloned().unwrap_or_default();
        let links: Vec<Link> = entries
            .iter()
            .filter(|entry| entry.get("symlink").is_some())
            .map(|entry| Link {
                path: field(entry, "symlink").to_owned(),
                target: field(entry, "to").to_owned(),
            })
            .collect();
        let call = ToolCall {
            tool_name: field(case, "tool"),
            input: &input,
            cwd: field(case, "cwd"),
            home: field(case, "home"),
            project_root: field(case, "project_root"),
            links: &links,
        };
        evaluate(&rules, &call).decision
    });
}

#[test]
fn webfetch_cases() {
    let cases = cases(include_str!("cases/webfetch_cases.json"));
    check(&cases, |case| {
        let rules = rules(field(case, "rule"), Decision::Allow, Source::Session);
        let input = json!({ "url": field(case, "url"), "prompt": "read it" });
        let call = ToolCall {
            tool_name: "WebFetch",
            input: &input,
            cwd: "/w/proj",
            home: "/home/u",
            project_root: "/w/proj",
            links: &[],
        };
        evaluate(&rules, &call).decision
    });
}
