//! Completion of folders and files, and the conversations of a folder.

use axum::extract::{Query, State};
use jiff::Timestamp;
use sayso_protocol::{Conversation, Conversations, ErrorCode};
use serde::Deserialize;

use super::Web;
use super::outside::outside;
use super::refused::Refused;
use super::rest::Answer;
use crate::agents::claude;
use crate::folders;

#[derive(Debug, Deserialize)]
pub(super) struct Typed {
    path: String,
}

pub(super) async fn complete(Query(typed): Query<Typed>) -> Answer {
    outside(move || folders::complete(&typed.path)).await
}

#[derive(Debug, Deserialize)]
pub(super) struct Wanted {
    cwd: String,
    #[serde(default)]
    query: String,
    limit: Option<usize>,
}

pub(super) async fn find(Query(wanted): Query<Wanted>) -> Answer {
    const SHOWN: usize = 20;
    let Some(cwd) = folders::typed_path(&wanted.cwd) else {
        return Err(not_absolute());
    };
    let limit = wanted.limit.unwrap_or(SHOWN);
    outside(move || folders::find(&cwd, &wanted.query, limit)).await
}

#[derive(Debug, Deserialize)]
pub(super) struct Folder {
    cwd: String,
}

pub(super) async fn conversations(State(web): State<Web>, Query(folder): Query<Folder>) -> Answer {
    let Some(cwd) = folders::typed_path(&folder.cwd) else {
        return Err(not_absolute());
    };
    let sessions = web.store.sessions().await?;
    outside(move || {
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

fn not_absolute() -> Refused {
    let text = "`cwd` must be an absolute path; start it with `/` or `~`.";
    Refused::new(ErrorCode::FolderNotFound, text)
}
