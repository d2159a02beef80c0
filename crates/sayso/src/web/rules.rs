//! Rules for scripts and for the rule builder: what could be remembered, and what it would do.

use std::path::PathBuf;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::response::IntoResponse;
use jiff::Timestamp;
use sayso_policy::{evaluate, risk, suggest};
use sayso_protocol::{
    AddRule, ClientMessage, EnableRule, ErrorCode, ReadSettings, RemoveRule, RuleSuggestions,
    TestCall, TestedCall, TryRule, UpdateRule,
};
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use super::Web;
use super::incoming::Sent;
use super::outside::outside;
use super::refused::Refused;
use super::rest::{Answer, call};
use crate::access::Pass;
use crate::hub::Snapshot;
use crate::rules::{self, Call};

pub(super) async fn list(State(web): State<Web>) -> Answer {
    let rules = web.hub.snapshot().await?.rules;
    Ok(Json(json!({ "rules": rules })).into_response())
}

pub(super) async fn add(State(web): State<Web>, pass: Pass, sent: Sent) -> Answer {
    let wanted: AddRule = sent.read("add_rule")?;
    call(&web, pass, ClientMessage::AddRule(wanted)).await
}

pub(super) async fn update(
    State(web): State<Web>,
    pass: Pass,
    Path(rule_id): Path<Uuid>,
    sent: Sent,
) -> Answer {
    let rule: AddRule = sent.read("update_rule")?;
    let update = UpdateRule { rule_id, rule };
    call(&web, pass, ClientMessage::UpdateRule(update)).await
}

pub(super) async fn enable(
    State(web): State<Web>,
    pass: Pass,
    Path(rule_id): Path<Uuid>,
    sent: Sent,
) -> Answer {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Body {
        enabled: bool,
    }
    let Body { enabled } = sent.read("enable_rule")?;
    let enable = EnableRule { rule_id, enabled };
    call(&web, pass, ClientMessage::EnableRule(enable)).await
}

pub(super) async fn remove(
    State(web): State<Web>,
    pass: Pass,
    Path(rule_id): Path<Uuid>,
) -> Answer {
    let remove = RemoveRule { rule_id };
    call(&web, pass, ClientMessage::RemoveRule(remove)).await
}

/// The rules as a settings file of Claude Code, for a folder or everywhere.
pub(super) async fn settings(State(web): State<Web>, Query(place): Query<Place>) -> Answer {
    let snapshot = web.hub.snapshot().await?;
    let cwd = match place.cwd.as_deref().map(crate::folders::typed_path) {
        Some(None) => return Err(not_absolute()),
        Some(Some(cwd)) => Some(cwd),
        None => None,
    };
    let now = Timestamp::now();
    Ok(Json(rules::write_settings(&snapshot.rules, cwd.as_deref(), now)).into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Place {
    cwd: Option<String>,
}

/// What such a file says; nothing is kept.
pub(super) async fn read_settings(sent: Sent) -> Answer {
    let wanted: ReadSettings = sent.read("settings")?;
    Ok(Json(rules::read_settings(&wanted.text)?).into_response())
}

/// What could be remembered of an open request.
pub(super) async fn suggestions(State(web): State<Web>, Path(id): Path<Uuid>) -> Answer {
    let snapshot = web.hub.snapshot().await?;
    let open = open_calls(&snapshot);
    let Some((_, call)) = open.into_iter().find(|(request, _)| *request == id) else {
        let text = "There is no open request with this id.";
        return Err(Refused::new(ErrorCode::UnknownRequest, text));
    };
    outside(move || {
        let call = call.with_links();
        RuleSuggestions {
            suggestions: rules::suggestions(suggest(&call.facts())),
        }
    })
    .await
}

pub(super) async fn try_rule(State(web): State<Web>, sent: Sent) -> Answer {
    let wanted: TryRule = sent.read("try")?;
    let snapshot = web.hub.snapshot().await?;
    let history = past(&web, &snapshot, wanted.session_id).await?;
    outside(move || {
        let with_links = |call: Call| call.with_links();
        let history: Vec<Call> = history.into_iter().map(with_links).collect();
        let mut tried = rules::tried(&wanted, &history);
        let candidates = rules::candidates(&wanted);
        for (request, call) in open_calls(&snapshot) {
            let session = session_of(&snapshot, request);
            if rules::would_decide(&snapshot.rules, &candidates, &call.with_links(), session) {
                tried.covers.push(request);
            }
        }
        tried
    })
    .await
}

async fn past(web: &Web, snapshot: &Snapshot, session: Option<Uuid>) -> Result<Vec<Call>, Refused> {
    let Some(id) = session else {
        return Ok(Vec::new());
    };
    let mut sessions = snapshot.sessions.iter();
    let Some(session) = sessions.find(|session| session.session_id == id) else {
        let text = "There is no such session.";
        return Err(Refused::new(ErrorCode::UnknownSession, text));
    };
    let cwd = PathBuf::from(&session.cwd);
    Ok(rules::past_calls(&web.store, sayso_store::SessionId(id), &cwd).await?)
}

/// Would this be asked, and why?
pub(super) async fn test(State(web): State<Web>, sent: Sent) -> Answer {
    let wanted: TestCall = sent.read("test")?;
    let snapshot = web.hub.snapshot().await?;
    let Some(cwd) = crate::folders::typed_path(&wanted.cwd) else {
        return Err(not_absolute());
    };
    outside(move || {
        let call = Call::new(&wanted.tool_name, wanted.tool_input, &cwd).with_links();
        let folder = PathBuf::from(&call.cwd);
        let in_force = rules::in_force(&snapshot.rules, None, &folder, Timestamp::now());
        let evaluation = evaluate(&in_force, &call.facts());
        let matched = evaluation.matched.iter();
        TestedCall {
            decision: rules::shown_effect(evaluation.decision),
            matched: matched.filter_map(|id| id.0.parse().ok()).collect(),
            explanation: evaluation.explanation,
            risks: rules::risks(risk::read(&call.facts())),
        }
    })
    .await
}

fn not_absolute() -> Refused {
    Refused::new(ErrorCode::InvalidMessage, "`cwd` must be an absolute path.")
}

/// The calls that open requests ask about.
fn open_calls(snapshot: &Snapshot) -> Vec<(Uuid, Call)> {
    let calls = snapshot.pending_requests.iter().filter_map(|request| {
        let mut sessions = snapshot.sessions.iter();
        let session = sessions.find(|session| session.session_id == request.session_id)?;
        let input = serde_json::from_str(request.tool_input.get()).ok()?;
        let cwd = PathBuf::from(&session.cwd);
        Some((
            request.request_id,
            Call::new(&request.tool_name, input, &cwd),
        ))
    });
    calls.collect()
}

fn session_of(snapshot: &Snapshot, request: Uuid) -> Option<Uuid> {
    let mut requests = snapshot.pending_requests.iter();
    let request = requests.find(|open| open.request_id == request)?;
    Some(request.session_id)
}
