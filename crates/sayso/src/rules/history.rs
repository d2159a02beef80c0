//! What a rule would have done with what a session did already.

use std::path::Path;

use jiff::Timestamp;
use sayso_policy::{Entry, RuleId, Rules, evaluate};
use sayso_protocol::{Rule, RuleEffect, RuleScope, TriedCall, TriedRule, TryRule};
use sayso_store::{ReadError, SessionId, Store};
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::{Call, effect, in_force, too_broad};

/// How far back the history is read, and how much of it is shown.
const ENTRIES: u32 = 400;
const SHOWN: usize = 20;

/// The session's tool calls, the newest first.
pub async fn past_calls(
    store: &Store,
    session: SessionId,
    cwd: &Path,
) -> Result<Vec<Call>, ReadError> {
    #[derive(Deserialize)]
    struct ToolUse {
        kind: String,
        tool_name: Option<String>,
        tool_input: Option<Value>,
    }
    let entries = store.entries_before(session, i64::MAX, ENTRIES).await?;
    let calls = entries.iter().rev().filter_map(|entry| {
        let entry: ToolUse = serde_json::from_str(&entry.body).ok()?;
        let (name, input) = (entry.tool_name?, entry.tool_input?);
        (entry.kind == "tool_use").then(|| Call::new(&name, input, cwd))
    });
    Ok(calls.collect())
}

/// Tries a rule alone on calls of the same tool.
pub fn tried(text: &str, wanted: RuleEffect, scope: &RuleScope, calls: &[Call]) -> TriedRule {
    let mut tried = TriedRule {
        problem: None,
        too_broad: too_broad(text),
        would_match: Vec::new(),
        would_not_match: Vec::new(),
        covers: Vec::new(),
    };
    let rules = match alone(text, wanted, scope) {
        Ok(rules) => rules,
        Err(problem) => {
            tried.problem = Some(problem);
            return tried;
        }
    };
    let tool = text.split('(').next().unwrap_or(text);
    for call in calls.iter().filter(|call| call.tool_name == tool) {
        let evaluation = evaluate(&rules, &call.facts());
        let list = if evaluation.decision == effect(wanted) && !evaluation.matched.is_empty() {
            &mut tried.would_match
        } else {
            &mut tried.would_not_match
        };
        let shown = TriedCall {
            tool_name: call.tool_name.clone(),
            subject: subject(&call.input),
        };
        if list.len() < SHOWN && !list.contains(&shown) {
            list.push(shown);
        }
    }
    tried
}

/// The rule as if it were the only one.
pub(crate) fn alone(text: &str, wanted: RuleEffect, scope: &RuleScope) -> Result<Rules, String> {
    let rule = sayso_policy::Rule::parse(text).map_err(|error| format!("{error}."))?;
    if let Some(why) = rule.inert(effect(wanted)) {
        return Err(format!("It would do nothing: {why}."));
    }
    let source = match scope {
        RuleScope::Everywhere {} => sayso_policy::Source::User,
        RuleScope::Project { path } => sayso_policy::Source::Folder(path.clone()),
        RuleScope::Session { .. } => sayso_policy::Source::Session,
    };
    Ok(Rules::new([Entry {
        id: RuleId::new("tried"),
        effect: effect(wanted),
        rule,
        source,
    }]))
}

fn subject(input: &Value) -> String {
    let fields = [
        "command",
        "file_path",
        "notebook_path",
        "url",
        "query",
        "path",
        "pattern",
    ];
    let found = fields.iter().find_map(|field| input[*field].as_str());
    found.map_or_else(|| input.to_string(), str::to_owned)
}

/// The rule that is tried, as if it were kept; `None` when it cannot be read.
pub fn candidate(wanted: &TryRule) -> Option<Rule> {
    alone(&wanted.rule, wanted.effect, &wanted.scope).ok()?;
    Some(Rule {
        rule_id: Uuid::nil(),
        rule: wanted.rule.clone(),
        effect: wanted.effect,
        scope: wanted.scope.clone(),
        uses_left: None,
        expires_at: None,
        reason: None,
        matches: Vec::new(),
        matches_not: Vec::new(),
        enabled: true,
        created_at: Timestamp::UNIX_EPOCH,
        created_by: String::new(),
        hits: 0,
        last_hit_at: None,
        too_broad: None,
    })
}

/// With the candidate among the rules, would one of them answer the call?
pub fn would_decide(
    rules: &[Rule],
    candidate: Option<&Rule>,
    call: &Call,
    session: Option<Uuid>,
) -> bool {
    let Some(candidate) = candidate else {
        return false;
    };
    let cwd = Path::new(&call.cwd);
    let together = rules.iter().chain([candidate]);
    let rules = in_force(together, session, cwd, Timestamp::now());
    let evaluation = evaluate(&rules, &call.facts());
    let nil = Uuid::nil().to_string();
    let takes_part = evaluation.matched.iter().any(|id| *id.0 == *nil);
    takes_part
        && evaluation.decision == effect(candidate.effect)
        && evaluation.decision != sayso_policy::Decision::Ask
}
