//! What is found, written as one line for each command.

use super::super::command::{Command, RedirectKind};
use super::read;

/// `name:text` for each redirect, `|` in front of a piped command.
fn shown(command: &Command) -> String {
    let mut text = command.text();
    if command.piped {
        text.insert_str(0, "| ");
    }
    for redirect in &command.redirects {
        let kind = match redirect.kind {
            RedirectKind::Read => "read",
            RedirectKind::Write => "write",
            RedirectKind::Append => "append",
            RedirectKind::Duplicate => "duplicate",
            RedirectKind::HereText => "here",
        };
        text.push_str(&format!(" {kind}:{}", redirect.target.text));
    }
    text
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let reading = read(text);
    let commands: Vec<String> = reading.commands.iter().map(shown).collect();
    assert_eq!(commands, expected, "{text}");
    assert!(reading.complete, "{text}");
}

#[test]
fn operators_separate() {
    check(
        "a; b && c || d | e |& f & g\nh",
        &["a", "b", "c", "d", "| e", "| f", "g", "h"],
    );
}

#[test]
fn quotes_are_removed() {
    check(
        "a 'b c' \"d e\" f\\ g h'i'\"j\"",
        &["a 'b c' 'd e' 'f g' hij"],
    );
    check("$'\\x6cs' $'a\\'b'", &["ls 'a'\\''b'"]);
    check("l\\\ns", &["ls"]);
    check("a \"\\$b \\c\"", &["a '$b \\c'"]);
}

#[test]
fn substitutions_come_before_what_they_stand_in() {
    check(
        "a $(b `c`) \"${d:-$(e)}\" <(f)",
        &["c", "b $()", "e", "f", "a $() ${d:-$()} <"],
    );
}

#[test]
fn control_words_are_no_commands() {
    check(
        "if a; then b; elif c; then d; else e; fi",
        &["a", "b", "c", "d", "e"],
    );
    check("for x in a b; do c $x; done > o", &["c $x", " write:o"]);
    check("while ! a; do b; done", &["a", "b"]);
    check("case x in a|b) c;; (d) e;; esac; f", &["c", "e", "f"]);
    check("f() { a; }; function g { b; }", &["f", "a", "b"]);
    check("[[ a < b && c > d ]] && e", &["[[ a b c d ]]", "e"]);
}

#[test]
fn redirects() {
    check(
        "a >b 2>>c <d 2>&1 &>e {f}>g >|h <<<i",
        &["a write:b append:c read:d duplicate:1 write:e write:g write:h here:i"],
    );
}

#[test]
fn heredocs_belong_to_their_command() {
    check(
        "a <<X | b; c\nd $(e)\nX\nf",
        &["a here:d $(e)\n", "| b", "c", "e", "f"],
    );
    check("a <<-'X'\n\t$(b)\n\tX\nc", &["a here:\t$(b)\n", "c"]);
}

#[test]
fn assignments_and_values() {
    check("A=1 B=$(c) d e=f", &["c", "A=1 B=$() d e=f"]);
    check("a=(b c) d", &["a= d"]);
}

#[test]
fn what_is_not_closed_is_not_complete() {
    for text in [
        "'a", "\"a", "$(a", "`a", "${a", "(a", "a)", "a <<X\nb", "[[ a",
    ] {
        assert!(!read(text).complete, "{text}");
    }
}
