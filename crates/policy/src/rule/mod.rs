//! Rules in the syntax of Claude Code's settings: `Bash(npm test:*)`,
//! `Edit(src/**)`, `WebFetch(domain:example.com)`, `mcp__server__tool`.

mod broad;
mod command;
mod error;
mod parse;
mod path;
mod text;

use std::fmt;

pub use broad::too_broad;
pub(crate) use command::{CommandPattern, Shape};
pub use error::RuleError;
pub(crate) use path::{PathBase, PathPattern};
pub(crate) use text::{Wildcards, escape};

use crate::decision::Decision;
use crate::web::DomainPattern;

/// One rule, checked when it was made. Prints as it was written.
#[derive(Clone, Debug)]
pub struct Rule {
    text: String,
    pub(crate) subject: Subject,
}

/// What a rule is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// Every call of one tool.
    Tool(String),
    /// Every tool whose name fits; only denies and asks.
    ToolsLike(Wildcards),
    Command(CommandPattern),
    Path(PathTool, PathPattern),
    Domain(DomainPattern),
    Agent(String),
    /// The tools of one MCP server.
    Server {
        server: String,
        tool: Wildcards,
    },
    /// One field of the input; only denies and asks.
    Parameter {
        tool: String,
        name: String,
        value: Wildcards,
    },
}

/// Path rules are written for one of these and hold for all tools of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PathTool {
    Read,
    Edit,
}

impl Rule {
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let subject = parse::subject(text)?;
        let text = text.to_owned();
        Ok(Self { text, subject })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Why this rule does nothing when it is used with `effect`, if so.
    pub fn inert(&self, effect: Decision) -> Option<&'static str> {
        match (&self.subject, effect) {
            (Subject::ToolsLike(_), Decision::Allow) => {
                Some("a pattern over tool names can deny and ask, but not allow")
            }
            (Subject::Parameter { .. }, Decision::Allow) => {
                Some("a rule about one field of the input can deny and ask, but not allow")
            }
            _ => None,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl std::str::FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Rule {}
