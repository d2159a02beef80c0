//! What the history says of decisions, tools, rules, modes and sessions. An entry about a decision, a rule or a mode
//! is written in the same step as what it tells of; the others are written again until they are there.

use std::collections::HashMap;

use sayso_broker::{DecidedBy, RequestView, Resolution, SessionId};
use sayso_protocol::{OutcomeKind, Rule, RuleScope};
use sayso_store::{
    AuditActor, AuditKind, AuditRecord, ReadError, RequestRow, Store, UnixMillis, Write,
};
use serde_json::{Value, json};

use super::audit_body::{self, AskedBody, DecisionBody, ExactDecision, exact};
use super::run::AllowedTool;
use super::sessions::Session;
use super::{Hub, now, records, wire};
use crate::audit::Sparse;

/// Who did something that is no decision about a request.
#[derive(Clone, Debug)]
pub(super) struct Actor {
    pub(super) kind: AuditActor,
    pub(super) label: String,
}

impl Actor {
    pub(super) fn human(label: &str) -> Self {
        Self {
            kind: AuditActor::Human,
            label: label.to_owned(),
        }
    }

    pub(super) fn agent() -> Self {
        Self {
            kind: AuditActor::Agent,
            label: String::new(),
        }
    }

    pub(super) fn policy(name: &str) -> Self {
        Self {
            kind: AuditActor::Policy,
            label: name.to_owned(),
        }
    }
}

impl Hub {
    /// How a request ended.
    pub(super) fn decision_entry(&self, request: &RequestView, resolution: &Resolution) -> Write {
        let ask = &request.ask;
        let outcome = wire::outcome(resolution);
        let latency = request.created_at.until(resolution.at);
        let decision = resolution.decision.as_ref();
        let body = DecisionBody {
            form: Sparse,
            request: AskedBody {
                request_type: wire::request_type(&ask.kind),
                tool_name: &ask.tool_name,
                tool_input: ask.input.to_raw(),
                input_digest: &ask.digest,
                tool_use_id: ask.tool_use_id.as_deref(),
                created_at: wire::time(request.created_at),
            },
            shown: ask.detail.to_raw(),
            decision: decision.map(ExactDecision::new),
            outcome: outcome.what,
            by: outcome.by,
            by_name: outcome.by_name,
            client: outcome.client,
            message: outcome.message,
            latency_ms: u64::try_from(latency.as_millis()).unwrap_or(u64::MAX),
        };
        let actor = match &resolution.by {
            DecidedBy::Human(client) => Actor::human(&client.label),
            DecidedBy::Rule(rule) => Actor {
                kind: AuditActor::Rule,
                label: rule.text.clone(),
            },
            DecidedBy::Mode(mode) => Actor {
                kind: AuditActor::Mode,
                label: mode.0.as_ref().to_owned(),
            },
            DecidedBy::Timeout => Actor {
                kind: AuditActor::Timeout,
                label: String::new(),
            },
            DecidedBy::Policy(policy) => Actor::policy(policy),
            DecidedBy::Agent => Actor::agent(),
        };
        let decided = decision.and_then(audit_body::findable);
        let input = self.details.input(ask);
        let text = audit_body::text(&input, decided.as_ref(), resolution.message());
        let word = serde_json::to_value(outcome.what).unwrap_or_default();
        Write::AppendAudit(AuditRecord {
            at: UnixMillis(resolution.at.0),
            kind: AuditKind::Decision,
            session_id: Some(sayso_store::SessionId(request.session.0)),
            request_id: Some(sayso_store::RequestId(ask.id.0)),
            project: self.project_of(request.session),
            tool_name: Some(ask.tool_name.clone()),
            outcome: word.as_str().unwrap_or_default().to_owned(),
            actor_kind: actor.kind,
            actor_label: actor.label,
            text,
            body: body.json(),
        })
    }

    /// What became of a tool that was decided about.
    pub(super) fn tool_entry(
        &self,
        session: SessionId,
        tool: &AllowedTool,
        tool_use_id: &str,
        failed: bool,
    ) -> Write {
        let record = self.record(session, AuditKind::Outcome, &Actor::agent());
        Write::AppendAudit(AuditRecord {
            request_id: Some(sayso_store::RequestId(tool.request.0)),
            tool_name: Some(tool.name.clone()),
            outcome: if failed { "failed" } else { "ran" }.to_owned(),
            body: json!({"tool_use_id": tool_use_id}).to_string(),
            ..record
        })
    }

