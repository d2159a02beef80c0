//! What an open request is measured against.

use std::path::PathBuf;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use sayso_protocol::{Baseline, ErrorCode, PendingRequest, RequestType};
use serde_json::Value;
use uuid::Uuid;

use super::Web;
use super::rest::refuse;
use crate::agents::claude;
use crate::folders;

/// Only of open requests, and only the file that the request itself names.
pub(super) async fn baseline(State(web): State<Web>, Path(id): Path<Uuid>) -> Response {
    let snapshot = match web.hub.snapshot().await {
        Ok(snapshot) => snapshot,
        Err(gone) => return refuse(ErrorCode::ShuttingDown, gone.to_string()),
    };
    let mut requests = snapshot.pending_requests.into_iter();
    let Some(request) = requests.find(|request| request.request_id == id) else {
        let text = "There is no open request with this id.";
        return refuse(ErrorCode::UnknownRequest, text);
    };
    if request.request_type == RequestType::PlanApproval {
        return plan_before(&web, &request).await;
    }
    let Some(path) = claude::changed_file(&request.tool_name, request.tool_input.get()) else {
        return Json(Baseline::None {}).into_response();
    };
    let mut sessions = snapshot.sessions.into_iter();
    let session = sessions.find(|session| session.session_id == request.session_id);
    let cwd = session.map(|session| PathBuf::from(session.cwd));
    let path = cwd.unwrap_or_default().join(path);
    match tokio::task::spawn_blocking(move || folders::file_now(&path)).await {
        Ok(file) => Json(Baseline::File(file)).into_response(),
        Err(error) => refuse(ErrorCode::Internal, error.to_string()),
    }
}

async fn plan_before(web: &Web, request: &PendingRequest) -> Response {
    let session = sayso_store::SessionId(request.session_id);
    let id = sayso_store::RequestId(request.request_id);
    match web.store.request_before(session, "plan_approval", id).await {
        Ok(before) => {
            let input = before.map(|before| before.input).unwrap_or_default();
            let input: Value = serde_json::from_str(&input).unwrap_or_default();
            let text = input["plan"].as_str().map(str::to_owned);
            Json(Baseline::Plan { text }).into_response()
        }
        Err(error) => refuse(ErrorCode::StoreUnavailable, error.to_string()),
    }
}
