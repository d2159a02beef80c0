//! Rules for scripts and for the rule builder: what could be remembered, and what it would do.

use std::path::PathBuf;

use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::{Json, Router};
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
use super::rest::{call, read, refuse};
use crate::hub::Snapshot;
use crate::rules::{self, Call};

pub(super) fn routes() -> Router<Web> {
    Router::new()
        .route("/rules", get(list).post(add))
        .route("/rules/settings", get(settings).post(read_settings))
        .route("/rules/try", post(try_rule))
        .route("/rules/test", post(test))
        .route("/rules/{id}", put(update).delete(remove))
        .route("/rules/{id}/enabled", post(enable))
        .route("/requests/{id}/rules", get(suggestions))
}

async fn list(State(web): State<Web>) -> Response {
    match web.hub.snapshot().await {
        Ok(snapshot) => Json(json!({"rules": snapshot.rules})).into_response(),
        Err(gone) => refuse(ErrorCode::ShuttingDown, gone.to_string()),
    }
}

async fn add(State(web): State<Web>, headers: HeaderMap, body: String) -> Response {
    match read::<AddRule>(&headers, "add_rule", &body) {
        Ok(wanted) => call(&web, &headers, ClientMessage::AddRule(wanted)).await,
        Err(error) => refuse(error.code, error.message),
    }
}

async fn update(
    State(web): State<Web>,
    Path(rule_id): Path<Uuid>,
    headers: HeaderMap,
    body: String,
) -> Response {
    match read::<AddRule>(&headers, "update_rule", &body) {
        Ok(rule) => {
            let update = UpdateRule { rule_id, rule };
            call(&web, &headers, ClientMessage::UpdateRule(update)).await
        }
        Err(error) => refuse(error.code, error.message),
    }
}

async fn enable(
    State(web): State<Web>,
    Path(rule_id): Path<Uuid>,
    headers: HeaderMap,
    body: String,
) -> Response {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Body {
        enabled: bool,
    }
    match read::<Body>(&headers, "enable_rule", &body) {
        Ok(Body { enabled }) => {
            let enable = EnableRule { rule_id, enabled };
            call(&web, &headers, ClientMessage::EnableRule(enable)).await
        }
        Err(error) => refuse(error.code, error.message),
    }
}

async fn remove(State(web): State<Web>, Path(rule_id): Path<Uuid>, headers: HeaderMap) -> Response {
    let remove = RemoveRule { rule_id };
    call(&web, &headers, ClientMessage::RemoveRule(remove)).await
}

/// The rules as a settings file of Claude Code, for a folder or everywhere.
async fn settings(State(web): State<Web>, Query(place): Query<Place>) -> Response {
    let snapshot = match web.hub.snapshot().await {
        Ok(snapshot) => snapshot,
        Err(gone) => return refuse(ErrorCode::ShuttingDown, gone.to_string()),
    };
    let cwd = match place.cwd.as_deref().map(crate::folders::typed_path) {
        Some(None) => return refuse(ErrorCode::InvalidMessage, "`cwd` must be an absolute path."),
        Some(Some(cwd)) => Some(cwd),
        None => None,
    };
    let now = Timestamp::now();
    Json(rules::write_settings(&snapshot.rules, cwd.as_deref(), now)).into_response()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    cwd: Option<String>,
}

/// What such a file says; nothing is kept.
async fn read_settings(headers: HeaderMap, body: String) -> Response {
    let wanted = match read::<ReadSettings>(&headers, "settings", &body) {
        Ok(wanted) => wanted,
        Err(error) => return refuse(error.code, error.message),
    };
    match rules::read_settings(&wanted.text) {
        Ok(found) => Json(found).into_response(),
        Err(error) => refuse(error.code, error.message),
    }
}

/// What could be remembered of an open request.
async fn suggestions(State(web): State<Web>, Path(id): Path<Uuid>) -> Response {
    let snapshot = match web.hub.snapshot().await {
        Ok(snapshot) => snapshot,
        Err(gone) => return refuse(ErrorCode::ShuttingDown, gone.to_string()),
    };
    let open = open_calls(&snapshot);
    let Some((_, call)) = open.into_iter().find(|(request, _)| *request == id) else {
        let text = "There is no open request with this id.";
        return refuse(ErrorCode::UnknownRequest, text);
    };
    outside(move || {
        let call = call.with_links();
        RuleSuggestions {
            suggestions: rules::suggestions(suggest(&call.facts())),
        }
    })
    .await
}

async fn try_rule(State(web): State<Web>, headers: HeaderMap, body: String) -> Response {
    let wanted = match read::<TryRule>(&headers, "try", &body) {
        Ok(wanted) => wanted,
        Err(error) => return refuse(error.code, error.message),
    };
    let snapshot = match web.hub.snapshot().await {
        Ok(snapshot) => snapshot,
        Err(gone) => return refuse(ErrorCode::ShuttingDown, gone.to_string()),
    };
    let history = match past(&web, &snapshot, wanted.session_id).await {
        Ok(history) => history,
        Err(refusal) => return *refusal,
    };
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

async fn past(
    web: &Web,
    snapshot: &Snapshot,
    session: Option<Uuid>,
) -> Result<Vec<Call>, Box<Response>> {
    let Some(id) = session else {
        return Ok(Vec::new());
    };
    let mut sessions = snapshot.sessions.iter();
    let Some(session) = sessions.find(|session| session.session_id == id) else {
        let refusal = refuse(ErrorCode::UnknownSession, "There is no such session.");
        return Err(Box::new(refusal));
    };
    let cwd = PathBuf::from(&session.cwd);
    let calls = rules::past_calls(&web.store, sayso_store::SessionId(id), &cwd).await;
    calls.map_err(|error| Box::new(refuse(ErrorCode::StoreUnavailable, error.to_string())))
}

/// Would this be asked, and why?
async fn test(State(web): State<Web>, headers: HeaderMap, body: String) -> Response {
    let wanted = match read::<TestCall>(&headers, "test", &body) {
        Ok(wanted) => wanted,
        Err(error) => return refuse(error.code, error.message),
    };
    let snapshot = match web.hub.snapshot().await {
        Ok(snapshot) => snapshot,
        Err(gone) => return refuse(ErrorCode::ShuttingDown, gone.to_string()),
    };
    let Some(cwd) = crate::folders::typed_path(&wanted.cwd) else {
        return refuse(ErrorCode::InvalidMessage, "`cwd` must be an absolute path.");
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

/// The file system and long commands are no work for the server's own threads.
async fn outside<T: serde::Serialize + Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Response {
    match tokio::task::spawn_blocking(work).await {
        Ok(answer) => Json(answer).into_response(),
        Err(error) => refuse(ErrorCode::Internal, error.to_string()),
    }
}
