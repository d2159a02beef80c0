//! Domain types as rows.

use sayso_broker::{
    ClientId, ClientRef, DecidedBy, Decision, Delivery, Json, Mode, OutcomeKind, RequestId,
    RequestView, Resolution, RuleRef, Timestamp,
};
use sayso_protocol::{RawJson, RequestDetail, RequestType};
use sayso_store::{self as store, DecisionRow, RequestRow, RequestStatus, Text, UnixMillis, Write};
use serde::Serialize;

use super::wire;

pub(super) fn open_request(request: &RequestView, detail: Option<&RequestDetail>) -> Write {
    let ask = &request.ask;
    Write::OpenRequest(Box::new(RequestRow {
        id: request_id(ask.id),
        session_id: store::SessionId(request.session.0),
        native_id: ask.native_id.as_str().to_owned(),
        kind: kind_name(request).to_owned(),
        tool_name: ask.tool_name.clone(),
        tool_use_id: ask.tool_use_id.clone(),
        agent_id: detail.and_then(|detail| detail.agent_id.clone()),
        agent_label: detail.and_then(|detail| detail.agent_label.clone()),
        input: shared(&ask.input),
        input_digest: ask.digest.clone(),
        raw: ask.raw.as_ref().map_or_else(|| "{}".into(), shared),
        detail: shared(&ask.detail),
        created_at: millis(request.created_at),
        deadline: request.clock.deadline.map(millis),
        held_remaining_ms: remaining(request),
        held: request.clock.held,
        status: RequestStatus::Open,
    }))
}

fn shared(json: &Json) -> Text {
    let raw = json.to_raw();
    raw.map_or_else(|| json.as_str().into(), Text::Shared)
}

pub(super) fn clock(request: &RequestView) -> Write {
    Write::UpdateRequestClock {
        id: request_id(request.ask.id),
        deadline: request.clock.deadline.map(millis),
        held_remaining_ms: remaining(request),
        held: request.clock.held,
    }
}

pub(super) fn decide(request: RequestId, resolution: &Resolution) -> Write {
    let client = match &resolution.by {
        DecidedBy::Human(client) => Some(client),
        DecidedBy::Rule(_)
        | DecidedBy::Mode(_)
        | DecidedBy::Timeout
        | DecidedBy::Policy(_)
        | DecidedBy::Agent => None,
    };
    Write::Decide(DecisionRow {
        request_id: request_id(request),
        outcome: match resolution.outcome {
            OutcomeKind::Allowed => store::Outcome::Allowed,
            OutcomeKind::Denied => store::Outcome::Denied,
            OutcomeKind::Answered => store::Outcome::Answered,
            OutcomeKind::Expired => store::Outcome::Expired,
            OutcomeKind::Withdrawn => store::Outcome::Withdrawn,
            OutcomeKind::Orphaned => store::Outcome::Orphaned,
        },
        decided_by: match &resolution.by {
            DecidedBy::Human(_) => store::DecidedBy::Human,
            DecidedBy::Rule(_) => store::DecidedBy::Rule,
            DecidedBy::Mode(_) => store::DecidedBy::Mode,
            DecidedBy::Timeout => store::DecidedBy::Timeout,
            DecidedBy::Policy(_) => store::DecidedBy::Policy,
            DecidedBy::Agent => store::DecidedBy::Agent,
        },
        client_id: client.map(|client| client.id.to_string()),
        client_label: client.map(|client| client.label.clone()),
        decision: decision_text(resolution),
        message: resolution.message().map(str::to_owned),
        at: millis(resolution.at),
        delivery: delivery(resolution.delivery),
        delivered_at: None,
    })
}

/// A decision and by what it was made, as it is stored.
fn decision_text(resolution: &Resolution) -> String {
    let mut by = By::default();
    match &resolution.by {
        DecidedBy::Rule(rule) => {
            by.rule_id = Some(&rule.id);
            by.rule = Some(&rule.text);
        }
        DecidedBy::Mode(mode) => by.mode = Some(mode.0.as_ref()),
        DecidedBy::Policy(policy) => by.policy = Some(policy),
        DecidedBy::Human(_) | DecidedBy::Timeout | DecidedBy::Agent => {}
    }
    let stored = match &resolution.decision {
        None => return "null".to_owned(),
        Some(Decision::Allow(allowance)) => Stored::Allow {
            behavior: "allow",
            updated_input: allowance.updated_input.as_ref().and_then(Json::to_raw),
            remember: &allowance.remember,
            permission_mode: allowance.mode.as_ref().map(|mode| mode.0.as_ref()),
            by,
        },
        Some(decision @ (Decision::Deny { .. } | Decision::Answer(_) | Decision::Submit(_))) => {
            let decision = wire::decision_json(decision);
            Stored::Other { decision, by }
        }
    };
    // Strings, numbers and JSON values: this cannot fail.
    serde_json::to_string(&stored).unwrap_or_default()
}

#[derive(Serialize)]
#[serde(untagged)]
enum Stored<'a> {
    Allow {
        behavior: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        updated_input: Option<RawJson>,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        remember: &'a [usize],
        #[serde(skip_serializing_if = "Option::is_none")]
        permission_mode: Option<&'a str>,
        #[serde(flatten)]
        by: By<'a>,
    },
    Other {
        #[serde(flatten)]
        decision: serde_json::Value,
        #[serde(flatten)]
        by: By<'a>,
    },
}

#[derive(Default, Serialize)]
struct By<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    rule_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<&'a str>,
}

