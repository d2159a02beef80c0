//! An agent's HTML as a document of its own.
//!
//! The preview of an option may be HTML. It is shown in a frame that has no
//! origin, runs no script and loads nothing: [`Untrusted`] makes the guard
//! say so in the headers.

use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use sayso_protocol::ErrorCode;
use serde_json::Value;
use uuid::Uuid;

use super::Web;
use super::refused::Refused;
use super::rest::Answer;

/// Marks an answer whose body an agent wrote.
#[derive(Clone, Copy, Debug)]
pub(super) struct Untrusted;

/// The preview of one option of an open question, by their places.
pub(super) async fn preview(
    State(web): State<Web>,
    Path((id, question, option)): Path<(Uuid, usize, usize)>,
) -> Answer {
    let snapshot = web.hub.snapshot().await?;
    let mut requests = snapshot.pending_requests.into_iter();
    let request = requests.find(|request| request.request_id == id);
    let input =
        request.and_then(|request| serde_json::from_str::<Value>(request.tool_input.get()).ok());
    let html = input.as_ref().and_then(|input| {
        input["questions"].get(question)?["options"].get(option)?["preview"].as_str()
    });
    let Some(html) = html else {
        let text = "There is no open question with such an option, or it has no preview.";
        return Err(Refused::new(ErrorCode::UnknownRequest, text));
    };
    let body = (
        [(CONTENT_TYPE, "text/html; charset=utf-8")],
        html.to_owned(),
    );
    let mut response = body.into_response();
    response.extensions_mut().insert(Untrusted);
    Ok(response)
}
