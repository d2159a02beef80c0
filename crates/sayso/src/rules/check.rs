//! Is what a human wants remembered a rule, and does it mean what they think?

use std::path::Path;

use sayso_policy::{Entry, RuleId, Rules, Source, evaluate};
use sayso_protocol::{AddRule, ErrorCode, ErrorMessage, RuleScope};
use serde_json::{Value, json};

use super::{Call, effect};

/// Longer ones are not read before they are saved.
const MAXIMUM_RULE: usize = 2000;
const MAXIMUM_REASON: usize = 2000;
const MAXIMUM_SAMPLES: usize = 50;

/// Why the rule is wider than it looks; `None` also when it cannot be read.
pub fn too_broad(rule: &str) -> Option<String> {
    let rule = sayso_policy::Rule::parse(rule).ok()?;
    sayso_policy::too_broad(&rule).map(str::to_owned)
}

/// Refuses what would not do what it says. Nothing is kept then.
pub fn checked(wanted: &AddRule) -> Result<sayso_policy::Rule, ErrorMessage> {
    let refuse = |field: &str, text: String| {
        let text = format!("`rule`: field `{field}`: {text}");
        Err(ErrorMessage::new(ErrorCode::InvalidRule, text))
    };
    if wanted.rule.len() > MAXIMUM_RULE {
        return refuse("rule", format!("is longer than {MAXIMUM_RULE} bytes."));
    }
    let reason = wanted.reason.as_deref().unwrap_or_default();
    if reason.len() > MAXIMUM_REASON {
        return refuse("reason", format!("is longer than {MAXIMUM_REASON} bytes."));
    }
    if wanted.matches.len() + wanted.matches_not.len() > MAXIMUM_SAMPLES {
        return refuse(
            "matches",
            format!("there are more than {MAXIMUM_SAMPLES} samples."),
        );
    }
    if wanted.uses == Some(0) || wanted.minutes == Some(0) {
        return refuse("uses", "a rule that never speaks is no rule.".to_owned());
    }
    if let RuleScope::Project { path } = &wanted.scope
        && !Path::new(path).is_absolute()
    {
        return refuse(
            "scope",
            "the path of a project must be absolute.".to_owned(),
        );
    }
    let rule = match sayso_policy::Rule::parse(&wanted.rule) {
        Ok(rule) => rule,
        Err(error) => return refuse("rule", format!("{error}.")),
    };
    if let Some(why) = rule.inert(effect(wanted.effect)) {
        return refuse("rule", format!("it would do nothing: {why}."));
    }
    for (samples, must_match, field) in [
        (&wanted.matches, true, "matches"),
        (&wanted.matches_not, false, "matches_not"),
    ] {
        let misfit = samples
            .iter()
            .find(|sample| matches(&rule, wanted, sample) != must_match);
        if let Some(sample) = misfit {
            let verb = if must_match {
                "does not match"
            } else {
                "matches"
            };
            return refuse(field, format!("the rule {verb} {sample:?}."));
        }
    }
    Ok(rule)
}

/// Does the rule alone lead to its effect on this command, path or address?
fn matches(rule: &sayso_policy::Rule, wanted: &AddRule, sample: &str) -> bool {
    let (tool_name, input) = sample_call(rule.as_str(), sample);
    let folder = match &wanted.scope {
        RuleScope::Project { path } => path.as_str(),
        RuleScope::Session { .. } | RuleScope::Everywhere {} => "/",
    };
    let call = Call::new(tool_name, input, Path::new(folder));
    let rules = Rules::new([Entry {
        id: RuleId::new("tried"),
        effect: effect(wanted.effect),
        rule: rule.clone(),
        source: Source::Folder(folder.to_owned()),
    }]);
    let evaluation = evaluate(&rules, &call.facts());
    evaluation.decision == effect(wanted.effect) && !evaluation.matched.is_empty()
}

/// The call that a sample stands for, by the tool of the rule.
fn sample_call<'a>(rule: &'a str, sample: &str) -> (&'a str, Value) {
    let tool = rule.split('(').next().unwrap_or(rule);
    let input = match tool {
        "Bash" => json!({"command": sample}),
        "WebFetch" => json!({"url": sample}),
        "WebSearch" => json!({"query": sample}),
        "Agent" | "Task" => json!({"subagent_type": sample}),
        _ => json!({"file_path": sample}),
    };
    (tool, input)
}