    pub(super) fn alert_entry(
        &self,
        session: SessionId,
        tool_name: &str,
        subject: &str,
        body: &Value,
    ) -> Write {
        let record = self.record(session, AuditKind::Alert, &Actor::agent());
        Write::AppendAudit(AuditRecord {
            tool_name: Some(tool_name.to_owned()),
            outcome: "ran unasked".to_owned(),
            text: subject.to_owned(),
            body: body.to_string(),
            ..record
        })
    }

    pub(super) fn mode_entry(&self, session: SessionId, actor: &Actor, mode: &str) -> Write {
        Write::AppendAudit(AuditRecord {
            outcome: mode.to_owned(),
            ..self.record(session, AuditKind::Mode, actor)
        })
    }

    pub(super) fn session_entry(
        &self,
        session: SessionId,
        actor: &Actor,
        outcome: &str,
        text: &str,
    ) -> Write {
        Write::AppendAudit(AuditRecord {
            outcome: outcome.to_owned(),
            text: text.to_owned(),
            ..self.record(session, AuditKind::Session, actor)
        })
    }

    fn record(&self, session: SessionId, kind: AuditKind, actor: &Actor) -> AuditRecord {
        AuditRecord {
            at: UnixMillis(now().0),
            kind,
            session_id: Some(sayso_store::SessionId(session.0)),
            request_id: None,
            project: self.project_of(session),
            tool_name: None,
            outcome: String::new(),
            actor_kind: actor.kind,
            actor_label: actor.label.clone(),
            text: String::new(),
            body: "{}".to_owned(),
        }
    }

    fn project_of(&self, session: SessionId) -> Option<String> {
        let known: &Session = self.sessions.get(session)?;
        Some(known.cwd.clone())
    }
}

pub(super) fn rule_entry(rule: &Rule, outcome: &str, actor: &Actor) -> Write {
    let (session_id, project) = match &rule.scope {
        RuleScope::Session { session_id } => (Some(sayso_store::SessionId(*session_id)), None),
        RuleScope::Project { path } => (None, Some(path.clone())),
        RuleScope::Everywhere {} => (None, None),
    };
    Write::AppendAudit(AuditRecord {
        at: UnixMillis(now().0),
        kind: AuditKind::Rule,
        session_id,
        request_id: None,
        project,
        tool_name: None,
        outcome: outcome.to_owned(),
        actor_kind: actor.kind,
        actor_label: actor.label.clone(),
        text: rule.rule.clone(),
        body: serde_json::to_string(rule).unwrap_or_default(),
    })
}

/// Where each session works, before the sessions themselves are there.
#[derive(Debug)]
pub(super) struct Folders(HashMap<sayso_store::SessionId, String>);

impl Folders {
    pub(super) async fn read(store: &Store) -> Result<Self, ReadError> {
        let rows = store.sessions().await?.into_iter();
        Ok(Self(rows.map(|row| (row.id, row.cwd)).collect()))
    }
}

/// What a lost agent left open.
pub(super) fn orphan_entry(row: &RequestRow, folders: &Folders, now: UnixMillis) -> AuditRecord {
    let latency = now.0.saturating_sub(row.created_at.0);
    let body = DecisionBody {
        form: Sparse,
        request: AskedBody {
            request_type: records::request_type(&row.kind),
            tool_name: &row.tool_name,
            tool_input: exact(&row.input),
            input_digest: &row.input_digest,
            tool_use_id: row.tool_use_id.as_deref(),
            created_at: wire::time(sayso_broker::Timestamp(row.created_at.0)),
        },
        shown: exact(&row.detail),
        decision: None,
        outcome: OutcomeKind::Orphaned,
        by: sayso_protocol::DecidedBy::Agent,
        by_name: None,
        client: None,
        message: None,
        latency_ms: u64::try_from(latency).unwrap_or(0),
    };
    AuditRecord {
        at: now,
        kind: AuditKind::Decision,
        session_id: Some(row.session_id),
        request_id: Some(row.id),
        project: folders.0.get(&row.session_id).cloned(),
        tool_name: Some(row.tool_name.clone()),
        outcome: "orphaned".to_owned(),
        actor_kind: AuditActor::Server,
        actor_label: String::new(),
        text: audit_body::text(&parsed(&row.input), None, None),
        body: body.json(),
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}
