//! Where the bounds are: the last size that is still read, and the first that
//! is not. `hostile.rs` shows that what lies beyond them does no harm.

mod checker;

use checker::{bash, call};
use pretty_assertions::assert_eq;
use sayso_policy::risk::{self, RiskKind};
use sayso_policy::{Decision, RuleId};
use serde_json::json;

#[test]
fn characters_and_parts_of_what_is_allowed() {
    for (length, decision) in [(9_997, Decision::Allow), (9_998, Decision::Ask)] {
        for letter in ["x", "日"] {
            let command = format!("ls {}", letter.repeat(length));
            let evaluation = bash(&command).allow("Bash(ls:*)").evaluate();
            assert_eq!(evaluation.decision, decision, "{length} of {letter}");
        }
    }
    bash(&vec!["ls"; 50].join("; "))
        .allow("Bash(ls:*)")
        .allows();
    bash(&vec!["ls"; 51].join("; ")).allow("Bash(ls:*)").asks();
}

#[test]
fn bytes_of_what_is_read_to_be_denied() {
    let command = |length: usize| "x".repeat(length);
    let megabyte = 1024 * 1024;
    bash(&command(megabyte)).deny("Bash(git push:*)").asks();
    let beyond = command(megabyte + 1);
    for rule in [
        "Bash",
        "Bash(git push)",
        "Bash(git push:*)",
        "Bash(git * x)",
        "Bash(* x)",
    ] {
        let denied = bash(&beyond).deny(rule).allow("Bash").denies();
        assert_eq!(denied.matched, [RuleId::new(rule)]);
        let asked = bash(&beyond).ask(rule).allow("Bash").asks();
        assert_eq!(asked.matched, [RuleId::new(rule)]);
    }
    assert_eq!(
        bash(&beyond).allow("Bash").asks().explanation,
        "the command is too long to be read; the command is longer than 10000 characters."
    );
}

#[test]
fn a_denied_command_is_not_read_to_its_end() {
    let evaluation = bash(&format!("{}rm x", "git push; ".repeat(200)))
        .deny("Bash(git push:*)")
        .deny("Bash(rm:*)")
        .denies();
    assert_eq!(evaluation.matched, [RuleId::new("Bash(git push:*)")]);
}

#[test]
fn bytes_of_a_path() {
    let path = |length: usize| format!("secrets/{}", "a/".repeat(length))[..length].to_owned();
    let read = |path: String| call("Read", json!({ "file_path": path }));
    read(path(4_096)).deny("Read(secrets/**)").denies();
    read(path(4_096)).allow("Read(secrets/**)").allows();
    read(path(4_097)).deny("Read(secrets/**)").asks();
    read(path(4_097)).allow("Read(secrets/**)").asks();
    let name = |length: usize| "a".repeat(length);
    read(name(255)).allow("Read(a*)").allows();
    read(name(256)).allow("Read(a*)").asks();
}

#[test]
fn files_that_are_looked_up() {
    let cat = |count: usize| bash(&format!("cat{}", " a".repeat(count))).allow("Bash(cat:*)");
    cat(2_000).deny("Read(never)").allows();
    cat(2_001).deny("Read(never)").asks();
    cat(2_001).allows();
    let last = |count: usize| format!("cat{} secret", " a".repeat(count));
    bash(&last(1_999)).deny("Read(secret)").denies();
}

#[test]
fn wrappers_in_wrappers() {
    for wrapper in ["sudo ", "eval "] {
        let command = |depth: usize| format!("{}git push", wrapper.repeat(depth));
        bash(&command(8)).deny("Bash(git push:*)").denies();
        bash(&command(9)).deny("Bash(git push:*)").asks();
        let unread = |depth: usize| {
            let risks = risk::read(&bash(&command(depth)).call());
            risks.iter().any(|risk| risk.kind == RiskKind::Unknown)
        };
        assert!(!unread(8) && unread(9), "{wrapper}");
    }
}

#[test]
fn bytes_that_wrappers_run() {
    let script = |length: usize| format!("sh -c '#{}\ngit push'", "x".repeat(length));
    bash(&script(200_000)).deny("Bash(git push:*)").denies();
    bash(&script(300_000)).deny("Bash(git push:*)").asks();
    let scripts = |count: usize| format!("{}sudo git push", "sudo x; ".repeat(count));
    bash(&scripts(50_000)).deny("Bash(git push:*)").denies();
    bash(&scripts(60_000)).deny("Bash(git push:*)").asks();
    // What no wrapper runs does not count.
    let command = format!("echo {}; sudo git push", "x".repeat(300_000));
    bash(&command).deny("Bash(git push:*)").denies();
}

#[test]
fn nesting_that_is_read_flat() {
    for depth in [1, 98, 99, 100, 101, 150] {
        for (open, close) in [("(", ")"), ("$(", ")"), ("\"$(", ")\""), ("${x:-$(", ")}")] {
            let command = format!("echo {}git push{}", open.repeat(depth), close.repeat(depth));
            bash(&command).deny("Bash(git push:*)").denies();
        }
    }
}
