//! Rules in Claude Code's settings files, both ways.

use serde_json::{Value, json};

use crate::decision::Decision;
use crate::rule::{Rule, RuleError};

/// What a settings file says about permissions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    pub rules: Vec<(Decision, Rule)>,
    /// Entries that are no rules, with the reason. They do nothing, but a human
    /// should know.
    pub refused: Vec<Refused>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub effect: Decision,
    /// As it stands in the file.
    pub text: String,
    pub error: RuleError,
}

const LISTS: [(Decision, &str); 3] = [
    (Decision::Allow, "allow"),
    (Decision::Ask, "ask"),
    (Decision::Deny, "deny"),
];

/// The rules under `permissions` of a settings file.
pub fn import(settings: &Value) -> Imported {
    let mut imported = Imported::default();
    for (effect, name) in LISTS {
        let list = &settings["permissions"][name];
        for entry in list.as_array().into_iter().flatten() {
            let text = entry
                .as_str()
                .map_or_else(|| entry.to_string(), str::to_owned);
            let rule = match entry {
                Value::String(text) => Rule::parse(text),
                _ => Err(RuleError::Malformed),
            };
            match rule {
                Ok(rule) => imported.rules.push((effect, rule)),
                Err(error) => imported.refused.push(Refused {
                    effect,
                    text,
                    error,
                }),
            }
        }
    }
    imported
}

/// The rules as a settings file has them.
pub fn export<'a>(rules: impl IntoIterator<Item = (Decision, &'a Rule)>) -> Value {
    let mut lists: [Vec<&str>; 3] = Default::default();
    for (effect, rule) in rules {
        for ((listed, _), list) in LISTS.iter().zip(&mut lists) {
            if *listed == effect {
                list.push(rule.as_str());
            }
        }
    }
    let [allow, ask, deny] = lists;
    json!({ "permissions": { "allow": allow, "ask": ask, "deny": deny } })
}
