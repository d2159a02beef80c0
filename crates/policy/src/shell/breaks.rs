//! Where a reader may be shown a new line.

use tree_sitter::{Node, TreeCursor};

use super::parse::parse;

/// Byte offsets at which `command` may be broken so that each sub-command
/// stands on its own line: after an operator and the blanks behind it.
///
/// Ascending; never where a new line is already, never inside quotes, heredocs
/// or substitutions. Empty for a simple command, and for one that does not
/// parse.
pub fn breaks(command: &str) -> Vec<usize> {
    let Some(tree) = parse(command) else {
        return Vec::new();
    };
    if tree.root_node().has_error() {
        return Vec::new();
    }
    let mut offsets = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if is_separator(node) {
            offsets.extend(break_after(command, node.end_byte()));
        }
        if holds_statements(node) && cursor.goto_first_child() {
            continue;
        }
        if !goto_next(&mut cursor) {
            return offsets;
        }
    }
}

fn goto_next(cursor: &mut TreeCursor<'_>) -> bool {
    while !cursor.goto_next_sibling() {
        if !cursor.goto_parent() {
            return false;
        }
    }
    true
}

fn is_separator(node: Node<'_>) -> bool {
    let in_loop_header = node
        .parent()
        .is_some_and(|parent| parent.kind() == "c_style_for_statement");
    !in_loop_header && matches!(node.kind(), "&&" | "||" | "|" | "|&" | ";" | "&")
}

fn holds_statements(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "program"
            | "list"
            | "pipeline"
            | "redirected_statement"
            | "negated_command"
            | "subshell"
            | "compound_statement"
            | "function_definition"
            | "if_statement"
            | "elif_clause"
            | "else_clause"
            | "for_statement"
            | "c_style_for_statement"
            | "while_statement"
            | "do_group"
            | "case_statement"
            | "case_item"
    )
}

/// The end of the blanks after an operator, unless the line ends there anyway.
fn break_after(command: &str, operator_end: usize) -> Option<usize> {
    let rest = command.get(operator_end..)?;
    let next = rest.trim_start_matches([' ', '\t']);
    let line_ends = ["\n", "\r\n", "\\\n", "#"]
        .iter()
        .any(|start| next.starts_with(start));
    if next.is_empty() || line_ends {
        None
    } else {
        Some(command.len() - next.len())
    }
}

#[cfg(test)]
mod tests {
    use super::breaks;

    /// The command as it would be shown, one line per element.
    fn lines(command: &str) -> Vec<&str> {
        let mut lines = Vec::new();
        let mut start = 0;
        for offset in breaks(command) {
            lines.push(&command[start..offset]);
            start = offset;
        }
        lines.push(&command[start..]);
        lines
    }

    #[test]
    fn a_simple_command_has_none() {
        for command in ["ls", "ls -la src", "echo 'a; b && c'", "", "   "] {
            assert!(breaks(command).is_empty(), "{command}");
        }
    }

    #[test]
    fn every_operator_breaks_after_its_blanks() {
        assert_eq!(
            lines("a && b || c | d |& e;   f & g;h"),
            [
                "a && ", "b || ", "c | ", "d |& ", "e;   ", "f & ", "g;", "h"
            ]
        );
    }

    #[test]
    fn bodies_count_too() {
        assert_eq!(lines("(a; b) && c"), ["(a; ", "b) && ", "c"]);
        assert_eq!(lines("{ a; b; }"), ["{ a; ", "b; ", "}"]);
        assert_eq!(
            lines("for i in 1 2; do a; b; done"),
            ["for i in 1 2; ", "do a; ", "b; ", "done"]
        );
        assert_eq!(
            lines("if a; then b | c; else d; fi"),
            ["if a; ", "then b | ", "c; ", "else d; ", "fi"]
        );
        assert_eq!(lines("f() { a; b; }; f"), ["f() { a; ", "b; ", "}; ", "f"]);
    }

    #[test]
    fn quotes_substitutions_and_heredocs_stay_whole() {
        assert_eq!(
            lines("echo \"a; $(b; c)\" && d"),
            ["echo \"a; $(b; c)\" && ", "d"]
        );
        assert_eq!(lines("echo `a; b`; c"), ["echo `a; b`; ", "c"]);
        assert_eq!(lines("diff <(a; b) <(c | d)"), ["diff <(a; b) <(c | d)"]);
        assert!(breaks("cat <<EOF | sh\na; b && c\nEOF").is_empty());
        assert_eq!(
            lines("for ((i=0; i<3; i++)); do a; done"),
            ["for ((i=0; i<3; i++)); do a; ", "done"]
        );
    }

    #[test]
    fn a_line_that_ends_anyway_is_not_broken() {
        assert!(breaks("a &&\nb;\nc").is_empty());
        assert!(breaks("a && \\\n  b").is_empty());
        assert!(breaks("a; # and then\nb").is_empty());
        assert!(breaks("a;").is_empty());
        assert!(breaks("a & ").is_empty());
    }

    #[test]
    fn a_redirect_is_no_separator() {
        assert!(breaks("a 2>&1 >/dev/null").is_empty());
        assert_eq!(lines("a 2>&1 | b &> c"), ["a 2>&1 | ", "b &> c"]);
    }

    #[test]
    fn what_does_not_parse_has_none() {
        for command in ["a && b &&", "; a", "a; (b", "echo 'a; b"] {
            assert!(breaks(command).is_empty(), "{command}");
        }
        assert!(breaks(&"a; ".repeat(30_000)).is_empty());
    }

    #[test]
    fn what_is_too_long_or_too_hard_has_none() {
        let long = |length: usize| format!("a;{}", "b".repeat(length - 2));
        assert_eq!(breaks(&long(32 * 1024)), [2]);
        assert!(breaks(&long(32 * 1024 + 1)).is_empty());
        let heredocs = |count: usize| format!("a '{}';b", "<<".repeat(count));
        assert_eq!(breaks(&heredocs(20)).len(), 1);
        assert!(breaks(&heredocs(21)).is_empty());
        assert_eq!(breaks(&vec!["a b"; 400].join("; ")).len(), 399);
    }

    #[test]
    fn deep_nesting_is_walked_without_recursion() {
        let command = format!("{}a; b{}", "(".repeat(500), ")".repeat(500));
        assert!(breaks(&command).len() <= 1);
    }
}
