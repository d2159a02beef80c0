//! Rules as rows and as what clients see.

use sayso_broker::Timestamp;
use sayso_policy::{SuggestionKind, risk};
use sayso_protocol::{
    self as protocol, Rule, RuleEffect, RuleScope, RuleSuggestion, RuleSuggestionKind,
    SuggestedRule,
};
use sayso_store::{self as store, RuleRow, UnixMillis};

use super::too_broad;

pub fn row(rule: &Rule) -> RuleRow {
    let (session_id, project) = match &rule.scope {
        RuleScope::Session { session_id } => (Some(store::SessionId(*session_id)), None),
        RuleScope::Project { path } => (None, Some(path.clone())),
        RuleScope::Everywhere {} => (None, None),
    };
    let list = |texts: &[String]| serde_json::json!(texts).to_string();
    RuleRow {
        id: store::RuleId(rule.rule_id),
        rule: rule.rule.clone(),
        effect: match rule.effect {
            RuleEffect::Allow => "allow",
            RuleEffect::Ask => "ask",
            RuleEffect::Deny => "deny",
        }
        .to_owned(),
        session_id,
        project,
        uses_left: rule.uses_left.map(i64::from),
        expires_at: rule.expires_at.map(millis),
        reason: rule.reason.clone(),
        matches: list(&rule.matches),
        matches_not: list(&rule.matches_not),
        enabled: rule.enabled,
        created_at: millis(rule.created_at),
        client_label: rule.created_by.clone(),
        hits: i64::try_from(rule.hits).unwrap_or(i64::MAX),
        last_hit_at: rule.last_hit_at.map(millis),
    }
}

/// `None` for an effect that this version does not know: such a rule says nothing here.
pub fn rule(row: RuleRow) -> Option<Rule> {
    let effect = match row.effect.as_str() {
        "allow" => RuleEffect::Allow,
        "ask" => RuleEffect::Ask,
        "deny" => RuleEffect::Deny,
        _ => return None,
    };
    let scope = match (row.session_id, row.project) {
        (Some(session), _) => RuleScope::Session {
            session_id: session.0,
        },
        (None, Some(path)) => RuleScope::Project { path },
        (None, None) => RuleScope::Everywhere {},
    };
    let list = |text: &str| serde_json::from_str(text).unwrap_or_default();
    Some(Rule {
        rule_id: row.id.0,
        effect,
        scope,
        uses_left: row
            .uses_left
            .map(|left| u32::try_from(left).unwrap_or_default()),
        expires_at: row.expires_at.map(time),
        reason: row.reason,
        matches: list(&row.matches),
        matches_not: list(&row.matches_not),
        enabled: row.enabled,
        created_at: time(row.created_at),
        created_by: row.client_label,
        hits: u64::try_from(row.hits).unwrap_or_default(),
        last_hit_at: row.last_hit_at.map(time),
        too_broad: too_broad(&row.rule),
        rule: row.rule,
    })
}

fn millis(time: jiff::Timestamp) -> UnixMillis {
    UnixMillis(time.as_millisecond())
}

fn time(time: UnixMillis) -> jiff::Timestamp {
    let Timestamp(millis) = Timestamp(time.0);
    jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

pub fn suggestions(found: Vec<sayso_policy::Suggestion>) -> Vec<RuleSuggestion> {
    let shown = |suggestion: sayso_policy::Suggestion| RuleSuggestion {
        kind: match suggestion.kind {
            SuggestionKind::Exact => RuleSuggestionKind::Exact,
            SuggestionKind::Prefix => RuleSuggestionKind::Prefix,
            SuggestionKind::Folder => RuleSuggestionKind::Folder,
            SuggestionKind::Domain => RuleSuggestionKind::Domain,
            SuggestionKind::Agent => RuleSuggestionKind::Agent,
            SuggestionKind::Server => RuleSuggestionKind::Server,
            SuggestionKind::Tool => RuleSuggestionKind::Tool,
        },
        rules: suggestion
            .rules
            .iter()
            .map(|rule| SuggestedRule {
                rule: rule.as_str().to_owned(),
                too_broad: sayso_policy::too_broad(rule).map(str::to_owned),
            })
            .collect(),
        allows: suggestion.allows,
    };
    found.into_iter().map(shown).collect()
}

pub fn risks(found: Vec<risk::Risk>) -> Vec<protocol::Risk> {
    found.into_iter().map(shown_risk).collect()
}

fn shown_risk(found: risk::Risk) -> protocol::Risk {
    use risk::RiskKind;
    let kind = match found.kind {
        RiskKind::Deletes => protocol::RiskKind::Deletes,
        RiskKind::Overwrites => protocol::RiskKind::Overwrites,
        RiskKind::Privilege => protocol::RiskKind::Privilege,
        RiskKind::Network => protocol::RiskKind::Network,
        RiskKind::PipesIntoShell => protocol::RiskKind::PipesIntoShell,
        RiskKind::OutsideProject => protocol::RiskKind::OutsideProject,
        RiskKind::ProtectedPath => protocol::RiskKind::ProtectedPath,
        RiskKind::Installs => protocol::RiskKind::Installs,
        RiskKind::GitHistory => protocol::RiskKind::GitHistory,
        RiskKind::LongRunning => protocol::RiskKind::LongRunning,
        RiskKind::Unknown => protocol::RiskKind::Unknown,
    };
    protocol::Risk {
        kind,
        words: found.words,
    }
}
