//! Input that is made to be too much: the work stays bounded, nothing panics,
//! and a deny rule still denies.

mod checker;

use checker::{bash, call};
use sayso_policy::{risk, shell, suggest};
use serde_json::json;

fn nested(open: &str, inner: &str, close: &str, depth: usize) -> String {
    format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
}

/// All ways into the crate, for one command.
fn read_all(command: &str) {
    let check = bash(command)
        .allow("Bash")
        .deny("Bash(never:*)")
        .deny("Read(never/**)");
    check.evaluate();
    risk::read(&check.call());
    suggest(&check.call());
    shell::breaks(command);
}

#[test]
fn a_deny_on_the_last_of_many_parts_still_denies() {
    for count in [61, 10_000] {
        let command = format!("{}git push", "true; ".repeat(count));
        bash(&command)
            .allow("Bash")
            .deny("Bash(git push:*)")
            .denies();
        bash(&command).allow("Bash").ask("Bash(git push:*)").asks();
        bash(&command).allow("Bash").asks();
    }
}

#[test]
fn a_deny_holds_at_any_depth_that_is_read() {
    for (open, close) in [
        ("(", ")"),
        ("$(", ")"),
        ("\"$(", ")\""),
        ("{ ", ";}"),
        ("if true; then ", "; fi"),
    ] {
        let command = nested(open, "git push", close, 500);
        bash(&command)
            .allow("Bash")
            .deny("Bash(git push:*)")
            .denies();
    }
    let command = nested("(", "git push", ")", 100_000);
    bash(&command)
        .allow("Bash")
        .deny("Bash(git push:*)")
        .denies();
}

#[test]
fn wrappers_around_wrappers() {
    let command = format!("{}git push", "sudo ".repeat(7));
    bash(&command)
        .allow("Bash")
        .deny("Bash(git push:*)")
        .denies();
    let command = format!("{}git push", "sudo ".repeat(10_000));
    bash(&command).allow("Bash").deny("Bash(git push:*)").asks();
}

#[test]
fn a_megabyte_of_anything() {
    let megabyte = 1024 * 1024;
    for unit in [
        "'",
        "\"",
        "`",
        "(",
        "$(",
        "${",
        "a;",
        "<<a\n",
        "<<a ",
        "@()",
        "$((",
        "case x in ",
        "eval ",
        "sudo ",
        "\0",
    ] {
        let command = unit.repeat(megabyte / unit.len());
        bash(&command).allow("Bash").asks();
        bash(&command)
            .allow("Bash")
            .deny("Bash(never:*)")
            .deny("Read(never/**)")
            .asks();
    }
}

#[test]
fn thousands_of_anything() {
    for unit in [
        "'",
        "\"",
        "`",
        "(",
        ")",
        "$(",
        "${",
        "a ",
        "a;",
        "a && ",
        "a | ",
        "<<a\n",
        "<(",
        "a=(",
        "\\",
        "{",
        "if a; then ",
        "case x in x) ",
        "\"$(",
        "[[ ",
        "((",
        "a 'b' ",
        "f() {",
        "&",
        "!",
        "<<<",
        "$'\\x41",
        "bash -c 'a' ",
        ">x ",
        "#",
        "\n",
        "é",
    ] {
        read_all(&unit.repeat(4_000 / unit.len()));
    }
}

/// The grammar's scanner once crashed on these.
#[test]
fn characters_beyond_ascii() {
    for character in ['\u{e9}', '\u{65e5}', '\u{1f574}', '\u{31860}', '\u{10ffff}'] {
        for frame in [
            "{X", "${X", "$X", "X=1", "<<X\n", "{X..Y}", "X", "((X", "[[ X", "a{1..X}",
        ] {
            read_all(&frame.replace('X', &character.to_string()));
        }
    }
}

#[test]
fn deep_and_long_paths() {
    let deep = format!("/w/proj/{}x", "a/".repeat(100_000));
    call("Edit", json!({ "file_path": &deep }))
        .allow("Edit(**)")
        .asks();
    call("Edit", json!({ "file_path": deep }))
        .allow("Edit(**)")
        .deny("Read(never)")
        .asks();
    let files = format!("cat {}", "a ".repeat(4_900)) + "a";
    bash(&files).allow("Bash(cat:*)").allows();
    bash(&files).allow("Bash(cat:*)").deny("Read(never)").asks();
    let files = "cat a a a a ".repeat(80_000);
    bash(&files).deny("Read(never)").asks();
    let long = format!("/w/proj/{}", "a".repeat(300));
    call("Edit", json!({ "file_path": long }))
        .allow("Edit(**)")
        .asks();
}

#[test]
fn deep_json() {
    let mut input = json!({});
    for _ in 0..100 {
        input = json!({ "command": input });
    }
    call("Bash", input).allow("Bash").asks();
}
