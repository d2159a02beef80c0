//! What an open request is measured against.

use std::path::PathBuf;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use sayso_protocol::{Baseline, ErrorCode, PendingRequest, RequestType};
use serde_json::Value;
use uuid::Uuid;

use super::Web;
use super::outside::outside;
use super::refused::Refused;
use super::rest::Answer;
use crate::agents::claude;
use crate::folders;

/// Only of open requests, and only the file that the request itself names.
pub(super) async fn baseline(State(web): State<Web>, Path(id): Path<Uuid>) -> Answer {
    let snapshot = web.hub.snapshot().await?;
    let mut requests = snapshot.pending_requests.into_iter();
    let Some(request) = requests.find(|request| request.request_id == id) else {
        let text = "There is no open request with this id.";
        return Err(Refused::new(ErrorCode::UnknownRequest, text));
    };
    if request.request_type == RequestType::PlanApproval {
        return plan_before(&web, &request).await;
    }
    let Some(path) = claude::changed_file(&request.tool_name, request.tool_input.get()) else {
        return Ok(Json(Baseline::None {}).into_response());
    };
    let mut sessions = snapshot.sessions.into_iter();
    let session = sessions.find(|session| session.session_id == request.session_id);
    let cwd = session.map(|session| PathBuf::from(session.cwd));
    let path = cwd.unwrap_or_default().join(path);
    outside(move || Baseline::File(folders::file_now(&path))).await
}

async fn plan_before(web: &Web, request: &PendingRequest) -> Answer {
    let session = sayso_store::SessionId(request.session_id);
    let id = sayso_store::RequestId(request.request_id);
    let before = web
        .store
        .request_before(session, "plan_approval", id)
        .await?;
    let input = before.and_then(|before| serde_json::from_str(&before.input).ok());
    let input: Value = input.unwrap_or_default();
    let text = input["plan"].as_str().map(str::to_owned);
    Ok(Json(Baseline::Plan { text }).into_response())
}
