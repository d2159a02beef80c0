//! From the grammar's tree to commands.

use tree_sitter::{Node, Tree};

use super::words::{plain_word, variable_value};
use super::{Assignment, NotUnderstood, Plain};

/// Nesting of lists and pipelines; the grammar nests one level per operator.
const MAX_DEPTH: usize = 200;

pub(super) fn commands<'a>(command: &'a str, tree: &Tree) -> Result<Vec<Plain<'a>>, NotUnderstood> {
    let mut walk = Walk {
        command,
        found: Vec::new(),
    };
    walk.statement(tree.root_node(), Input::Own, 0)?;
    Ok(walk.found)
}

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

    fn statement(
        &mut self,
        node: Node<'_>,
        input: Input,
        depth: usize,
    ) -> Result<(), NotUnderstood> {
        if depth > MAX_DEPTH {
            return Err(NotUnderstood::TooMany);
        }
        match node.kind() {
            "program" | "list" => self.statements(node, &["&&", "||", ";"], input, depth),
            "pipeline" => self.pipeline(node, input, depth),
            "redirected_statement" => self.redirected(node, input, depth),
            "command" => self.simple(node, input),
            _ => Err(self.not_literal(node)),
        }
    }

    fn statements(
        &mut self,
        node: Node<'_>,
        separators: &[&str],
        input: Input,
        depth: usize,
    ) -> Result<(), NotUnderstood> {
        self.no_gaps(node)?;
        for child in children(node) {
            if child.is_named() {
                self.statement(child, input, depth + 1)?;
            } else if !separators.contains(&child.kind()) {
                return Err(self.not_literal(child));
            }
        }
        Ok(())
    }

    fn pipeline(
        &mut self,
        node: Node<'_>,
        input: Input,
        depth: usize,
    ) -> Result<(), NotUnderstood> {
        self.no_gaps(node)?;
        let mut input = input;
        for child in children(node) {
            if child.is_named() {
                self.statement(child, input, depth + 1)?;
            } else if child.kind() == "|" {
                input = Input::Piped;
            } else {
                return Err(self.not_literal(child));
            }
        }
        Ok(())
    }

    fn redirected(
        &mut self,
        node: Node<'_>,
        input: Input,
        depth: usize,
    ) -> Result<(), NotUnderstood> {
        self.no_gaps(node)?;
        for child in children(node) {
            match child.kind() {
                "file_redirect" => self.harmless_redirect(child)?,
                _ if node.child_by_field_name("body") == Some(child) => {
                    self.statement(child, input, depth + 1)?;
                }
                _ => return Err(self.not_literal(child)),
            }
        }
        Ok(())
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
        let mut plain = Plain {
            assignments: Vec::new(),
            words: Vec::new(),
            source: "",
            piped: input == Input::Piped,
        };
        let mut start = node.start_byte();
        for child in children(node) {
            match child.kind() {
                "variable_assignment" if plain.words.is_empty() => {
                    plain.assignments.push(self.assignment(child)?);
                }
                "command_name" if plain.words.is_empty() && child.child_count() == 1 => {
                    let name = child.child(0).ok_or_else(|| self.not_literal(child))?;
                    start = child.start_byte();
                    plain.words.push(self.word(name)?);
                }
                _ if plain.words.is_empty() => return Err(self.not_literal(child)),
                _ => plain.words.push(self.word(child)?),
            }
        }
        if plain.words.is_empty() {
            return Err(self.not_literal(node));
        }
        plain.source = self
            .command
            .get(start..node.end_byte())
            .unwrap_or_default()
            .trim();
        self.found.push(plain);
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
