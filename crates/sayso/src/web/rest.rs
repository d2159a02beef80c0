//! REST, for scripts and integrations: the same messages, the same errors.

use std::any::Any;

use axum::Json;
use axum::extract::{Path, Query, Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sayso_protocol::{
    ClientMessage, ContentBlock, Decision, ErrorCode, Extend, RequestTarget, Respond, SendMessage,
    SessionTarget, SetPermissionMode,
};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::Web;
use super::incoming::Sent;
use super::refused::Refused;
use crate::access::Pass;

/// What a handler gives.
pub(super) type Answer = Result<Response, Refused>;

/// How many transcript entries one answer holds at most.
const MAXIMUM_PAGE: u32 = 1000;

pub(super) async fn health() -> Response {
    Json(json!({"status": "ok", "version": env!("CARGO_PKG_VERSION")})).into_response()
}

pub(super) async fn not_found() -> Refused {
    Refused::new(ErrorCode::NotFound, "There is nothing at this address.")
}

/// Lets a page find out whether it is let in.
pub(super) async fn me(State(web): State<Web>, pass: Pass) -> Response {
    let me = web.access.me(&pass);
    Json(json!({"server_version": env!("CARGO_PKG_VERSION"), "me": me})).into_response()
}

pub(super) async fn sessions(State(web): State<Web>) -> Answer {
    crate::faults::strike("handler");
    let snapshot = web.hub.snapshot().await?;
    Ok(Json(json!({"sessions": snapshot.sessions})).into_response())
}

pub(super) async fn requests(State(web): State<Web>) -> Answer {
    // Serialised by hand: raw JSON must not pass through a `Value`.
    #[derive(serde::Serialize)]
    struct Body {
        pending_requests: Vec<sayso_protocol::PendingRequest>,
    }
    let pending_requests = web.hub.snapshot().await?.pending_requests;
    Ok(Json(Body { pending_requests }).into_response())
}

pub(super) async fn request(State(web): State<Web>, Path(id): Path<Uuid>) -> Answer {
    let snapshot = web.hub.snapshot().await?;
    let mut requests = snapshot.pending_requests.into_iter();
    match requests.find(|request| request.request_id == id) {
        Some(request) => Ok(Json(request).into_response()),
        None => {
            let text = "There is no open request with this id.";
            Err(Refused::new(ErrorCode::UnknownRequest, text))
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Page {
    after: Option<i64>,
    before: Option<i64>,
    limit: Option<u32>,
}

pub(super) async fn transcript(
    State(web): State<Web>,
    Path(id): Path<Uuid>,
    Query(page): Query<Page>,
) -> Answer {
    #[derive(serde::Serialize)]
    struct Body {
        entries: Vec<Box<RawValue>>,
    }
    let limit = page.limit.unwrap_or(MAXIMUM_PAGE).clamp(1, MAXIMUM_PAGE);
    let session = sayso_store::SessionId(id);
    if web.store.session(session).await?.is_none() {
        let text = "There is no such session.";
        return Err(Refused::new(ErrorCode::UnknownSession, text));
    }
    let rows = match page.before {
        Some(before) => web.store.entries_before(session, before, limit).await?,
        None => {
            let after = page.after.unwrap_or(0);
            web.store.entries(session, after, limit).await?
        }
    };
    let bodies = rows.into_iter();
    let entries = bodies.filter_map(|row| RawValue::from_string(row.body).ok());
    let entries = entries.collect();
    Ok(Json(Body { entries }).into_response())
}

pub(super) async fn start_session(State(web): State<Web>, pass: Pass, sent: Sent) -> Answer {
    let start = sent.read("start_session")?;
    call(&web, pass, ClientMessage::StartSession(start)).await
}

pub(super) async fn send_message(
    State(web): State<Web>,
    pass: Pass,
    Path(session_id): Path<Uuid>,
    sent: Sent,
) -> Answer {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Body {
        content: Vec<ContentBlock>,
    }
    let Body { content } = sent.read("send_message")?;
    let message = SendMessage {
        session_id,
        content,
    };
    call(&web, pass, ClientMessage::SendMessage(message)).await
}

pub(super) async fn interrupt(
    State(web): State<Web>,
    pass: Pass,
    Path(session_id): Path<Uuid>,
) -> Answer {
    let target = SessionTarget { session_id };
    call(&web, pass, ClientMessage::Interrupt(target)).await
}

pub(super) async fn stop_session(
    State(web): State<Web>,
    pass: Pass,
    Path(session_id): Path<Uuid>,
) -> Answer {
    let target = SessionTarget { session_id };
    call(&web, pass, ClientMessage::StopSession(target)).await
}

pub(super) async fn set_permission_mode(
    State(web): State<Web>,
    pass: Pass,
    Path(session_id): Path<Uuid>,
    sent: Sent,
) -> Answer {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Body {
        permission_mode: String,
    }
    let Body { permission_mode } = sent.read("set_permission_mode")?;
    let message = SetPermissionMode {
        session_id,
        permission_mode,
    };
    call(&web, pass, ClientMessage::SetPermissionMode(message)).await
}

pub(super) async fn decide(
    State(web): State<Web>,
    pass: Pass,
    Path(request_id): Path<Uuid>,
    sent: Sent,
) -> Answer {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Body {
        input_digest: String,
        decision: Decision,
    }
    let body: Body = sent.read("decision")?;
    let respond = Respond {
        request_id,
        input_digest: body.input_digest,
        decision: body.decision,
    };
    call(&web, pass, ClientMessage::Respond(respond)).await
}

pub(super) async fn hold(
    State(web): State<Web>,
    pass: Pass,
    Path(request_id): Path<Uuid>,
) -> Answer {
    let target = RequestTarget { request_id };
    call(&web, pass, ClientMessage::Hold(target)).await
}

pub(super) async fn resume_clock(
    State(web): State<Web>,
    pass: Pass,
    Path(request_id): Path<Uuid>,
) -> Answer {
    let target = RequestTarget { request_id };
    call(&web, pass, ClientMessage::ResumeClock(target)).await
}

pub(super) async fn extend(
    State(web): State<Web>,
    pass: Pass,
    Path(request_id): Path<Uuid>,
    sent: Sent,
) -> Answer {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Body {
        seconds: u32,
    }
    let Body { seconds } = sent.read("extend")?;
    let message = Extend {
        request_id,
        seconds,
    };
    call(&web, pass, ClientMessage::Extend(message)).await
}

/// Hands a message to the hub and gives back its answer.
pub(super) async fn call(web: &Web, pass: Pass, message: ClientMessage) -> Answer {
    let ack = web.hub.call(pass, message).await??;
    Ok(Json(ack).into_response())
}

/// A handler has panicked. Whatever the hub was told before goes on.
pub(super) fn failed(_panic: Box<dyn Any + Send>) -> Response {
    tracing::error!("a request could not be answered because of a fault inside Sayso");
    let text = "Something went wrong; see the log.";
    Refused::new(ErrorCode::Internal, text).into_response()
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
    let mut refusal = Refused::new(code, text).into_response();
    *refusal.status_mut() = status;
    refusal
}
