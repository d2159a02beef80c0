//! One call against some rules, as data:
//! `bash("ls && curl x").allow("Bash(ls:*)").asks()`.

#![allow(dead_code, reason = "shared by tests, each of which uses a part")]
#![expect(
    clippy::expect_used,
    reason = "a rule that cannot be parsed fails the test"
)]

use sayso_policy::{
    Decision, Entry, Evaluation, Link, Rule, RuleId, Rules, Source, ToolCall, evaluate,
};
use serde_json::{Value, json};

pub(crate) struct Check {
    tool: String,
    input: Value,
    entries: Vec<Entry>,
    links: Vec<Link>,
    cwd: &'static str,
}

pub(crate) fn bash(command: &str) -> Check {
    call("Bash", json!({ "command": command }))
}

pub(crate) fn call(tool: &str, input: Value) -> Check {
    Check {
        tool: tool.to_owned(),
        input,
        entries: Vec::new(),
        links: Vec::new(),
        cwd: "/w/proj",
    }
}

impl Check {
    pub(crate) fn allow(self, rule: &str) -> Self {
        self.with(Decision::Allow, rule)
    }

    pub(crate) fn ask(self, rule: &str) -> Self {
        self.with(Decision::Ask, rule)
    }

    pub(crate) fn deny(self, rule: &str) -> Self {
        self.with(Decision::Deny, rule)
    }

    pub(crate) fn with(mut self, effect: Decision, rule: &str) -> Self {
        self.entries.push(Entry {
            id: RuleId::new(rule),
            effect,
            rule: Rule::parse(rule).expect(rule),
            source: Source::Session,
        });
        self
    }

    pub(crate) fn link(mut self, path: &str, target: &str) -> Self {
        self.links.push(Link {
            path: path.to_owned(),
            target: target.to_owned(),
        });
        self
    }

    /// The agent works somewhere else than at the root of the project.
    pub(crate) fn from(mut self, cwd: &'static str) -> Self {
        self.cwd = cwd;
        self
    }

    pub(crate) fn evaluate(&self) -> Evaluation {
        let rules = Rules::new(self.entries.clone());
        evaluate(&rules, &self.call())
    }

    pub(crate) fn call(&self) -> ToolCall<'_> {
        ToolCall {
            tool_name: &self.tool,
            input: &self.input,
            cwd: self.cwd,
            home: "/home/u",
            project_root: "/w/proj",
            links: &self.links,
        }
    }

    #[track_caller]
    pub(crate) fn allows(self) -> Evaluation {
        self.is(Decision::Allow)
    }

    #[track_caller]
    pub(crate) fn asks(self) -> Evaluation {
        self.is(Decision::Ask)
    }

    #[track_caller]
    pub(crate) fn denies(self) -> Evaluation {
        self.is(Decision::Deny)
    }

    #[track_caller]
    fn is(self, decision: Decision) -> Evaluation {
        let evaluation = self.evaluate();
        let input: String = self.input.to_string().chars().take(300).collect();
        assert_eq!(evaluation.decision, decision, "{input} {evaluation:?}");
        evaluation
    }
}
