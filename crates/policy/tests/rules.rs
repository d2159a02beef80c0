//! Rules as text: what is one, what is refused, what is too broad, and what is
//! offered for a call.

mod checker;

use checker::{bash, call};
use pretty_assertions::assert_eq;
use sayso_policy::settings::{export, import};
use sayso_policy::{Decision, Rule, SuggestionKind, suggest, too_broad};
use serde_json::json;

#[test]
fn rules_print_as_they_were_written() {
    for text in [
        "Bash",
        "Bash(*)",
        "Bash(npm test:*)",
        "Bash(ls *)",
        "Bash(echo (a) b)",
        "Bash(echo a\\*b)",
        "Edit(src/**)",
        "Edit(//tmp/x)",
        "Read(~/Documents/*.pdf)",
        "Read(./.env)",
        "Edit(docs/\\[2024\\]/**)",
        "WebFetch(domain:*.example.com)",
        "WebSearch",
        "mcp__server",
        "mcp__server__*",
        "mcp__server__get_*",
        "mcp__my-server__tool",
        "Agent(Explore)",
        "Agent(model:opus)",
        "Bash(run_in_background:true)",
        "mcp__a-b__c(name:value)",
        "Some_Tool",
        "*",
    ] {
        let rule = Rule::parse(text).unwrap();
        assert_eq!(rule.to_string(), text);
        assert_eq!(Rule::parse(&rule.to_string()), Ok(rule));
    }
}

#[test]
fn what_is_not_surely_meant_is_refused() {
    for text in [
        "",
        " ",
        "bash",
        "bash(ls:*)",
        "Bash()",
        "Bash(:*)",
        "Bash( ls)",
        "Bash(ls ",
        "Bash(ls:*",
        "Bash(ls:*) ",
        " Bash",
        "Bash(ls)x",
        "(ls)",
        "Bash(git:* push)",
        "Bash(command:ls)",
        "Bash(l\u{200b}s)",
        "Bash(ls\nx)",
        "Edit(!src)",
        "Edit(#src)",
        "Edit( src )",
        "Edit(../x)",
        "Edit(src/../x)",
        "Edit(/)",
        "Edit(//)",
        "Edit(~x)",
        "Write(src/**)",
        "Grep(src/**)",
        "WebFetch(example.com)",
        "WebFetch(domain:)",
        "WebFetch(domain:a/b)",
        "WebFetch(domain:exаmple.com)",
        "mcp__",
        "mcp__a b",
        "WebSearch(x)",
        "Agent(*)",
        "a*b c",
        "Some-Tool",
        "Some Tool",
        "Edit(src/[z-a])",
        "WebSearch(:x)",
        "WebSearch(x:)",
        "WebSearch(a b:x)",
    ] {
        let refused = Rule::parse(text);
        assert!(refused.is_err(), "{text:?} became {refused:?}");
    }
    assert!(Rule::parse(&format!("Bash({})", "x".repeat(7_994))).is_ok());
    assert!(Rule::parse(&format!("Bash({})", "x".repeat(7_995))).is_err());
}

#[test]
fn what_is_refused_says_what_to_write_instead() {
    let refused = |text| Rule::parse(text).map_err(|error| error.to_string());
    let path = |tool: &str, kind: &str| {
        let text = format!("`{tool}` has no rules with a path");
        Err(format!("{text}; write `{kind}(…)`, which holds for it too"))
    };
    assert_eq!(refused("Write(src/**)"), path("Write", "Edit"));
    assert_eq!(refused("Grep(src/**)"), path("Grep", "Read"));
    assert_eq!(
        refused("Bash(:*)"),
        Err("the parentheses are empty; write `Bash` alone to mean every call".to_owned())
    );
}

#[test]
fn some_rules_do_nothing_when_they_allow() {
    for text in ["*", "B*", "mcp__*", "Bash(timeout:5)"] {
        let rule = Rule::parse(text).unwrap();
        assert!(rule.inert(Decision::Allow).is_some(), "{text}");
        assert_eq!(rule.inert(Decision::Deny), None);
    }
    assert_eq!(
        Rule::parse("Bash(ls)").unwrap().inert(Decision::Allow),
        None
    );
}

