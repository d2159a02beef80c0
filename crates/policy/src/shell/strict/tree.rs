//! From the grammar's tree to commands.

use std::iter;

use tree_sitter::{Node, Tree};

use super::words::{plain_word, variable_value};
use super::{Assignment, NotUnderstood, Plain};

/// Without recursion: the grammar nests one level for each operator.
pub(super) fn commands<'a>(command: &'a str, tree: &Tree) -> Result<Vec<Plain<'a>>, NotUnderstood> {
    let mut walk = Walk {
        command,
        found: Vec::new(),
    };
    let mut ahead = vec![(tree.root_node(), Input::Own)];
    while let Some((node, input)) = ahead.pop() {
        let inner = walk.statement(node, input)?;
        ahead.extend(inner.into_iter().rev());
    }
    Ok(walk.found)
}

/// What the shell reads as its own where a program could stand, though the grammar takes some of them for
/// programs. `time` is not here: what it runs is looked at.
const RESERVED: [&str; 21] = [
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "until", "while", "{", "}",
];

/// The statements in a node, in the order in which they are written.
type Inner<'tree> = Vec<(Node<'tree>, Input)>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Input {
    Own,
    Piped,
}

struct Walk<'a> {
    command: &'a str,
    found: Vec<Plain<'a>>,
}

impl<'a> Walk<'a> {
    fn source(&self, node: Node<'_>) -> &'a str {
        self.command.get(node.byte_range()).unwrap_or_default()
    }

    fn not_literal(&self, node: Node<'_>) -> NotUnderstood {
        NotUnderstood::NotLiteral(self.source(node).to_owned())
    }

    fn statement<'tree>(
        &mut self,
        node: Node<'tree>,
        input: Input,
    ) -> Result<Inner<'tree>, NotUnderstood> {
        match node.kind() {
            "program" | "list" => self.statements(node, input),
            "pipeline" => self.pipeline(node, input),
            "redirected_statement" => self.redirected(node, input),
            "command" => self.simple(node, input).map(|()| Vec::new()),
            _ => Err(self.not_literal(node)),
        }
    }

    fn statements<'tree>(
        &self,
        node: Node<'tree>,
        input: Input,
    ) -> Result<Inner<'tree>, NotUnderstood> {
        self.no_gaps(node)?;
        let mut inner = Vec::new();
        for child in children(node) {
            if child.is_named() {
                inner.push((child, input));
            } else if !matches!(child.kind(), "&&" | "||" | ";") {
                return Err(self.not_literal(child));
            }
        }
        Ok(inner)
    }

    fn pipeline<'tree>(
        &self,
        node: Node<'tree>,
        input: Input,
    ) -> Result<Inner<'tree>, NotUnderstood> {
        self.no_gaps(node)?;
        let mut inner = Vec::new();
        let mut input = input;
        for child in children(node) {
            if child.is_named() {
                inner.push((child, input));
            } else if child.kind() == "|" {
                input = Input::Piped;
            } else {
                return Err(self.not_literal(child));
            }
        }
        Ok(inner)
    }

    fn redirected<'tree>(
        &self,
        node: Node<'tree>,
        input: Input,
    ) -> Result<Inner<'tree>, NotUnderstood> {
        self.no_gaps(node)?;
        let mut inner = Vec::new();
        for child in children(node) {
            match child.kind() {
                "file_redirect" => self.harmless_redirect(child)?,
                _ => inner.push((child, input)),
            }
        }
        if inner.is_empty() {
            return Err(self.not_literal(node));
        }
        Ok(inner)
    }

    /// Only `/dev/null` and copies of descriptors have no file behind them.
    fn harmless_redirect(&self, node: Node<'_>) -> Result<(), NotUnderstood> {
        self.no_gaps(node)?;
        let refused = || NotUnderstood::Redirect(self.source(node).to_owned());
        let mut parts = children(node);
        parts.retain(|child| child.kind() != "file_descriptor");
        let [operator, target] = parts.as_slice() else {
            return Err(refused());
        };
        let target = self.source(*target);
        let to_nothing =
            matches!(operator.kind(), ">" | ">>" | "&>" | "&>>" | "<") && target == "/dev/null";
        let copies = operator.kind() == ">&" && matches!(target, "1" | "2");
        if to_nothing || copies {
            Ok(())
        } else {
            Err(refused())
        }
    }

    fn simple(&mut self, node: Node<'_>, input: Input) -> Result<(), NotUnderstood> {
        self.no_gaps(node)?;
        let parts = children(node);
        let at = parts.iter().position(|part| part.kind() == "command_name");
        let Some((assignments, [name, arguments @ ..])) = at.map(|at| parts.split_at(at)) else {
            return Err(self.not_literal(node));
        };
        let program = children(*name);
        let [program] = program.as_slice() else {
            return Err(self.not_literal(*name));
        };
        if RESERVED.contains(&self.source(*program)) {
            return Err(self.not_literal(*program));
        }
        let assignments = assignments.iter().map(|part| self.assignment(*part));
        let words = iter::once(program).chain(arguments);
        let words = words.map(|part| self.word(*part));
        let source = self.command.get(name.start_byte()..node.end_byte());
        self.found.push(Plain {
            assignments: assignments.collect::<Result<_, _>>()?,
            words: words.collect::<Result<_, _>>()?,
            source: source.unwrap_or_default().trim(),
            piped: input == Input::Piped,
        });
        Ok(())
    }

    fn word(&self, node: Node<'_>) -> Result<super::PlainWord, NotUnderstood> {
        plain_word(self.command, node).ok_or_else(|| self.not_literal(node))
    }

    fn assignment(&self, node: Node<'_>) -> Result<Assignment, NotUnderstood> {
        let parts = children(node);
        let [name, equals, value] = parts.as_slice() else {
            return Err(self.not_literal(node));
        };
        let value = variable_value(self.command, *value);
        match (name.kind(), equals.kind(), value) {
            ("variable_name", "=", Some(value)) => Ok(Assignment {
                name: self.source(*name).to_owned(),
                value,
            }),
            _ => Err(self.not_literal(node)),
        }
    }

    /// Between the children of `node` there is nothing but blanks.
    fn no_gaps(&self, node: Node<'_>) -> Result<(), NotUnderstood> {
        let mut end = node.start_byte();
        for child in children(node) {
            if !self.is_blank(end, child.start_byte()) {
                return Err(NotUnderstood::Ambiguous);
            }
            end = child.end_byte();
        }
        let outer_end = if node.parent().is_none() {
            self.command.len()
        } else {
            node.end_byte()
        };
        let outer_start = if node.parent().is_none() {
            0
        } else {
            node.start_byte()
        };
        if self.is_blank(end, outer_end) && self.is_blank(outer_start, node.start_byte()) {
            Ok(())
        } else {
            Err(NotUnderstood::Ambiguous)
        }
    }

    fn is_blank(&self, start: usize, end: usize) -> bool {
        let between = self.command.get(start..end);
        between.is_some_and(|text| text.bytes().all(|byte| byte == b' '))
    }
}

