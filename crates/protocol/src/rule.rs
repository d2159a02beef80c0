//! Remembered decisions: rules that answer in a human's place.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Risk;

/// A rule that Sayso keeps. It answers requests that agents make; it is not
/// written into the agents' own settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Rule {
    pub rule_id: Uuid,
    /// As Claude Code writes rules: `Bash(npm test:*)`.
    pub rule: String,
    pub effect: RuleEffect,
    pub scope: RuleScope,
    /// How many more requests it answers; without a limit when null.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub uses_left: Option<u32>,
    /// From then on it answers nothing.
    #[cfg_attr(test, ts(type = "string | null"))]
    pub expires_at: Option<Timestamp>,
    /// Why it is there. Of a denial, the agent reads it.
    pub reason: Option<String>,
    /// Inputs that it must match and must not match: commands, paths or
    /// addresses. Checked whenever the rule is saved.
    pub matches: Vec<String>,
    pub matches_not: Vec<String>,
    pub enabled: bool,
    #[cfg_attr(test, ts(type = "string"))]
    pub created_at: Timestamp,
    /// The client that made it.
    pub created_by: String,
    #[cfg_attr(test, ts(type = "number"))]
    pub hits: u64,
    #[cfg_attr(test, ts(type = "string | null"))]
    pub last_hit_at: Option<Timestamp>,
    /// What makes it wider than it looks, when something does.
    pub too_broad: Option<String>,
}

/// Deny beats ask beats allow, whichever scope they stand in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RuleEffect {
    Allow,
    Ask,
    Deny,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum RuleScope {
    /// Ends with the session.
    Session {
        session_id: Uuid,
    },
    /// Sessions in this folder and below it.
    Project {
        path: String,
    },
    Everywhere {},
}

/// What a human says of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct AddRule {
    #[cfg_attr(test, ts(optional = false))]
    pub rule: String,
    #[cfg_attr(test, ts(optional = false))]
    pub effect: RuleEffect,
    #[cfg_attr(test, ts(optional = false))]
    pub scope: RuleScope,
    /// It answers so many requests and then no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses: Option<u32>,
    /// It answers for so many minutes and then no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minutes: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<String>>"))]
    pub matches: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<String>>"))]
    pub matches_not: Vec<String>,
    /// Without it a rule that is wider than it looks is refused with `rule_too_broad`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(test, ts(as = "Option<bool>"))]
    pub confirm_broad: bool,
    /// False keeps it without letting it answer anything yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Open requests that the rule shall decide at once, after a human saw them listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<Uuid>>"))]
    pub decide: Vec<Uuid>,
}

/// Puts another rule in the place of one, keeping its history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct UpdateRule {
    pub rule_id: Uuid,
    pub rule: AddRule,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct EnableRule {
    pub rule_id: Uuid,
    pub enabled: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct RemoveRule {
    pub rule_id: Uuid,
}

/// The answer to `GET /api/requests/{id}/rules`: what could be remembered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RuleSuggestions {
    /// From the narrowest to the broadest.
    pub suggestions: Vec<RuleSuggestion>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RuleSuggestion {
    pub kind: RuleSuggestionKind,
    /// They belong together: one for each part of a command.
    pub rules: Vec<SuggestedRule>,
    /// Together they would allow this very request; otherwise they can only deny or ask.
    pub allows: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SuggestedRule {
    pub rule: String,
    pub too_broad: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RuleSuggestionKind {
    Exact,
    Prefix,
    Folder,
    Domain,
    Agent,
    Server,
    Tool,
}

/// The body of `POST /api/rules/try`: what would a rule do?
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct TryRule {
    pub rule: String,
    /// Rules that would be saved with it: the parts of a command need one each.
    #[serde(default)]
    #[cfg_attr(test, ts(as = "Option<Vec<String>>", optional))]
    pub with: Vec<String>,
    pub effect: RuleEffect,
    pub scope: RuleScope,
    /// Whose calls it is tried on; without one there is no history.
    pub session_id: Option<Uuid>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TriedRule {
    /// What is wrong with the rule's text; then all else is empty.
    pub problem: Option<String>,
    pub too_broad: Option<String>,
    /// Calls of the session's history, the newest first, at most 20 each.
    pub would_match: Vec<TriedCall>,
    pub would_not_match: Vec<TriedCall>,
    /// Open requests that it would decide.
    pub covers: Vec<Uuid>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TriedCall {
    pub tool_name: String,
    /// The command, path or address.
    pub subject: String,
}

/// The body of `POST /api/rules/test`: would this be asked, and why?
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct TestCall {
    pub tool_name: String,
    #[cfg_attr(test, ts(type = "unknown"))]
    pub tool_input: serde_json::Value,
    /// The folder that the agent would work in.
    pub cwd: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TestedCall {
    pub decision: RuleEffect,
    /// The rules that led to it.
    pub matched: Vec<Uuid>,
    pub explanation: String,
    pub risks: Vec<Risk>,
}

/// The answer to `list_agent_rules`: what the agent itself goes by. Sayso does not change these.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AgentRules {
    pub rules: Vec<AgentRule>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AgentRule {
    pub rule: String,
    pub effect: RuleEffect,
    /// Where it stands, in the agent's words: `userSettings`, `localSettings`, `session`.
    pub source: String,
    /// It came from Sayso, which hands its denials to the agent.
    pub handed_over: bool,
}

/// The body of `POST /api/rules/settings`: a settings file of Claude Code, to be looked at.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct ReadSettings {
    /// The whole text of the file.
    pub text: String,
}

/// What could be taken over from a settings file. Nothing is saved yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SettingsRules {
    pub rules: Vec<SettingsRule>,
    pub refused: Vec<RefusedRule>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SettingsRule {
    pub rule: String,
    pub effect: RuleEffect,
    pub too_broad: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RefusedRule {
    /// As it stands in the file.
    pub text: String,
    pub effect: RuleEffect,
    pub problem: String,
}
