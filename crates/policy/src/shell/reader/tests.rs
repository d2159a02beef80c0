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
    check("a ${b:-\"}\"} c", &["a ${b:-}} c"]);
    check("a \"b\\\nc\"", &["a bc"]);
    check("a \\", &["a '\\'"]);
    check("$\"ls\" \"b$\"", &["ls 'b$'"]);
    check("a $. $b_c.d", &["a '$.' $b_c.d"]);
    check(
        "$'\\u006cs' $'\\U0000006cs' $'\\154s' $'\\x9b'",
        &["ls ls ls '\u{9b}'"],
    );
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
    check("case x in a) b; esac; c", &["b", "c"]);
    check("f() { a; }; function g { b; }", &["f", "a", "b"]);
    check("[[ a < b && c > d ]] && e", &["[[ a b c d ]]", "e"]);
}

#[test]
fn redirects() {
    check(
        "a >b 2>>c <d 2>&1 &>e {f}>g >|h <<<i",
        &["a write:b append:c read:d duplicate:1 write:e write:g write:h here:i"],
    );
    check("a &>>b", &["a append:b"]);
    check("a '2'>b", &["a 2 write:b"]);
    check("a {b>c", &["a {b write:c"]);
    check("a b}>c", &["a b} write:c"]);
    check("a {$b}>c", &["a {$b} write:c"]);
}

#[test]
fn heredocs_belong_to_their_command() {
    check(
        "a <<X | b; c\nd $(e)\nX\nf",
        &["a here:d $(e)\n", "| b", "c", "e", "f"],
    );
    check("a <<-'X'\n\t$(b)\n\tX\nc", &["a here:\t$(b)\n", "c"]);
    check("a <<X\n5\" $(b)\nX", &["a here:5\" $(b)\n", "b"]);
}

#[test]
fn assignments_and_values() {
    check("A=1 B=$(c) d e=f", &["c", "A=1 B=$() d e=f"]);
    check("a=(b c) d", &["a= d"]);
}

#[test]
fn what_is_not_closed_is_not_complete() {
    for text in [
        "'a", "$'a", "\"a", "$(a", "`a", "${a", "(a", "a)", "a <<X\nb", "a <<X", "[[ a",
    ] {
        assert!(!read(text).complete, "{text}");
    }
}

/// A unit of text and how many signs it holds.
#[test]
fn more_signs_than_a_human_would_follow_are_not_complete() {
    for (unit, signs) in [
        ("a b ", 0),
        ("a;", 1),
        ("-a ", 1),
        ("@a ", 1),
        ("a@b ", 1),
        ("a=@ ", 2),
        ("'a=@' ", 1),
        ("\"a\" ", 1),
        ("\"$a\" ", 2),
        ("\"`a`\" ", 3),
    ] {
        let most = 800_usize.checked_div(signs).unwrap_or(2_000);
        let text = unit.repeat(most);
        let text = format!("{text}{}", "-b ".repeat(800 - signs * most));
        assert!(read(&text).complete, "{unit}");
        assert!(!read(&format!("{text}-b")).complete, "{unit}");
    }
}

#[test]
fn too_many_commands_on_a_line_lose_their_heredoc() {
    let read_with = |count: usize| read(&format!("a <<X;{}\nb\nX", "c;".repeat(count))).commands;
    assert_eq!(shown(&read_with(999)[0]), "a here:b\n");
    assert_eq!(shown(&read_with(1_000)[0]), "a");
}

#[test]
fn heredocs_in_heredocs_are_read_to_a_depth() {
    let nested = |depth: usize| {
        (0..depth).fold("a".to_owned(), |inner, level| {
            format!("cat <<X{level}\n$({inner}\n)\nX{level}")
        })
    };
    assert!(read(&nested(4)).complete);
    assert_eq!(shown(&read(&nested(4)).commands[4]), "a");
    assert!(!read(&nested(5)).complete);
}
