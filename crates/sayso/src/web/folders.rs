//! Completion of folders and files, and the conversations of a folder.

use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use jiff::Timestamp;
use sayso_protocol::{Conversation, Conversations, ErrorCode};
use serde::{Deserialize, Serialize};

use super::Web;
use super::rest::refuse;
use crate::agents::claude;
use crate::folders;

pub(super) fn routes() -> Router<Web> {
    Router::new()
        .route("/folders", get(complete))
        .route("/files", get(find))
        .route("/conversations", get(conversations))
}

#[derive(Debug, Deserialize)]
struct Typed {
    path: String,
}

async fn complete(Query(typed): Query<Typed>) -> Response {
    read(move || folders::complete(&typed.path)).await
}

#[derive(Debug, Deserialize)]
struct Wanted {
    cwd: String,
    #[serde(default)]
    query: String,
    limit: Option<usize>,
}

async fn find(Query(wanted): Query<Wanted>) -> Response {
    const SHOWN: usize = 20;
    let Some(cwd) = folders::typed_path(&wanted.cwd) else {
        return not_absolute();
    };
    let limit = wanted.limit.unwrap_or(SHOWN);
    read(move || folders::find(&cwd, &wanted.query, limit)).await
}

#[derive(Debug, Deserialize)]
struct Folder {
    cwd: String,
}

async fn conversations(State(web): State<Web>, Query(folder): Query<Folder>) -> Response {
    let Some(cwd) = folders::typed_path(&folder.cwd) else {
        return not_absolute();
    };
    let sessions = match web.store.sessions().await {
        Ok(sessions) => sessions,
        Err(error) => return refuse(ErrorCode::StoreUnavailable, error.to_string()),
    };
    read(move || {
        // The agent names its folders by their real paths.
        let cwd = cwd.canonicalize().unwrap_or(cwd);
        let conversations = claude::conversations(&cwd).into_iter().map(|found| {
            let name = found.conversation.to_string();
            let session = sessions
                .iter()
                .find(|session| session.agent_session_id.as_deref() == Some(&name));
            Conversation {
                conversation_id: found.conversation,
                title: found.title,
                updated_at: Timestamp::try_from(found.updated_at).unwrap_or(Timestamp::UNIX_EPOCH),
                messages: found.messages,
                session_id: session.map(|session| session.id.0),
            }
        });
        Conversations {
            conversations: conversations.collect(),
        }
    })
    .await
}

/// Reads files where waiting for them holds nobody up.
async fn read<T: Serialize + Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Response {
    match tokio::task::spawn_blocking(work).await {
        Ok(found) => Json(found).into_response(),
        Err(error) => refuse(ErrorCode::Internal, error.to_string()),
    }
}

fn not_absolute() -> Response {
    let text = "`cwd` must be an absolute path; start it with `/` or `~`.";
    refuse(ErrorCode::FolderNotFound, text)
}
