//! What a rule would have done with what a session did already.

use std::path::Path;

use jiff::Timestamp;
use sayso_policy::{Entry, RuleId, Rules, evaluate};
use sayso_protocol::{Rule, RuleScope, TriedCall, TriedRule, TryRule};
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

/// Tries a rule, with those that it would be saved with, on calls of the same tool.
pub fn tried(wanted: &TryRule, calls: &[Call]) -> TriedRule {
    let mut tried = TriedRule {
        problem: None,
        too_broad: too_broad(&wanted.rule),
        would_match: Vec::new(),
        would_not_match: Vec::new(),
        covers: Vec::new(),
    };
    let first = match entry(&wanted.rule, wanted) {
        Ok(entry) => entry,
        Err(problem) => {
            tried.problem = Some(problem);
            return tried;
        }
    };
    // One of the others that cannot be read is its own trial's problem.
    let others = wanted
        .with
        .iter()
        .filter_map(|text| entry(text, wanted).ok());
    let rules = Rules::new([first].into_iter().chain(others));
    let tool = wanted.rule.split('(').next().unwrap_or(&wanted.rule);
    for call in calls.iter().filter(|call| call.tool_name == tool) {
        let evaluation = evaluate(&rules, &call.facts());
        let list = if evaluation.decision == effect(wanted.effect) && !evaluation.matched.is_empty()
        {
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

fn entry(text: &str, wanted: &TryRule) -> Result<Entry, String> {
    let rule = sayso_policy::Rule::parse(text).map_err(|error| format!("{error}."))?;
    if let Some(why) = rule.inert(effect(wanted.effect)) {
        return Err(format!("It would do nothing: {why}."));
    }
    let source = match &wanted.scope {
        RuleScope::Everywhere {} => sayso_policy::Source::User,
        RuleScope::Project { path } => sayso_policy::Source::Folder(path.clone()),
        RuleScope::Session { .. } => sayso_policy::Source::Session,
    };
    Ok(Entry {
        id: RuleId::new(text),
        effect: effect(wanted.effect),
        rule,
        source,
    })
}

pub fn subject(input: &Value) -> String {
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

/// The rules that are tried, as if they were kept; those that cannot be read are left out.
pub fn candidates(wanted: &TryRule) -> Vec<Rule> {
    let texts = [&wanted.rule].into_iter().chain(&wanted.with);
    let readable = texts.filter(|text| entry(text, wanted).is_ok());
    let kept = readable.zip(1..).map(|(text, number)| Rule {
        rule_id: Uuid::from_u128(number),
        rule: text.clone(),
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
    });
    kept.collect()
}

/// With the candidates among the rules, would one of them take part in answering the call?
pub fn would_decide(
    rules: &[Rule],
    candidates: &[Rule],
    call: &Call,
    session: Option<Uuid>,
) -> bool {
    let Some(first) = candidates.first() else {
        return false;
    };
    let cwd = Path::new(&call.cwd);
    let together = in_force(
        rules.iter().chain(candidates),
        session,
        cwd,
        Timestamp::now(),
    );
    let evaluation = evaluate(&together, &call.facts());
    let is_candidate = |id: &RuleId| {
        let mut candidates = candidates.iter();
        candidates.any(|rule| rule.rule_id.to_string() == *id.0)
    };
    evaluation.matched.iter().any(is_candidate)
        && evaluation.decision == effect(first.effect)
        && evaluation.decision != sayso_policy::Decision::Ask
}
