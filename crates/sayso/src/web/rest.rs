//! REST, for scripts and integrations: the same messages, the same errors.

use std::any::Any;

use axum::extract::{Path, Query, Request, State};
use axum::http::header::{CONTENT_TYPE, USER_AGENT};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use sayso_protocol::{
    ClientMessage, ContentBlock, Decision, ErrorCode, ErrorMessage, Extend, ParseError,
    RequestTarget, Respond, SendMessage, SessionTarget, SetPermissionMode, parse_body,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::{Web, label};

/// How many transcript entries one answer holds at most.
const MAXIMUM_PAGE: u32 = 1000;

pub(super) fn routes() -> Router<Web> {
    Router::new()
        .route("/me", get(me))
        .route("/sessions", get(sessions).post(start_session))
        .route("/sessions/{id}/messages", post(send_message))
        .route("/sessions/{id}/interrupt", post(interrupt))
        .route("/sessions/{id}/stop", post(stop_session))
        .route("/sessions/{id}/permission_mode", post(set_permission_mode))
        .route("/sessions/{id}/transcript", get(transcript))
        .route("/requests", get(requests))
        .route("/requests/{id}", get(request))
        .route("/requests/{id}/baseline", get(super::baseline::baseline))
        .route(
            "/requests/{id}/preview/{question}/{option}",
            get(super::preview::preview),
        )
        .route("/requests/{id}/decision", post(decide))
        .route("/requests/{id}/hold", post(hold))
        .route("/requests/{id}/resume_clock", post(resume_clock))
        .route("/requests/{id}/extend", post(extend))
}

pub(super) async fn health() -> Response {
    Json(json!({"status": "ok", "version": env!("CARGO_PKG_VERSION")})).into_response()
}

pub(super) async fn not_found() -> Response {
    refuse(ErrorCode::NotFound, "There is nothing at this address.")
}

/// Lets a page find out whether it is let in.
async fn me() -> Response {
    Json(json!({"server_version": env!("CARGO_PKG_VERSION")})).into_response()
}

async fn sessions(State(web): State<Web>) -> Response {
    crate::faults::strike("handler");
    match web.hub.snapshot().await {
        Ok(snapshot) => Json(json!({"sessions": snapshot.sessions})).into_response(),
        Err(gone) => refuse(ErrorCode::ShuttingDown, gone.to_string()),
    }
}

async fn requests(State(web): State<Web>) -> Response {
    match web.hub.snapshot().await {
        Ok(snapshot) => {
            // Serialised by hand: raw JSON must not pass through a `Value`.
            #[derive(serde::Serialize)]
            struct Body {
                pending_requests: Vec<sayso_protocol::PendingRequest>,
            }
            let pending_requests = snapshot.pending_requests;
            Json(Body { pending_requests }).into_response()
        }
        Err(gone) => refuse(ErrorCode::ShuttingDown, gone.to_string()),
    }
}

async fn request(State(web): State<Web>, Path(id): Path<Uuid>) -> Response {
    let snapshot = match web.hub.snapshot().await {
        Ok(snapshot) => snapshot,
        Err(gone) => return refuse(ErrorCode::ShuttingDown, gone.to_string()),
    };
    match snapshot
        .pending_requests
        .into_iter()
        .find(|request| request.request_id == id)
    {
        Some(request) => Json(request).into_response(),
        None => refuse(
            ErrorCode::UnknownRequest,
            "There is no open request with this id.",
        ),
    }
}

#[derive(Debug, Deserialize)]
struct Page {
    after: Option<i64>,
    before: Option<i64>,
    limit: Option<u32>,
}

async fn transcript(
    State(web): State<Web>,
    Path(id): Path<Uuid>,
    Query(page): Query<Page>,
) -> Response {
    let limit = page.limit.unwrap_or(MAXIMUM_PAGE).clamp(1, MAXIMUM_PAGE);
    let session = sayso_store::SessionId(id);
    match web.store.session(session).await {
        Ok(Some(_)) => {}
        Ok(None) => return refuse(ErrorCode::UnknownSession, "There is no such session."),
        Err(error) => return refuse(ErrorCode::StoreUnavailable, error.to_string()),
    }
    let rows = match page.before {
        Some(before) => web.store.entries_before(session, before, limit).await,
        None => {
            let after = page.after.unwrap_or(0);
            web.store.entries(session, after, limit).await
        }
    };
    match rows {
        Ok(rows) => {
            #[derive(serde::Serialize)]
            struct Body {
                entries: Vec<Box<RawValue>>,
            }
            let entries = rows
                .into_iter()
                .filter_map(|row| RawValue::from_string(row.body).ok());
            let entries = entries.collect();
            Json(Body { entries }).into_response()
        }
        Err(error) => refuse(ErrorCode::StoreUnavailable, error.to_string()),
    }
}

async fn start_session(State(web): State<Web>, headers: HeaderMap, body: String) -> Response {
    match read(&headers, "start_session", &body) {
        Ok(start) => call(&web, &headers, ClientMessage::StartSession(start)).await,
        Err(error) => refuse(error.code, error.message),
    }
}

async fn send_message(
    State(web): State<Web>,
    Path(session_id): Path<Uuid>,
    headers: HeaderMap,
    body: String,
) -> Response {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Body {
        content: Vec<ContentBlock>,
    }
    match read::<Body>(&headers, "send_message", &body) {
        Ok(Body { content }) => {
            let message = SendMessage {
                session_id,
                content,
            };
            call(&web, &headers, ClientMessage::SendMessage(message)).await
        }
        Err(error) => refuse(error.code, error.message),
    }
}

async fn interrupt(
    State(web): State<Web>,
    Path(session_id): Path<Uuid>,
    headers: HeaderMap,
) -> Response {
    call(
        &web,
        &headers,
        ClientMessage::Interrupt(SessionTarget { session_id }),
    )
    .await
}

async fn stop_session(
    State(web): State<Web>,
    Path(session_id): Path<Uuid>,
    headers: HeaderMap,
) -> Response {
    call(
        &web,
        &headers,
        ClientMessage::StopSession(SessionTarget { session_id }),
    )
    .await
}

async fn set_permission_mode(
    State(web): State<Web>,
    Path(session_id): Path<Uuid>,
    headers: HeaderMap,
    body: String,
) -> Response {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Body {
        permission_mode: String,
    }
    match read::<Body>(&headers, "set_permission_mode", &body) {
        Ok(Body { permission_mode }) => {
            let message = SetPermissionMode {
                session_id,
                permission_mode,
            };
            call(&web, &headers, ClientMessage::SetPermissionMode(message)).await
        }
        Err(error) => refuse(error.code, error.message),
    }
}

async fn decide(
    State(web): State<Web>,
    Path(request_id): Path<Uuid>,
    headers: HeaderMap,
    body: String,
) -> Response {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Body {
        input_digest: String,
        decision: Decision,
    }
    match read::<Body>(&headers, "decision", &body) {
        Ok(Body {
            input_digest,
            decision,
        }) => {
            let respond = Respond {
                request_id,
                input_digest,
                decision,
            };
            call(&web, &headers, ClientMessage::Respond(respond)).await
        }
        Err(error) => refuse(error.code, error.message),
    }
}

async fn hold(
    State(web): State<Web>,
    Path(request_id): Path<Uuid>,
    headers: HeaderMap,
) -> Response {
    call(
        &web,
        &headers,
        ClientMessage::Hold(RequestTarget { request_id }),
    )
    .await
}

async fn resume_clock(
    State(web): State<Web>,
    Path(request_id): Path<Uuid>,
    headers: HeaderMap,
) -> Response {
    call(
        &web,
        &headers,
        ClientMessage::ResumeClock(RequestTarget { request_id }),
    )
    .await
}

async fn extend(
    State(web): State<Web>,
    Path(request_id): Path<Uuid>,
    headers: HeaderMap,
    body: String,
) -> Response {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Body {
        seconds: u32,
    }
    match read::<Body>(&headers, "extend", &body) {
        Ok(Body { seconds }) => {
            let message = Extend {
                request_id,
                seconds,
            };
            call(&web, &headers, ClientMessage::Extend(message)).await
        }
        Err(error) => refuse(error.code, error.message),
    }
}

/// JSON only: a form of another site cannot send it without asking first.
pub(super) fn read<T: DeserializeOwned>(
    headers: &HeaderMap,
    name: &str,
    body: &str,
) -> Result<T, ParseError> {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    let kind = kind
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default()
        .trim();
    if kind != "application/json" {
        return Err(ParseError {
            id: None,
            code: ErrorCode::InvalidMessage,
            message: "Send JSON with `Content-Type: application/json`.".to_owned(),
        });
    }
    parse_body(name, body)
}

pub(super) async fn call(web: &Web, headers: &HeaderMap, message: ClientMessage) -> Response {
    let agent = headers
        .get(USER_AGENT)
        .and_then(|agent| agent.to_str().ok());
    match web.hub.call(&label::label(agent), message).await {
        Ok(Ok(ack)) => Json(ack).into_response(),
        Ok(Err(error)) => (status(error.code), Json(error)).into_response(),
        Err(gone) => refuse(ErrorCode::ShuttingDown, gone.to_string()),
    }
}

/// An error as every route gives it: a status, a code and a sentence.
pub(super) fn refuse(code: ErrorCode, message: impl Into<String>) -> Response {
    (status(code), Json(ErrorMessage::new(code, message))).into_response()
}

/// A handler has panicked. Whatever the hub was told before goes on.
pub(super) fn failed(_panic: Box<dyn Any + Send>) -> Response {
    tracing::error!("a request could not be answered because of a fault inside Sayso");
    refuse(ErrorCode::Internal, "Something went wrong; see the log.")
}

/// Gives the framework's own refusals (a bad id, a wrong method) the form of ours.
pub(super) async fn as_json(request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let status = response.status();
    let kind = response.headers().get(CONTENT_TYPE);
    let is_json = kind.is_some_and(|kind| kind == "application/json");
    if is_json || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let (code, text) = match status {
        StatusCode::PAYLOAD_TOO_LARGE => (ErrorCode::MessageTooLarge, "The body is too large."),
        StatusCode::METHOD_NOT_ALLOWED => {
            (ErrorCode::NotFound, "This address takes another method.")
        }
        StatusCode::NOT_FOUND => (ErrorCode::NotFound, "There is nothing at this address."),
        _ if status.is_server_error() => {
            (ErrorCode::Internal, "Something went wrong; see the log.")
        }
        _ => (
            ErrorCode::InvalidMessage,
            "The address, its parameters or the body cannot be read. Ids are UUIDs, bodies are JSON.",
        ),
    };
    let mut refusal = refuse(code, text);
    *refusal.status_mut() = status;
    refusal
}

fn status(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::InvalidMessage
        | ErrorCode::UnknownType
        | ErrorCode::InvalidAnswer
        | ErrorCode::InvalidRule
        | ErrorCode::FolderNotFound => StatusCode::BAD_REQUEST,
        ErrorCode::Unauthorized => StatusCode::UNAUTHORIZED,
        ErrorCode::Forbidden => StatusCode::FORBIDDEN,
        ErrorCode::UnknownSession
        | ErrorCode::UnknownRequest
        | ErrorCode::UnknownConversation
        | ErrorCode::UnknownRule
        | ErrorCode::NotFound => StatusCode::NOT_FOUND,
        ErrorCode::AlreadyDecided
        | ErrorCode::DigestMismatch
        | ErrorCode::SessionTaken
        | ErrorCode::SessionEnded
        | ErrorCode::FolderNotTrusted
        | ErrorCode::RuleTooBroad
        | ErrorCode::AlreadySent => StatusCode::CONFLICT,
        ErrorCode::MessageTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::NotSupported => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorCode::AgentError => StatusCode::BAD_GATEWAY,
        ErrorCode::AgentUnavailable
        | ErrorCode::Overloaded
        | ErrorCode::StoreUnavailable
        | ErrorCode::ShuttingDown => StatusCode::SERVICE_UNAVAILABLE,
        ErrorCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
