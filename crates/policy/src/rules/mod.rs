//! The rules in force, arranged so that a decision does not look at each.

mod commands;
mod paths;

use std::collections::HashMap;
use std::sync::Arc;

pub(crate) use commands::{CommandIndex, Hit};
pub(crate) use paths::PathIndex;

use crate::decision::Decision;
use crate::rule::{CommandPattern, Rule, Shape, Subject, Wildcards};
use crate::web::DomainPattern;

/// Names a rule for the caller; nothing is read into it here.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleId(pub Arc<str>);

impl RuleId {
    pub fn new(id: &str) -> Self {
        Self(Arc::from(id))
    }
}

/// Where a rule comes from; a path pattern that begins with one `/` starts
/// there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// The folder the agent works in.
    Session,
    /// The root of the project.
    Project,
    /// `~/.claude`
    User,
    /// The folder of some other settings file.
    Folder(String),
}

/// A rule in force, and what it does.
#[derive(Clone, Debug)]
pub struct Entry {
    pub id: RuleId,
    pub effect: Decision,
    pub rule: Rule,
    pub source: Source,
}

/// All rules in force. Built when the rules change, read for every call.
#[derive(Debug, Default)]
pub struct Rules {
    allow: Index,
    ask: Index,
    deny: Index,
}

/// The rules of one effect.
#[derive(Debug, Default)]
pub(crate) struct Index {
    pub(crate) tools: HashMap<String, Vec<RuleId>>,
    pub(crate) tools_like: Vec<(Wildcards, RuleId)>,
    pub(crate) commands: CommandIndex,
    pub(crate) paths: PathIndex,
    pub(crate) domains: Vec<(DomainPattern, RuleId)>,
    pub(crate) agents: HashMap<String, Vec<RuleId>>,
    pub(crate) servers: HashMap<String, Vec<(Wildcards, RuleId)>>,
    pub(crate) parameters: Vec<Parameter>,
}

#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) tool: String,
    pub(crate) name: String,
    pub(crate) value: Wildcards,
    pub(crate) id: RuleId,
}

impl Rules {
    pub fn new(entries: impl IntoIterator<Item = Entry>) -> Self {
        let mut rules = Self::default();
        let mut paths = [Vec::new(), Vec::new(), Vec::new()];
        for entry in entries {
            let slot = match entry.effect {
                Decision::Allow => 0,
                Decision::Ask => 1,
                Decision::Deny => 2,
            };
            if let Subject::Path(tool, pattern) = &entry.rule.subject {
                let place = (*tool, pattern.base, entry.source.clone());
                paths[slot].push((place, pattern.clone(), entry.id));
            } else if entry.rule.inert(entry.effect).is_none() {
                rules.index_mut(entry.effect).add(entry.rule, entry.id);
            }
        }
        let [allow, ask, deny] = paths;
        rules.allow.paths = PathIndex::new(Decision::Allow, allow);
        rules.ask.paths = PathIndex::new(Decision::Ask, ask);
        rules.deny.paths = PathIndex::new(Decision::Deny, deny);
        rules
    }

    pub(crate) fn index(&self, effect: Decision) -> &Index {
        match effect {
            Decision::Allow => &self.allow,
            Decision::Ask => &self.ask,
            Decision::Deny => &self.deny,
        }
    }

    fn index_mut(&mut self, effect: Decision) -> &mut Index {
        match effect {
            Decision::Allow => &mut self.allow,
            Decision::Ask => &mut self.ask,
            Decision::Deny => &mut self.deny,
        }
    }
}

impl Index {
    fn add(&mut self, rule: Rule, id: RuleId) {
        match rule.subject {
            Subject::Tool(tool) if tool == "Bash" => {
                let shape = Shape::Everything;
                self.commands.add(CommandPattern { shape }, id);
            }
            Subject::Tool(tool) => self.tools.entry(tool).or_default().push(id),
            Subject::ToolsLike(pattern) => self.tools_like.push((pattern, id)),
            Subject::Command(pattern) => self.commands.add(pattern, id),
            Subject::Domain(pattern) => self.domains.push((pattern, id)),
            Subject::Agent(name) => self.agents.entry(name).or_default().push(id),
            Subject::Server { server, tool } => {
                self.servers.entry(server).or_default().push((tool, id));
            }
            Subject::Parameter { tool, name, value } => self.parameters.push(Parameter {
                tool,
                name,
                value,
                id,
            }),
            // Path rules are compiled together, see `Rules::new`.
            Subject::Path(..) => {}
        }
    }
}
