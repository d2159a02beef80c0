//! Opening conversations that were held outside of Sayso.

use std::path::PathBuf;

use sayso_broker::{SessionId, SessionState, Timestamp};
use sayso_protocol::{Ack, ErrorCode, ErrorMessage, ImportConversation, TranscriptEntry, Usage};
use sayso_store::{EntryRow, UnixMillis, Write};
use uuid::Uuid;

use super::checks::check_folder;
use super::sessions::Session;
use super::transcript::Transcript;
use super::writes::AfterWrite;
use super::{Caller, Hub, HubMessage, now, wire};
use crate::agents::{self, claude};

/// A conversation that was read, and where it was held.
#[derive(Debug)]
pub struct ReadConversation {
    id: Uuid,
    cwd: PathBuf,
    conversation: claude::OldConversation,
}

impl Hub {
    /// Reads the files outside the hub: they may be large.
    pub(super) fn import_conversation(&mut self, caller: Caller, import: ImportConversation) {
        if let Some(session) = self.session_of_conversation(import.conversation_id) {
            return self.reply(caller, Ok(ack(session)));
        }
        let hub = self.handle.clone();
        tokio::spawn(async move {
            let read = read_conversation(import).await;
            // When the hub has ended there is nothing left to open.
            let _ = hub
                .send(HubMessage::ConversationRead { caller, read })
                .await;
        });
    }

    pub(super) fn conversation_read(
        &mut self,
        caller: Caller,
        read: Result<ReadConversation, ErrorMessage>,
    ) {
        let read = match read {
            Ok(read) => read,
            Err(error) => return self.reply(caller, Err(error)),
        };
        // Somebody else may have been faster.
        if let Some(session) = self.session_of_conversation(read.id) {
            return self.reply(caller, Ok(ack(session)));
        }
        let (session, rows) = self.imported(read);
        let id = session.id;
        let mut writes = vec![Write::PutSession(session.row().into())];
        writes.extend(rows.into_iter().map(Write::AppendEntry));
        let after = AfterWrite::Imported {
            caller,
            session: Box::new(session),
        };
        tracing::info!(session = %id, "a conversation was imported");
        if let Err(AfterWrite::Imported { caller, .. }) = self.writes.submit(writes, after) {
            let text = "Too much is waiting to be written.";
            self.reply(caller, Err(wire::error(ErrorCode::Overloaded, text)));
        }
    }

    /// The session is on disk with its history: now it is there for everybody.
    pub(super) fn import_saved(&mut self, caller: Caller, session: Session) {
        let id = session.id;
        self.sessions.insert(session);
        self.session_changed(id);
        self.reply(caller, Ok(ack(id)));
    }

    fn session_of_conversation(&self, conversation: Uuid) -> Option<SessionId> {
        self.sessions.of_conversation(&conversation.to_string())
    }

    fn imported(&self, read: ReadConversation) -> (Session, Vec<EntryRow>) {
        let id = SessionId(Uuid::now_v7());
        let mut rows = Vec::new();
        let (mut first, mut last) = (None, now());
        for (seq, old) in (1..).zip(read.conversation.entries) {
            let at = Timestamp(old.at.as_millisecond());
            first.get_or_insert(at);
            last = at;
            let entry = TranscriptEntry {
                seq,
                at: old.at,
                parent_tool_use_id: old.parent_tool_use_id,
                body: old.body,
            };
            let Ok(body) = serde_json::to_string(&entry) else {
                continue;
            };
            rows.push(EntryRow {
                session_id: sayso_store::SessionId(id.0),
                seq: i64::try_from(seq).unwrap_or(i64::MAX),
                at: UnixMillis(at.0),
                body,
                line: None,
                part: None,
            });
        }
        let session = Session {
            title: read.conversation.title,
            cwd: read.cwd.display().to_string(),
            agent: agents::CLAUDE.to_owned(),
            agent_session_id: Some(read.id.to_string()),
            model: read.conversation.model,
            created_at: first.unwrap_or(last),
            state: SessionState::Dead,
            state_changed_at: last,
            ended_reason: Some("imported".to_owned()),
            usage: Usage {
                cost_usd: read.conversation.cost_usd,
                ..Usage::default()
            },
            policies: self.config.policies.clone(),
            transcript: Transcript::starting_after(
                rows.len() as u64,
                rows.iter().map(|row| row.body.len() as u64).sum(),
            ),
            ..Session::new(id, now())
        };
        (session, rows)
    }
}

async fn read_conversation(import: ImportConversation) -> Result<ReadConversation, ErrorMessage> {
    let cwd = check_folder(&import.cwd).await?;
    let id = import.conversation_id;
    let folder = cwd.clone();
    let read = tokio::task::spawn_blocking(move || claude::conversation(&folder, id)).await;
    match read {
        Ok(Some(conversation)) => Ok(ReadConversation {
            id,
            cwd,
            conversation,
        }),
        Ok(None) | Err(_) => Err(wire::error(
            ErrorCode::UnknownConversation,
            "There is no such conversation in this folder, or it cannot be read.",
        )),
    }
}

fn ack(session: SessionId) -> Ack {
    Ack {
        session_id: Some(session.0),
        ..Ack::default()
    }
}
