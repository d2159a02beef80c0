//! Messages of the human that the agent has not read yet.
//!
//! The agent has a queue of its own: what is written while it works is read between two steps, or after the
//! turn. So a message is sent as soon as it is on disk, stays here until the agent says that it has read it, and
//! can be taken back until then. Messages that an ended agent left unread wait for the next one.

use sayso_broker::{SessionId, Timestamp};
use sayso_claude::ControlRequest;
use sayso_protocol::{
    Ack, ContentBlock, EditQueued, EntryBody, ErrorCode, ErrorMessage, NoticeLevel, QueuedMessage,
    RemoveQueued, ServerMessage,
};
use sayso_store::{MessageId, QueuedRow, Write};
use serde::Deserialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::controls::ControlPurpose;
use super::messages::Outgoing;
use super::{Caller, Hub, now, wire};
use crate::agents::MessageProgress;

#[derive(Debug)]
pub(super) struct Queued {
    pub(super) id: Uuid,
    pub(super) content: Vec<ContentBlock>,
    pub(super) at: Timestamp,
    pub(super) place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The agent has it and has not read it.
    WithAgent,
    /// The agent was asked to give it back.
    ComingBack,
    /// No agent runs; the next one gets it.
    Here,
}

/// Why a message was asked back.
#[derive(Debug)]
pub(super) enum TakeBack {
    Remove,
    Edit(Vec<ContentBlock>),
}

impl Queued {
    pub(super) fn from_row(row: &QueuedRow) -> Option<Self> {
        Some(Self {
            id: row.message_id.0,
            content: serde_json::from_str(&row.content).ok()?,
            at: Timestamp(row.at.0),
            place: Place::Here,
        })
    }

    fn wire(&self) -> QueuedMessage {
        QueuedMessage {
            message_id: self.id,
            content: self.content.clone(),
            at: wire::time(self.at),
        }
    }
}

impl Hub {
    /// What the agent says of a message.
    pub(super) fn message_progress(
        &mut self,
        session: SessionId,
        id: Uuid,
        progress: MessageProgress,
    ) {
        match progress {
            MessageProgress::Read => self.read_by_agent(session, id),
            MessageProgress::Dropped => self.dropped_by_agent(session, id),
        }
    }

    /// An agent that waits for the human has read everything that it was sent.
    pub(super) fn all_read(&mut self, session: SessionId) {
        let Some(known) = self.sessions.get(session) else {
            return;
        };
        let ids: Vec<Uuid> = known
            .queue
            .iter()
            .filter(|queued| queued.place == Place::WithAgent)
            .map(|queued| queued.id)
            .collect();
        for id in ids {
            self.read_by_agent(session, id);
        }
    }

    /// The agent has ended: what it did not read is here again.
    pub(super) fn keep_unread(&mut self, session: SessionId) {
        if let Some(known) = self.sessions.get_mut(session) {
            for queued in &mut known.queue {
                queued.place = Place::Here;
            }
        }
    }

    fn read_by_agent(&mut self, session: SessionId, id: Uuid) {
        let Some(queued) = self.unqueue(session, id) else {
            return;
        };
        let body = EntryBody::UserMessage {
            message_id: queued.id,
            content: queued.content,
            queued: true,
        };
        self.append(session, None, body);
        let write = Write::RemoveQueued(MessageId(id));
        self.keep_note(vec![write], "a message that was read");
        self.tell_queue(session);
    }

    /// Nobody asked for it, so its words are kept where they can be seen.
    fn dropped_by_agent(&mut self, session: SessionId, id: Uuid) {
        let expected = self.queued(session, id).map(|queued| queued.place);
        if expected != Some(Place::WithAgent) {
            return;
        }
        if let Some(queued) = self.unqueue(session, id) {
            let text = format!(
                "The agent dropped a message without reading it: {}",
                plain_text(&queued.content)
            );
            let level = NoticeLevel::Warning;
            self.append(session, None, EntryBody::Notice { level, text });
            let write = Write::RemoveQueued(MessageId(id));
            self.keep_note(vec![write], "a dropped message");
            self.tell_queue(session);
        }
    }

    pub(super) fn remove_queued(&mut self, caller: Caller, remove: &RemoveQueued) {
        let session = SessionId(remove.session_id);
        self.take_back(caller, session, remove.message_id, TakeBack::Remove);
    }

    pub(super) fn edit_queued(&mut self, caller: Caller, edit: EditQueued) {
        if let Err(error) = super::commands::check_content(&edit.content) {
            return self.reply(caller, Err(error));
        }
        let session = SessionId(edit.session_id);
        self.take_back(
            caller,
            session,
            edit.message_id,
            TakeBack::Edit(edit.content),
        );
    }

