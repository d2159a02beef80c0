//! What holds for all rules and all calls.

mod checker;

use checker::{Check, call};
use proptest::prelude::*;
use sayso_policy::{Decision, Rule, path, risk, shell, suggest, too_broad};
use serde_json::json;

const RULES: &[&str] = &[
    "Bash",
    "Bash(ls:*)",
    "Bash(git status:*)",
    "Bash(git *)",
    "Bash(git log * main)",
    "Bash(echo a b)",
    "Bash(* x)",
    "Bash(npm run test)",
    "Bash(timeout:5)",
    "Edit",
    "Edit(src/**)",
    "Edit(*.rs)",
    "Edit(//tmp/**)",
    "Read(~/.ssh/**)",
    "Read(secrets/**)",
    "Read(/src/*)",
    "WebFetch(domain:example.com)",
    "WebFetch(domain:*.example.com)",
    "mcp__gh__get_*",
    "mcp__gh",
    "*",
    "Agent(Explore)",
];

const PARTS: &[&str] = &[
    "ls",
    "-la",
    "git",
    "status",
    "log",
    "main",
    "echo",
    "a b",
    "'a b'",
    "\"c\"",
    "npm run test",
    "&&",
    "||",
    ";",
    "|",
    "&",
    "(",
    ")",
    "{",
    "}",
    "$(",
    "`",
    "'",
    "\"",
    "\\",
    "\n",
    ">",
    "<",
    "2>&1",
    "/dev/null",
    "<<EOF",
    "EOF",
    "$x",
    "${x}",
    "*.rs",
    "~",
    "A=1",
    "CI=1",
    "timeout 5",
    "sudo",
    "bash -c",
    "if",
    "then",
    "fi",
    "case",
    "in",
    "esac",
    "for",
    "do",
    "done",
    "#",
    "x",
    "rm -rf",
    "secrets/k",
    "src/a.rs",
    "é",
    "\u{200b}",
    ";;",
    "!",
    "[[",
    "]]",
    "function",
    "f()",
];

fn command() -> impl Strategy<Value = String> {
    let part = prop::sample::select(PARTS);
    let spaced = prop::collection::vec((part, prop::sample::select(&["", " "][..])), 0..12);
    spaced.prop_map(|parts| {
        let parts = parts.into_iter();
        parts
            .map(|(part, blank)| format!("{part}{blank}"))
            .collect()
    })
}

fn any_call() -> impl Strategy<Value = (&'static str, serde_json::Value)> {
    let path = prop::sample::select(
        &[
            "src/a.rs",
            "/w/proj/src/a.rs",
            "/tmp/x",
            "secrets/k",
            "a.rs",
            "../x",
            ".git/config",
        ][..],
    );
    let file_tool = prop::sample::select(&["Read", "Edit", "Write", "Grep"][..]);
    let url = prop::sample::select(
        &[
            "https://example.com/",
            "https://a.example.com/",
            "http://u@example.com",
            "x",
        ][..],
    );
    prop_oneof![
        4 => command().prop_map(|command| ("Bash", json!({ "command": command }))),
        2 => (file_tool, path).prop_map(|(tool, path)| (tool, json!({ "file_path": path }))),
        1 => url.prop_map(|url| ("WebFetch", json!({ "url": url }))),
        1 => Just(("mcp__gh__get_x", json!({}))),
        1 => Just(("Agent", json!({ "subagent_type": "Explore" }))),
    ]
}

fn effect() -> impl Strategy<Value = Decision> {
    prop_oneof![
        3 => Just(Decision::Allow),
        1 => Just(Decision::Ask),
        1 => Just(Decision::Deny),
    ]
}

fn rules() -> impl Strategy<Value = Vec<(Decision, &'static str)>> {
    prop::collection::vec((effect(), prop::sample::select(RULES)), 0..8)
}

