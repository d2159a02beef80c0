//! How a device gets in, and the password before something risky.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::header::{HOST, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use qrcode::{Color, QrCode as Code};
use sayso_protocol::{
    ConfirmPairing, ErrorCode, NewPairing, Pair, Paired, PairingLink, Prove, Proven, QrCode,
    SetPassword,
};
use serde_json::json;
use uuid::Uuid;

use super::incoming::{Sender, Sent};
use super::refused::Refused;
use super::{Web, extension};
use crate::access::{Entered, Newcomer, Pass};

/// Somebody shows the secret of a link.
pub(super) async fn enter(
    State(web): State<Web>,
    sender: Sender,
    headers: HeaderMap,
    sent: Sent,
) -> Result<Response, Refused> {
    let Pair { secret, ticket } = sent.read("pair")?;
    let origin = extension::origin(&headers);
    // A page's ticket is in a cookie, which no script of it can read.
    let ticket = match origin {
        Some(_) => ticket.as_deref(),
        None => web.gate.ticket(&headers),
    };
    let newcomer = Newcomer {
        label: &sender.label,
        address: sender.address,
        origin,
    };
    let entered = web.access.enter(&secret, ticket, newcomer).await?;
    Ok(match entered {
        Entered::In(credential) if origin.is_some() => {
            let token = Some(credential);
            Json(Paired::Paired { token }).into_response()
        }
        Entered::In(credential) => {
            let cookie = [(SET_COOKIE, web.gate.cookie(&credential))];
            (cookie, Json(Paired::Paired { token: None })).into_response()
        }
        Entered::Waiting {
            code,
            expires_at,
            ticket,
        } if origin.is_some() => {
            let ticket = ticket.map(|ticket| ticket.expose().to_owned());
            let body = Paired::Waiting {
                code,
                expires_at,
                ticket,
            };
            (StatusCode::ACCEPTED, Json(body)).into_response()
        }
        Entered::Waiting {
            code,
            expires_at,
            ticket,
        } => {
            let body = Json(Paired::Waiting {
                code,
                expires_at,
                ticket: None,
            });
            let mut response = (StatusCode::ACCEPTED, body).into_response();
            let cookie = ticket.map(|ticket| web.gate.ticket_cookie(&ticket));
            if let Some(cookie) = cookie.and_then(|cookie| cookie.parse().ok()) {
                response.headers_mut().insert(SET_COOKIE, cookie);
            }
            response
        }
        Entered::Refused => Json(Paired::Refused).into_response(),
    })
}

/// For `sayso pair`: another link like the one in the terminal.
pub(super) async fn printed_link(
    State(web): State<Web>,
    headers: HeaderMap,
) -> Result<Response, Refused> {
    let secret = web.access.printed_link()?;
    let url = web.gate.link(host(&headers), secret.expose());
    Ok(Json(json!({ "url": url })).into_response())
}

pub(super) async fn make_link(
    State(web): State<Web>,
    pass: Pass,
    headers: HeaderMap,
    sent: Sent,
) -> Result<Response, Refused> {
    let NewPairing { scopes } = sent.read("pairings")?;
    let (secret, pairing) = web.access.make_link(&pass, &scopes)?;
    let url = web.gate.link(host(&headers), secret.expose());
    let link = PairingLink {
        pairing,
        qr: qr_code(&url)?,
        url,
        fingerprint: web.gate.fingerprint().map(str::to_owned),
    };
    Ok(Json(link).into_response())
}

/// The guard has found it to be one of ours.
fn host(headers: &HeaderMap) -> &str {
    let host = headers.get(HOST);
    host.and_then(|host| host.to_str().ok()).unwrap_or_default()
}

fn qr_code(text: &str) -> Result<QrCode, Refused> {
    let failed = |error| Refused::new(ErrorCode::Internal, format!("No QR code: {error}."));
    let code = Code::new(text).map_err(failed)?;
    let dark = |color: Color| if color == Color::Dark { '1' } else { '0' };
    Ok(QrCode {
        size: u32::try_from(code.width()).unwrap_or_default(),
        modules: code.to_colors().into_iter().map(dark).collect(),
    })
}

pub(super) async fn confirm(
    State(web): State<Web>,
    pass: Pass,
    Path(id): Path<Uuid>,
    sent: Sent,
) -> Result<Response, Refused> {
    let wanted: ConfirmPairing = sent.read("confirm")?;
    web.access.confirm(&pass, id, &wanted)?;
    Ok(Json(json!({})).into_response())
}

pub(super) async fn refuse(
    State(web): State<Web>,
    Path(id): Path<Uuid>,
) -> Result<Response, Refused> {
    web.access.refuse(id)?;
    Ok(Json(json!({})).into_response())
}

pub(super) async fn prove(
    State(web): State<Web>,
    pass: Pass,
    sender: Sender,
    sent: Sent,
) -> Result<Response, Refused> {
    let Prove { password } = sent.read("prove")?;
    let proven_until = web.access.prove(&pass, password, sender.address).await?;
    Ok(Json(Proven { proven_until }).into_response())
}

pub(super) async fn set_password(
    State(web): State<Web>,
    pass: Pass,
    sender: Sender,
    sent: Sent,
) -> Result<Response, Refused> {
    let SetPassword { current, new } = sent.read("password")?;
    web.access
        .set_password(&pass, current, new, sender.address)
        .await?;
    Ok(Json(json!({})).into_response())
}
