//! The pattern of a `Bash(…)` rule.

use super::RuleError;
use super::text::Wildcards;

/// Matched against the text of one sub-command at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandPattern {
    pub(crate) shape: Shape,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Every command.
    Everything,
    /// This text and no other.
    Exact(String),
    /// `npm test:*` and `npm test *`: the text, alone or with more words.
    Prefix(String),
    /// Wildcards anywhere else.
    Wildcards(Wildcards),
}

impl CommandPattern {
    pub(crate) fn parse(specifier: &str) -> Result<Self, RuleError> {
        let tool = || "Bash".to_owned();
        let with_blank = match specifier.strip_suffix(":*") {
            Some(prefix) => format!("{prefix} *"),
            None => specifier.to_owned(),
        };
        if with_blank.trim_end_matches('*').contains(":* ") {
            return Err(RuleError::MisplacedWildcard);
        }
        let wildcards = Wildcards::parse(&with_blank);
        let shape = match wildcards.parts() {
            _ if wildcards.is_everything() => Shape::Everything,
            [exact] => Shape::Exact(exact.clone()),
            [prefix, rest] if rest.is_empty() && prefix.ends_with(' ') => {
                let prefix = prefix.trim_end_matches(' ');
                if prefix.is_empty() {
                    return Err(RuleError::EmptySpecifier(tool()));
                }
                Shape::Prefix(prefix.to_owned())
            }
            _ => Shape::Wildcards(wildcards),
        };
        Ok(Self { shape })
    }
}