fn children<'tree>(node: Node<'tree>) -> Vec<Node<'tree>> {
    node.children(&mut node.walk()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::NotUnderstood;
    use super::commands;
    use crate::shell::parse::parse;

    /// What the tree alone says, without the checks that come before.
    fn words(command: &str) -> Result<Vec<String>, NotUnderstood> {
        let tree = parse(command).ok_or(NotUnderstood::Unparseable)?;
        let plain = commands(command, &tree)?;
        let words = plain.into_iter().flat_map(|plain| plain.words);
        Ok(words.map(|word| word.text).collect())
    }

    #[test]
    fn between_the_parts_are_only_blanks() {
        assert_eq!(
            words("a  b | c;  d >/dev/null").ok(),
            Some(["a", "b", "c", "d"].map(str::to_owned).to_vec())
        );
        for command in [
            "\na",
            "a\n",
            "a\tb",
            "a \\\nb",
            "a;\tb",
            "a\t; b",
            "a |\tb",
            "a\t>/dev/null",
            "a >\t/dev/null",
        ] {
            assert_eq!(words(command), Err(NotUnderstood::Ambiguous), "{command:?}");
        }
    }

    #[test]
    fn what_is_not_named_here_is_not_understood() {
        for command in [
            "a <<< b",
            "a $b",
            "$a b",
            "a &",
            "A=1",
            "A=(1) b",
            ">/dev/null",
            "(a)",
            "! a",
            "a # b",
            "a |& b",
            "[[ a ]]",
            "a () { b; }",
            "a; in",
            "in",
            "a | done b",
            "A=1 then b",
        ] {
            assert!(words(command).is_err(), "{command}");
        }
    }
}