#[test]
fn too_broad_rules_have_a_reason() {
    for text in [
        "Bash",
        "Bash(*)",
        "Bash(bash -c:*)",
        "Bash(bash:*)",
        "Bash(sh)",
        "Bash(python3:*)",
        "Bash(python3.12 *)",
        "Bash(node -e:*)",
        "Bash(env:*)",
        "Bash(sudo:*)",
        "Bash(xargs:*)",
        "Bash(git:*)",
        "Bash(npm run:*)",
        "Bash(npm:*)",
        "Bash(npx:*)",
        "Bash(docker exec:*)",
        "Bash(rm:*)",
        "Bash(ls*)",
        "Bash(* --help)",
        "Bash(make:*)",
        "Bash(cargo run:*)",
        "Bash(cargo:*)",
        "Read",
        "Edit",
        "Edit(**)",
        "Edit(//**)",
        "Edit(~/**)",
        "WebFetch",
        "WebFetch(domain:*.com)",
        "WebFetch(domain:example.*)",
        "mcp__server",
        "mcp__server__*",
        "*",
    ] {
        assert!(too_broad(&Rule::parse(text).unwrap()).is_some(), "{text}");
    }
    let reason = |text| too_broad(&Rule::parse(text).unwrap());
    assert_eq!(reason("Bash(*)"), Some("it covers every command"));
    assert_eq!(reason("Bash(* --help)"), Some("it covers every program"));
    assert_eq!(
        reason("Bash(ls*)"),
        Some("without a blank before the `*` it also covers other programs")
    );
    for text in [
        "Bash(ls:*)",
        "Bash(git status:*)",
        "Bash(npm run build:*)",
        "Bash(npm test:*)",
        "Bash(cargo test:*)",
        "Bash(python3 x.py)",
        "Bash(git log * main)",
        "Edit(src/**)",
        "WebFetch(domain:example.com)",
        "WebFetch(domain:*.example.com)",
        "mcp__server__tool",
        "Agent(Explore)",
        "WebSearch",
    ] {
        assert_eq!(too_broad(&Rule::parse(text).unwrap()), None, "{text}");
    }
}

/// Kind, rules and whether they would allow the call.
fn offered(check: &checker::Check) -> Vec<(SuggestionKind, Vec<String>, bool)> {
    let suggestions = suggest(&check.call()).into_iter();
    suggestions
        .map(|one| {
            let rules = one.rules.iter().map(ToString::to_string).collect();
            (one.kind, rules, one.allows)
        })
        .collect()
}

#[track_caller]
fn offers(check: &checker::Check, expected: &[(SuggestionKind, &[&str], bool)]) {
    let expected: Vec<_> = expected
        .iter()
        .map(|(kind, rules, allows)| {
            let rules: Vec<String> = rules.iter().map(|rule| (*rule).to_owned()).collect();
            (*kind, rules, *allows)
        })
        .collect();
    assert_eq!(offered(check), expected);
}

#[test]
fn commands_are_offered_exactly_and_by_prefix() {
    use SuggestionKind::{Exact, Prefix, Tool};
    offers(
        &bash("npm run build && ls -la | head -5"),
        &[
            (
                Exact,
                &["Bash(npm run build)", "Bash(ls -la)", "Bash(head -5)"],
                true,
            ),
            (
                Prefix,
                &["Bash(npm run build:*)", "Bash(ls:*)", "Bash(head:*)"],
                true,
            ),
            (Tool, &["Bash"], true),
        ],
    );
    offers(
        &bash("find . -name '*.rs' -delete"),
        &[
            (Exact, &["Bash(find . -name '\\*.rs' -delete)"], true),
            (Prefix, &["Bash(find:*)"], false),
            (Tool, &["Bash"], false),
        ],
    );
    offers(
        &bash("echo $HOME > x"),
        &[
            (Exact, &["Bash(echo $HOME > x)"], false),
            (Tool, &["Bash"], false),
        ],
    );
    bash("echo $HOME > x").deny("Bash(echo $HOME > x)").denies();
}

#[test]
fn more_than_five_parts_are_not_offered() {
    let kinds: Vec<_> = offered(&bash("a; b; c; d; e; f"))
        .into_iter()
        .map(|one| one.0)
        .collect();
    assert_eq!(kinds, [SuggestionKind::Tool]);
    let rules = offered(&bash("ls a; ls b; ls c; ls d; ls e; ls f"))
        .remove(0)
        .1;
    assert_eq!(rules, ["Bash(ls:*)"]);
}

