//! The rules that Claude Code itself goes by, and those that it is given.

use sayso_claude::ControlRequest;
use sayso_protocol::{AgentRule, AgentRules, RuleEffect};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

/// Where the agent says that rules stand which the host gave it.
const GIVEN_BY_HOST: &str = "flagSettings";

/// Reads the answer to `list_permission_rules`; `None` when it is no such answer.
pub fn read(answer: &RawValue) -> Option<AgentRules> {
    #[derive(Deserialize)]
    struct Answer {
        state: State,
    }
    #[derive(Deserialize)]
    struct State {
        rules: Vec<Listed>,
    }
    #[derive(Deserialize)]
    struct Listed {
        behavior: String,
        #[serde(default)]
        source: String,
        rule: String,
    }
    let answer: Answer = serde_json::from_str(answer.get()).ok()?;
    let rules = answer.state.rules.into_iter().filter_map(|listed| {
        Some(AgentRule {
            effect: match listed.behavior.as_str() {
                "allow" => RuleEffect::Allow,
                "ask" => RuleEffect::Ask,
                "deny" => RuleEffect::Deny,
                _ => return None,
            },
            handed_over: listed.source == GIVEN_BY_HOST,
            source: listed.source,
            rule: unescaped(&listed.rule),
        })
    });
    Some(AgentRules {
        rules: rules.collect(),
    })
}

/// The agent writes a backslash before brackets inside a rule.
fn unescaped(rule: &str) -> String {
    rule.replace("\\(", "(").replace("\\)", ")")
}

/// Gives the agent Sayso's denials, in the place of those that it was given before.
pub fn hand_over(denials: &[String]) -> ControlRequest {
    ControlRequest::ApplySettings {
        settings: json!({"permissions": {"deny": denials}}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_agent_lists_is_read_and_told_apart() {
        let answer = json!({"state": {"rules": [
            {"behavior": "allow", "source": "userSettings", "rule": "Bash(python3 -c \"print\\(1\\)\")"},
            {"behavior": "deny", "source": "flagSettings", "rule": "Bash(curl:*)"},
            {"behavior": "something new", "source": "session", "rule": "Read"},
        ]}});
        let answer = RawValue::from_string(answer.to_string()).unwrap();
        let rules = read(&answer).unwrap().rules;
        assert_eq!(rules.len(), 2);
        assert_eq!(rules[0].rule, "Bash(python3 -c \"print(1)\")");
        assert!(!rules[0].handed_over);
        assert!(rules[1].handed_over && rules[1].effect == RuleEffect::Deny);
        let other = RawValue::from_string("{}".to_owned()).unwrap();
        assert_eq!(read(&other), None);
    }
}
