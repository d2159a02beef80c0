//! Rules from and for Claude Code's own settings files.

use std::path::Path;

use jiff::Timestamp;
use sayso_policy::settings;
use sayso_protocol::{
    ErrorCode, ErrorMessage, RefusedRule, Rule, RuleScope, SettingsRule, SettingsRules,
};
use serde_json::Value;

use super::{effect, is_alive, reaches, shown_effect};

/// What could be taken over from the text of a settings file. Nothing is kept.
pub fn read_settings(text: &str) -> Result<SettingsRules, ErrorMessage> {
    let refuse = |text: String| ErrorMessage::new(ErrorCode::InvalidMessage, text);
    let settings: Value = serde_json::from_str(text)
        .map_err(|error| refuse(format!("This is not a settings file: {error}.")))?;
    if !settings["permissions"].is_object() {
        let text = "There is no `permissions` in this file, so there are no rules to take over.";
        return Err(refuse(text.to_owned()));
    }
    let found = settings::import(&settings);
    let mut rules = Vec::new();
    let mut refused: Vec<RefusedRule> = Vec::new();
    for (decision, rule) in found.rules {
        let effect = shown_effect(decision);
        match rule.inert(decision) {
            Some(why) => refused.push(RefusedRule {
                text: rule.as_str().to_owned(),
                effect,
                problem: format!("It would do nothing: {why}."),
            }),
            None => rules.push(SettingsRule {
                too_broad: sayso_policy::too_broad(&rule).map(str::to_owned),
                rule: rule.as_str().to_owned(),
                effect,
            }),
        }
    }
    refused.extend(found.refused.into_iter().map(|refused| RefusedRule {
        text: refused.text,
        effect: shown_effect(refused.effect),
        problem: format!("{}.", refused.error),
    }));
    Ok(SettingsRules { rules, refused })
}

/// The rules that hold for good in `cwd`, or everywhere, as a settings file has them. What ends by itself or
/// with a session has no place there.
pub fn write_settings(rules: &[Rule], cwd: Option<&Path>, now: Timestamp) -> Value {
    let lasting = rules.iter().filter(|rule| {
        let here = match cwd {
            Some(cwd) => reaches(&rule.scope, None, cwd),
            None => rule.scope == RuleScope::Everywhere {},
        };
        here && is_alive(rule, now) && rule.uses_left.is_none() && rule.expires_at.is_none()
    });
    let parsed: Vec<_> = lasting
        .filter_map(|rule| {
            Some((
                effect(rule.effect),
                sayso_policy::Rule::parse(&rule.rule).ok()?,
            ))
        })
        .collect();
    settings::export(parsed.iter().map(|(effect, rule)| (*effect, rule)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_settings_file_is_read_with_what_is_wrong_in_it() {
        let text = json!({"model": "opus", "permissions": {
            "allow": ["Bash(npm test:*)", "Bash(git:*)", "Bash(", "Write(src/**)"],
            "deny": ["Read(.env)"],
        }});
        let found = read_settings(&text.to_string()).unwrap();
        let texts: Vec<&str> = found.rules.iter().map(|rule| rule.rule.as_str()).collect();
        assert_eq!(texts, ["Bash(npm test:*)", "Bash(git:*)", "Read(.env)"]);
        assert!(found.rules[0].too_broad.is_none() && found.rules[1].too_broad.is_some());
        let mut refused: Vec<&str> = found
            .refused
            .iter()
            .map(|rule| rule.text.as_str())
            .collect();
        refused.sort_unstable();
        assert_eq!(refused, ["Bash(", "Write(src/**)"]);
    }

    #[test]
    fn what_is_no_settings_file_is_told() {
        for (text, words) in [
            ("{", "not a settings file"),
            ("{}", "no `permissions`"),
            ("[]", "no `permissions`"),
        ] {
            assert!(
                read_settings(text).unwrap_err().message.contains(words),
                "{text}"
            );
        }
    }

    #[test]
    fn only_what_holds_for_good_is_written() {
        let project = RuleScope::Project {
            path: "/srv/project".to_owned(),
        };
        let rule = |text: &str, scope: &RuleScope| Rule {
            rule: text.to_owned(),
            scope: scope.clone(),
            ..super::super::book::tests::rule(text, sayso_protocol::RuleEffect::Allow)
        };
        let everywhere = RuleScope::Everywhere {};
        let rules = [
            rule("Bash(ls)", &everywhere),
            rule("Bash(make)", &project),
            Rule {
                uses_left: Some(3),
                ..rule("Bash(pwd)", &everywhere)
            },
            Rule {
                enabled: false,
                ..rule("Bash(id)", &everywhere)
            },
            rule(
                "Bash(who)",
                &RuleScope::Session {
                    session_id: uuid::Uuid::nil(),
                },
            ),
        ];
        let now = Timestamp::UNIX_EPOCH;
        let allow = |cwd: Option<&str>| {
            write_settings(&rules, cwd.map(Path::new), now)["permissions"]["allow"].clone()
        };
        assert_eq!(allow(None), json!(["Bash(ls)"]));
        assert_eq!(
            allow(Some("/srv/project/sub")),
            json!(["Bash(ls)", "Bash(make)"])
        );
    }
}
