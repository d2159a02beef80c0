//! Work that is not for the server's own threads: the file system, long commands.

use axum::Json;
use axum::response::IntoResponse;
use sayso_protocol::ErrorCode;
use serde::Serialize;

use super::refused::Refused;
use super::rest::Answer;

/// Does the work where waiting for it holds nobody up, and answers with what came of it.
pub(super) async fn outside<T: Serialize + Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Answer {
    match tokio::task::spawn_blocking(work).await {
        Ok(found) => Ok(Json(found).into_response()),
        Err(error) => Err(Refused::new(ErrorCode::Internal, error.to_string())),
    }
}
