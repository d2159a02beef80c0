//! Where notifications go, and what their buttons do.

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use sayso_protocol::{Act, ErrorCode, ErrorMessage, Notifications};
use serde_json::json;
use uuid::Uuid;

use super::Web;
use super::incoming::{Sender, Sent};
use super::refused::Refused;
use super::rest::Answer;
use crate::access::Pass;
use crate::notify::NotifyError;

pub(super) async fn list(State(web): State<Web>, pass: Pass) -> Json<Notifications> {
    Json(web.notifications.list(&pass))
}

pub(super) async fn subscribe(State(web): State<Web>, pass: Pass, sent: Sent) -> Answer {
    let wanted = sent.read("push")?;
    Ok(Json(web.notifications.subscribe(&pass, wanted).await?).into_response())
}

pub(super) async fn change_own(State(web): State<Web>, pass: Pass, sent: Sent) -> Answer {
    let wanted = sent.read("push")?;
    Ok(Json(web.notifications.change_own(&pass, wanted).await?).into_response())
}

pub(super) async fn unsubscribe(State(web): State<Web>, pass: Pass) -> Answer {
    web.notifications.unsubscribe(&pass).await?;
    Ok(nothing())
}

pub(super) async fn test_own(State(web): State<Web>, pass: Pass) -> Answer {
    Ok(Json(web.notifications.test_own(&pass).await?).into_response())
}

pub(super) async fn add(State(web): State<Web>, pass: Pass, sent: Sent) -> Answer {
    let wanted = sent.read("channels")?;
    Ok(Json(web.notifications.add(&pass, wanted).await?).into_response())
}

pub(super) async fn change(
    State(web): State<Web>,
    pass: Pass,
    Path(id): Path<Uuid>,
    sent: Sent,
) -> Answer {
    let wanted = sent.read("channels")?;
    Ok(Json(web.notifications.change(&pass, id, wanted).await?).into_response())
}

pub(super) async fn remove(State(web): State<Web>, pass: Pass, Path(id): Path<Uuid>) -> Answer {
    web.notifications.remove(&pass, id).await?;
    Ok(nothing())
}

pub(super) async fn test(State(web): State<Web>, Path(id): Path<Uuid>) -> Answer {
    Ok(Json(web.notifications.test(id).await?).into_response())
}

/// A button of a notification: whoever shows its token has what it takes.
pub(super) async fn act(State(web): State<Web>, sender: Sender, sent: Sent) -> Answer {
    let Act { token } = sent.read("act")?;
    web.notifications.act(&token, sender.address).await?;
    Ok(nothing())
}

fn nothing() -> Response {
    Json(json!({})).into_response()
}

impl From<NotifyError> for Refused {
    fn from(error: NotifyError) -> Self {
        let code = match error {
            NotifyError::Access(error) => return error.into(),
            NotifyError::Gone(gone) => return gone.into(),
            NotifyError::Answer(error) => {
                // Somebody without a credential learns no more than that.
                return ErrorMessage::new(error.code, error.message).into();
            }
            NotifyError::Unfit(_) | NotifyError::NoBrowser => ErrorCode::InvalidMessage,
            NotifyError::Unknown => ErrorCode::UnknownChannel,
            NotifyError::TooMany | NotifyError::Busy => ErrorCode::Overloaded,
            NotifyError::Scope(_) => ErrorCode::Forbidden,
            NotifyError::Proof => ErrorCode::ProofRequired,
            NotifyError::Over => ErrorCode::ActionOver,
            NotifyError::NotWritten(_) => ErrorCode::StoreUnavailable,
            NotifyError::Fault => ErrorCode::Internal,
        };
        Self::new(code, error.to_string())
    }
}