fn check(tool: &str, input: &serde_json::Value, rules: &[(Decision, &str)]) -> Check {
    let start = call(tool, input.clone());
    let add = |check: Check, (effect, rule): &(Decision, &str)| check.with(*effect, rule);
    rules.iter().fold(start, add)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_stricter_rule_more_never_makes_the_decision_milder(
        (tool, input) in any_call(),
        rules in rules(),
        more in prop::sample::select(RULES),
    ) {
        let before = check(tool, &input, &rules).evaluate().decision;
        let asked = check(tool, &input, &rules).ask(more).evaluate().decision;
        let denied = check(tool, &input, &rules).deny(more).evaluate().decision;
        prop_assert!(before <= asked);
        prop_assert!(asked <= denied);
    }

    #[test]
    fn an_allow_rule_more_never_makes_the_decision_stricter(
        (tool, input) in any_call(),
        rules in rules(),
        more in prop::sample::select(RULES),
    ) {
        let before = check(tool, &input, &rules).evaluate().decision;
        let after = check(tool, &input, &rules).allow(more).evaluate().decision;
        prop_assert!(after <= before);
    }

    #[test]
    fn the_order_of_rules_never_matters(
        (tool, input) in any_call(),
        (rules, shuffled) in rules().prop_flat_map(|rules| {
            (Just(rules.clone()), Just(rules).prop_shuffle())
        }),
    ) {
        let evaluation = check(tool, &input, &rules).evaluate();
        prop_assert_eq!(evaluation, check(tool, &input, &shuffled).evaluate());
    }

    #[test]
    fn a_rule_that_is_printed_and_parsed_is_the_same(
        tool in prop::sample::select(&["Bash", "Edit", "Read", "WebFetch", "Agent", "mcp__a__b", "X"][..]),
        specifier in "(domain:|//|~/|\\./)?[a-zA-Z0-9 ./*:()\\\\\\[\\]{}'\"~!#_-]{0,20}(:\\*|/\\*\\*)?",
        bare in any::<bool>(),
    ) {
        let text = if bare { format!("{tool}{specifier}") } else { format!("{tool}({specifier})") };
        if let Ok(rule) = Rule::parse(&text) {
            let printed = rule.to_string();
            let again = Rule::parse(&printed);
            prop_assert_eq!(format!("{again:?}"), format!("{:?}", Ok::<_, ()>(rule)));
        }
    }

    #[test]
    fn no_command_panics(command in prop_oneof![command(), ".{0,60}", "[$`'\"(){}<>;&|\\\\ a\n]{0,60}"]) {
        let check = call("Bash", json!({ "command": command.clone() }))
            .allow("Bash")
            .deny("Bash(rm:*)")
            .deny("Read(secrets/**)");
        check.evaluate();
        risk::read(&check.call());
        suggest(&check.call());
        path::mentioned(&check.call());
        let breaks = shell::breaks(&command);
        prop_assert!(breaks.is_sorted());
        prop_assert!(breaks.iter().all(|at| command.is_char_boundary(*at) && *at < command.len()));
    }

    #[test]
    fn no_path_address_or_rule_panics(text in ".{0,60}", tool in "\\PC{0,10}") {
        for input in [json!({ "file_path": text.clone() }), json!({ "url": text.clone() })] {
            for tool in ["Read", "Edit", "WebFetch", &tool] {
                let check = call(tool, input.clone()).allow("Edit(**)").deny("Read(//**/x)");
                check.evaluate();
                risk::read(&check.call());
                suggest(&check.call());
            }
        }
        for text in [text.clone(), format!("Bash({text})"), format!("Edit({text})"), format!("{tool}({text})")] {
            if let Ok(rule) = Rule::parse(&text) {
                too_broad(&rule);
                let effect = Decision::Deny;
                call("Edit", json!({ "file_path": "a/b" })).with(effect, rule.as_str()).evaluate();
            }
        }
    }

    #[test]
    fn what_a_suggestion_promises_it_does((tool, input) in any_call()) {
        for suggestion in suggest(&call(tool, input.clone()).call()) {
            let allow = |check: Check, rule: &Rule| check.allow(rule.as_str());
            let check = suggestion.rules.iter().fold(call(tool, input.clone()), allow);
            let allowed = check.evaluate().decision == Decision::Allow;
            prop_assert_eq!(allowed, suggestion.allows);
        }
    }
}