/// A decision as it was stored. `None` where nothing was decided: the request was taken back or lost.
pub(super) fn resolution(row: &DecisionRow) -> Option<Resolution> {
    let stored: serde_json::Value = serde_json::from_str(&row.decision).ok()?;
    let word = |name: &str| stored[name].as_str().unwrap_or_default().to_owned();
    let by = match row.decided_by {
        store::DecidedBy::Human => DecidedBy::Human(ClientRef {
            id: ClientId(row.client_id.as_ref()?.parse().ok()?),
            label: row.client_label.clone().unwrap_or_default(),
        }),
        store::DecidedBy::Rule => DecidedBy::Rule(RuleRef {
            id: word("rule_id"),
            text: word("rule"),
        }),
        store::DecidedBy::Mode => DecidedBy::Mode(Mode::new(&word("mode"))),
        store::DecidedBy::Timeout => DecidedBy::Timeout,
        store::DecidedBy::Policy => DecidedBy::Policy(policy_name(&word("policy"))),
        store::DecidedBy::Agent => return None,
    };
    Some(Resolution {
        outcome: match row.outcome {
            store::Outcome::Allowed => OutcomeKind::Allowed,
            store::Outcome::Denied => OutcomeKind::Denied,
            store::Outcome::Answered => OutcomeKind::Answered,
            store::Outcome::Expired => OutcomeKind::Expired,
            store::Outcome::Withdrawn | store::Outcome::Orphaned => return None,
        },
        by,
        decision: Some(wire::stored_decision(&stored)?),
        at: Timestamp(row.at.0),
        delivery: Delivery::Pending,
    })
}

fn policy_name(name: &str) -> &'static str {
    const NAMES: [&str; 5] = [
        "auto_approve",
        "shutting_down",
        "too_many_requests",
        "when_unattended",
        "restarting",
    ];
    let known = NAMES.into_iter().find(|known| *known == name);
    known.unwrap_or("policy")
}

pub(super) fn set_delivery(request: RequestId, state: Delivery, now: Timestamp) -> Write {
    Write::SetDelivery {
        request_id: request_id(request),
        delivery: delivery(state),
        at: (state == Delivery::Sent).then(|| millis(now)),
    }
}

fn delivery(delivery: Delivery) -> store::Delivery {
    match delivery {
        Delivery::Pending => store::Delivery::Pending,
        Delivery::Sent => store::Delivery::Sent,
        Delivery::TooLate => store::Delivery::TooLate,
        Delivery::Failed => store::Delivery::Failed,
        Delivery::None => store::Delivery::None,
    }
}

/// The outcome of a request that was closed so long ago that only the store knows it.
pub(super) fn outcome(row: &DecisionRow) -> sayso_protocol::Outcome {
    use sayso_protocol::{DecidedBy, Delivery, OutcomeKind};
    let client = row.client_id.as_ref().and_then(|id| id.parse().ok());
    let decision: serde_json::Value = serde_json::from_str(&row.decision).unwrap_or_default();
    sayso_protocol::Outcome {
        what: match row.outcome {
            store::Outcome::Allowed => OutcomeKind::Allowed,
            store::Outcome::Denied => OutcomeKind::Denied,
            store::Outcome::Answered => OutcomeKind::Answered,
            store::Outcome::Expired => OutcomeKind::Expired,
            store::Outcome::Withdrawn => OutcomeKind::Withdrawn,
            store::Outcome::Orphaned => OutcomeKind::Orphaned,
        },
        by: match row.decided_by {
            store::DecidedBy::Human => DecidedBy::Human,
            store::DecidedBy::Rule => DecidedBy::Rule,
            store::DecidedBy::Mode => DecidedBy::Mode,
            store::DecidedBy::Timeout => DecidedBy::Timeout,
            store::DecidedBy::Policy => DecidedBy::Policy,
            store::DecidedBy::Agent => DecidedBy::Agent,
        },
        by_name: decision
            .get("mode")
            .or_else(|| decision.get("rule"))
            .or_else(|| decision.get("policy"))
            .and_then(|name| Some(name.as_str()?.to_owned())),
        client: client.map(|client_id| sayso_protocol::ClientRef {
            client_id,
            label: row.client_label.clone().unwrap_or_default(),
        }),
        message: row.message.clone(),
        edited: decision
            .get("updated_input")
            .is_some_and(|input| !input.is_null()),
        delivery: match row.delivery {
            store::Delivery::Pending => Delivery::Pending,
            store::Delivery::Sent => Delivery::Sent,
            store::Delivery::TooLate => Delivery::TooLate,
            store::Delivery::Failed => Delivery::Failed,
            store::Delivery::None => Delivery::None,
        },
        at: wire::time(Timestamp(row.at.0)),
    }
}

/// The kind as it was stored; what this version does not know is `Other`.
pub(super) fn request_type(kind: &str) -> RequestType {
    match kind {
        "tool_approval" => RequestType::ToolApproval,
        "ask_user_question" => RequestType::AskUserQuestion,
        "plan_approval" => RequestType::PlanApproval,
        "elicitation" => RequestType::Elicitation,
        _ => RequestType::Other,
    }
}

fn kind_name(request: &RequestView) -> &'static str {
    use sayso_broker::Kind;
    match request.ask.kind {
        Kind::Tool => "tool_approval",
        Kind::Questions(_) => "ask_user_question",
        Kind::Plan(_) => "plan_approval",
        Kind::Elicitation(_) => "elicitation",
        Kind::Other => "other",
    }
}

fn remaining(request: &RequestView) -> Option<i64> {
    let remaining = request.clock.remaining?;
    Some(i64::try_from(remaining.as_millis()).unwrap_or(i64::MAX))
}

fn request_id(id: RequestId) -> store::RequestId {
    store::RequestId(id.0)
}

fn millis(time: Timestamp) -> UnixMillis {
    UnixMillis(time.0)
}