#[test]
fn files_are_offered_with_their_folder() {
    use SuggestionKind::{Exact, Folder, Tool};
    offers(
        &call(
            "Write",
            json!({"file_path": "/w/proj/[2024-06] Reports/a*b{1}"}),
        ),
        &[
            (
                Exact,
                &["Edit(./\\[2024-06\\]\\ Reports/a\\*b\\{1\\})"],
                true,
            ),
            (Folder, &["Edit(./\\[2024-06\\]\\ Reports/**)"], true),
            (Tool, &["Write"], true),
        ],
    );
    offers(
        &call("Read", json!({"file_path": "/etc/hosts"})),
        &[
            (Exact, &["Read(//etc/hosts)"], true),
            (Folder, &["Read(//etc/**)"], true),
            (Tool, &["Read"], true),
        ],
    );
    offers(
        &call("Edit", json!({"file_path": "/w/proj/.git/config"})),
        &[
            (Exact, &["Edit(./.git/config)"], false),
            (Folder, &["Edit(./.git/**)"], false),
            (Tool, &["Edit"], false),
        ],
    );
}

#[test]
fn a_generated_path_rule_matches_only_itself() {
    let rule = "Edit(./\\[2024-06\\]\\ Reports/a\\*b\\{1\\})";
    for path in [
        "0 Reports/a*b{1}",
        "[2024-06] Reports/axb{1}",
        "[2024-06] Reports/a*b1",
        "x/[2024-06] Reports/a*b{1}",
    ] {
        call("Edit", json!({ "file_path": format!("/w/proj/{path}") }))
            .allow(rule)
            .asks();
    }
    call("Edit", json!({"file_path": "/w/proj/x/a.rs"}))
        .allow("Edit(./a.rs)")
        .asks();
    call("Edit", json!({"file_path": "/w/proj/a.rs"}))
        .allow("Edit(./a.rs)")
        .allows();
    call("Edit", json!({"file_path": "/w/proj/a.rs"}))
        .allow("Edit({a,b}.rs)")
        .asks();
}

#[test]
fn other_tools_are_offered_by_what_they_name() {
    use SuggestionKind::{Agent, Domain, Server, Tool};
    offers(
        &call("WebFetch", json!({"url": "https://docs.example.com/a"})),
        &[
            (Domain, &["WebFetch(domain:docs.example.com)"], true),
            (Tool, &["WebFetch"], true),
        ],
    );
    offers(
        &call("mcp__gh__get_x", json!({})),
        &[
            (Tool, &["mcp__gh__get_x"], true),
            (Server, &["mcp__gh"], true),
        ],
    );
    offers(
        &call("Agent", json!({"subagent_type": "Explore"})),
        &[(Agent, &["Agent(Explore)"], true), (Tool, &["Agent"], true)],
    );
    offers(
        &call("Invented__tool", json!({})),
        &[(Tool, &["Invented__tool"], true)],
    );
}

#[test]
fn settings_go_both_ways() {
    let settings = json!({
        "permissions": {
            "allow": ["Bash(ls:*)", "Write(src/**)", 7],
            "ask": [],
            "deny": ["Read(.env)"],
        }
    });
    let imported = import(&settings);
    let texts: Vec<_> = imported
        .rules
        .iter()
        .map(|(effect, rule)| (*effect, rule.as_str()))
        .collect();
    assert_eq!(
        texts,
        [
            (Decision::Allow, "Bash(ls:*)"),
            (Decision::Deny, "Read(.env)")
        ]
    );
    let refused: Vec<_> = imported
        .refused
        .iter()
        .map(|one| one.text.as_str())
        .collect();
    assert_eq!(refused, ["Write(src/**)", "7"]);
    assert_eq!(
        export(imported.rules.iter().map(|(effect, rule)| (*effect, rule))),
        json!({"permissions": {"allow": ["Bash(ls:*)"], "ask": [], "deny": ["Read(.env)"]}})
    );
    assert_eq!(import(&json!([])), import(&json!({"permissions": 3})));
}

#[test]
fn the_paths_of_a_call_are_told() {
    let paths = |check: checker::Check| sayso_policy::path::mentioned(&check.call());
    assert_eq!(
        paths(call("Edit", json!({"file_path": "src/../a"}))),
        ["/w/proj", "/w/proj/src/../a"]
    );
    assert_eq!(
        paths(bash("cat -n a > ~/b && echo $x")),
        ["/w/proj", "/w/proj/a", "/home/u/b"]
    );
    let long = "x".repeat(5_000);
    for path in ["a\0b", &long] {
        assert_eq!(
            paths(call("Edit", json!({ "file_path": path }))),
            ["/w/proj"]
        );
    }
}