    fn take_back(&mut self, caller: Caller, session: SessionId, id: Uuid, why: TakeBack) {
        if let Err(error) = self.known(session) {
            return self.reply(caller, Err(error));
        }
        match self.queued(session, id).map(|queued| queued.place) {
            None => self.reply(caller, Err(already_sent())),
            Some(Place::ComingBack) => {
                let text = "This message is being taken back already.";
                self.reply(caller, Err(wire::error(ErrorCode::Overloaded, text)));
            }
            Some(Place::Here) => self.taken_back(caller, session, id, why),
            Some(Place::WithAgent) => {
                let request = ControlRequest::CancelQueuedMessage { message_uuid: id };
                self.set_place(session, id, Place::ComingBack);
                let purpose = ControlPurpose::TakeBack { message: id, why };
                self.control(caller, session, request, purpose);
            }
        }
    }

    /// The agent has answered whether it still had the message.
    pub(super) fn take_back_answered(
        &mut self,
        caller: Caller,
        session: SessionId,
        id: Uuid,
        why: TakeBack,
        answer: Option<&RawValue>,
    ) {
        #[derive(Deserialize)]
        struct Answer {
            cancelled: bool,
        }
        let answer = answer.and_then(|raw| serde_json::from_str::<Answer>(raw.get()).ok());
        if answer.is_some_and(|answer| answer.cancelled) {
            return self.taken_back(caller, session, id, why);
        }
        self.set_place(session, id, Place::WithAgent);
        self.reply(caller, Err(already_sent()));
    }

    /// The agent could not be asked.
    pub(super) fn take_back_failed(&mut self, session: SessionId, id: Uuid) {
        self.set_place(session, id, Place::WithAgent);
    }

    fn taken_back(&mut self, caller: Caller, session: SessionId, id: Uuid, why: TakeBack) {
        let Some(at) = self.queued(session, id).map(|queued| queued.at) else {
            return self.reply(caller, Err(already_sent()));
        };
        match why {
            TakeBack::Remove => {
                self.unqueue(session, id);
                let write = Write::RemoveQueued(MessageId(id));
                self.keep_note(vec![write], "a message taken back");
                self.tell_queue(session);
                self.reply(caller, Ok(Ack::default()));
            }
            TakeBack::Edit(content) => {
                // Until the new words are on disk, the old ones stay.
                self.set_place(session, id, Place::ComingBack);
                // Under a new name: an agent swallows a message whose name it knows.
                let (new_id, at) = match self.running(session) {
                    Ok(()) => (Uuid::new_v4(), now()),
                    Err(_) => (id, at),
                };
                self.post(Outgoing {
                    session,
                    id: new_id,
                    content,
                    at,
                    replaces: Some(id),
                    caller,
                    ack: Ack::default(),
                });
            }
        }
    }

    pub(super) fn unqueue(&mut self, session: SessionId, id: Uuid) -> Option<Queued> {
        let queue = &mut self.sessions.get_mut(session)?.queue;
        let index = queue.iter().position(|queued| queued.id == id)?;
        Some(queue.remove(index))
    }

    fn queued(&self, session: SessionId, id: Uuid) -> Option<&Queued> {
        let queue = &self.sessions.get(session)?.queue;
        queue.iter().find(|queued| queued.id == id)
    }

    pub(super) fn set_place(&mut self, session: SessionId, id: Uuid, place: Place) {
        let queue = self.sessions.get_mut(session).map(|known| &mut known.queue);
        let mut queued = queue.into_iter().flatten();
        if let Some(queued) = queued.find(|queued| queued.id == id) {
            queued.place = place;
        }
    }

    pub(super) fn tell_queue(&self, session: SessionId) {
        if let Some(message) = self.queue_message(session) {
            self.clients.broadcast_to_watchers(session, &message);
        }
    }

    pub(super) fn queue_message(&self, session: SessionId) -> Option<ServerMessage> {
        let known = self.sessions.get(session)?;
        Some(ServerMessage::Queue {
            session_id: session.0,
            messages: known.queue.iter().map(Queued::wire).collect(),
        })
    }
}

fn already_sent() -> ErrorMessage {
    wire::error(
        ErrorCode::AlreadySent,
        "The agent has read this message already.",
    )
}

fn plain_text(content: &[ContentBlock]) -> String {
    let texts = content.iter().map(|block| match block {
        ContentBlock::Text { text } => text.as_str(),
        ContentBlock::Image { .. } => "(an image)",
        ContentBlock::Document { .. } => "(a document)",
    });
    texts.collect::<Vec<_>>().join("\n")
}
