//! How long a decision takes: 1,000 rules, everyday commands, hostile ones.

#![expect(
    clippy::expect_used,
    reason = "a rule that cannot be parsed stops the benchmark"
)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use sayso_policy::{
    Decision, Entry, Rule, RuleId, Rules, Source, ToolCall, evaluate, path, risk, shell,
};
use serde_json::{Value, json};

/// What people have: mostly prefixes, some patterns, some paths and hosts.
fn thousand_rules() -> Rules {
    let effects = [
        Decision::Allow,
        Decision::Allow,
        Decision::Allow,
        Decision::Deny,
        Decision::Ask,
    ];
    let entries = (0..1_000).map(|number| {
        let text = match number % 10 {
            0..=3 => format!("Bash(tool{number} run:*)"),
            4 => format!("Bash(tool{number} build --all)"),
            5 => format!("Bash(tool{number} * --flag)"),
            6 => format!("Edit(folder{number}/**)"),
            7 => format!("Read(~/private{number}/*.key)"),
            8 => format!("WebFetch(domain:host{number}.example.com)"),
            _ => format!("mcp__server{number}__get_*"),
        };
        entry(&text, effects[number % effects.len()])
    });
    let everyday = ["Bash(cargo test:*)", "Bash(tail:*)", "Bash(git status:*)"];
    let everyday = everyday.map(|text| entry(text, Decision::Allow));
    Rules::new(entries.chain(everyday))
}

fn entry(text: &str, effect: Decision) -> Entry {
    Entry {
        id: RuleId::new(text),
        effect,
        rule: Rule::parse(text).expect(text),
        source: Source::Project,
    }
}

fn call<'a>(tool_name: &'a str, input: &'a Value) -> ToolCall<'a> {
    ToolCall {
        tool_name,
        input,
        cwd: "/home/u/project",
        home: "/home/u",
        project_root: "/home/u/project",
        links: &[],
    }
}

fn decisions(criterion: &mut Criterion) {
    let rules = thousand_rules();
    let mut group = criterion.benchmark_group("1,000 rules");
    let inputs = [
        ("simple command", "Bash", json!({ "command": "git status" })),
        (
            "compound command",
            "Bash",
            json!({ "command": "cargo test --workspace --locked 2>&1 | tail -20" }),
        ),
        (
            "uncovered command",
            "Bash",
            json!({ "command": "cd src && for f in *.rs; do echo \"$f\"; done" }),
        ),
        (
            "edit",
            "Edit",
            json!({ "file_path": "/home/u/project/src/a/b.rs" }),
        ),
        (
            "fetch",
            "WebFetch",
            json!({ "url": "https://host8.example.com/x" }),
        ),
    ];
    for (name, tool, input) in &inputs {
        let call = call(tool, input);
        group.bench_function(*name, |bencher| {
            bencher.iter(|| evaluate(black_box(&rules), black_box(&call)));
        });
    }
    group.finish();
}

fn risks(criterion: &mut Criterion) {
    let input = json!({ "command": "cargo test --workspace --locked 2>&1 | tail -20" });
    let call = call("Bash", &input);
    criterion.bench_function("risk", |bencher| {
        bencher.iter(|| risk::read(black_box(&call)));
    });
}

fn hostile(criterion: &mut Criterion) {
    let rules = thousand_rules();
    let mut group = criterion.benchmark_group("hostile");
    group.sample_size(10);
    let many = "tool3 x; ".repeat(10_000);
    let deep = format!("{}ls{}", "(".repeat(500), ")".repeat(500));
    let units = [
        "'",
        "\"",
        "`",
        "(",
        "$(",
        "a;",
        "true; ",
        "<<a\n",
        "<<a ",
        "@()",
        "$((",
        "case x in ",
        "eval ",
        "sudo ",
        "bash -c a ",
    ];
    let long = units.map(|unit| {
        (
            format!("1 MiB of {unit:?}"),
            unit.repeat(1024 * 1024 / unit.len()),
        )
    });
    let short = units.map(|unit| {
        (
            format!("10,000 of {unit:?}"),
            unit.repeat(10_000 / unit.len()),
        )
    });
    let named = [
        ("10,000 parts".to_owned(), many),
        ("500 deep".to_owned(), deep),
    ];
    for (name, command) in named.into_iter().chain(long).chain(short) {
        let input = json!({ "command": command });
        let call = call("Bash", &input);
        group.bench_function(&name, |bencher| {
            bencher.iter(|| evaluate(black_box(&rules), black_box(&call)));
        });
    }
    group.finish();
}

/// Rules that have to be held against every command, and commands that begin
/// like a rule without fitting it.
fn hostile_to_rules(criterion: &mut Criterion) {
    let texts = [
        "Bash(* --force)",
        "Bash(a b c)",
        "Bash(a * --flag)",
        "Read(private/**)",
        "Edit(private/**)",
    ];
    let rules = Rules::new(texts.map(|text| entry(text, Decision::Deny)));
    let mut group = criterion.benchmark_group("hostile to its rules");
    group.sample_size(10);
    for unit in [
        "a;", "a b;", "./a;", "'a;';", "a=1 b;", "cat a;", ">a;", "rm a b;", "$(", "sh -c a;",
    ] {
        let command = unit.repeat(1024 * 1024 / unit.len());
        let input = json!({ "command": command });
        let call = call("Bash", &input);
        group.bench_function(format!("1 MiB of {unit:?}"), |bencher| {
            bencher.iter(|| evaluate(black_box(&rules), black_box(&call)));
        });
    }
    group.finish();
}

/// Everything else that is done for a card before a human sees it.
fn hostile_beside_rules(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("hostile beside its rules");
    group.sample_size(10);
    for unit in ["a;", "rm a;", "cat a b;", "$(", "<<a\n"] {
        let command = unit.repeat(1024 * 1024 / unit.len());
        let input = json!({ "command": command });
        let call = call("Bash", &input);
        group.bench_function(format!("risk of 1 MiB of {unit:?}"), |bencher| {
            bencher.iter(|| risk::read(black_box(&call)));
        });
        group.bench_function(format!("paths in 1 MiB of {unit:?}"), |bencher| {
            bencher.iter(|| path::mentioned(black_box(&call)));
        });
    }
    group.finish();
}

fn breaks(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("breaks");
    group.sample_size(10);
    for unit in [
        "a && b; ", "'", "(", "a=(b ", "[].. ", "then | ", "<<a\n", "while ;;",
    ] {
        let command = unit.repeat(32 * 1024 / unit.len());
        group.bench_function(format!("32 KiB of {unit:?}"), |bencher| {
            bencher.iter(|| shell::breaks(black_box(&command)));
        });
    }
    group.finish();
}

criterion_group!(
    benches,
    decisions,
    risks,
    hostile,
    hostile_to_rules,
    hostile_beside_rules,
    breaks
);
criterion_main!(benches);
