//! Devices and tokens, for those who manage them.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse, Response};
use sayso_protocol::{ChangeDevice, Devices, NewToken};
use serde_json::json;
use uuid::Uuid;

use super::Web;
use super::incoming::Sent;
use super::refused::Refused;
use crate::access::{Identity, Pass};

pub(super) async fn list(State(web): State<Web>) -> Json<Devices> {
    Json(web.access.devices())
}

pub(super) async fn make_token(
    State(web): State<Web>,
    pass: Pass,
    sent: Sent,
) -> Result<Response, Refused> {
    let wanted: NewToken = sent.read("tokens")?;
    Ok(Json(web.access.make_token(&pass, wanted).await?).into_response())
}

pub(super) async fn change(
    State(web): State<Web>,
    pass: Pass,
    Path(id): Path<Uuid>,
    sent: Sent,
) -> Result<Response, Refused> {
    let wanted: ChangeDevice = sent.read("devices")?;
    let device = web.access.change(&pass, id, wanted).await?;
    Ok(Json(device).into_response())
}

pub(super) async fn revoke(
    State(web): State<Web>,
    pass: Pass,
    Path(id): Path<Uuid>,
) -> Result<Response, Refused> {
    web.access.revoke(&pass, id).await?;
    Ok(Json(json!({})).into_response())
}

/// A device shows itself the door.
pub(super) async fn sign_out(State(web): State<Web>, pass: Pass) -> Result<Response, Refused> {
    if let Identity::Device(id) = pass.identity {
        web.access.revoke(&pass, id).await?;
    }
    let cookie = [(SET_COOKIE, web.gate.no_cookie())];
    Ok((cookie, Json(json!({}))).into_response())
}
