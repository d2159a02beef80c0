//! Messages of the human on their way to the agent: on disk first, then with the agent, under an id that is still the
//! same after a restart. Whoever sent one hears that it was taken when a killed server cannot lose it any more.

use sayso_broker::{AgentActivity, Event, SessionId, SessionState, Timestamp};
use sayso_protocol::{Ack, ContentBlock, EntryBody, ErrorCode, ErrorMessage};
use sayso_store::{MessageId, QueuedRow, UnixMillis, Write};
use tokio::time::Instant;
use uuid::Uuid;

use super::queue::{Place, Queued};
use super::writes::AfterWrite;
use super::{Caller, Hub, wire};
use crate::agents::claude;

/// A message that is being written.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) session: SessionId,
    pub(super) id: Uuid,
    pub(super) content: Vec<ContentBlock>,
    pub(super) at: Timestamp,
    /// One that waits, in whose place this one comes.
    pub(super) replaces: Option<Uuid>,
    pub(super) caller: Caller,
    /// What the caller hears when all is well.
    pub(super) ack: Ack,
}

/// A message that stands in the transcript, while it is not known to be with an agent.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) id: Uuid,
    pub(super) content: Vec<ContentBlock>,
    /// Its entry in the transcript.
    pub(super) seq: u64,
    pub(super) arrival: Arrival,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    Unknown,
    Arrived,
}

impl Hub {
    /// Takes a message: what becomes of it is seen when it is on disk.
    pub(super) fn post(&mut self, message: Outgoing) {
        let row = QueuedRow {
            message_id: MessageId(message.id),
            session_id: sayso_store::SessionId(message.session.0),
            at: UnixMillis(message.at.0),
            content: serde_json::to_string(&message.content).unwrap_or_default(),
        };
        let replaced = message.replaces.filter(|replaced| *replaced != message.id);
        let removed = replaced.map(|replaced| Write::RemoveQueued(MessageId(replaced)));
        let writes = removed.into_iter().chain([Write::PutQueued(row)]).collect();
        let after = AfterWrite::Message(Box::new(message));
        if let Err(AfterWrite::Message(message)) = self.writes.submit(writes, after) {
            let full = wire::error(ErrorCode::Overloaded, "Too much is waiting to be written.");
            self.message_not_written(*message, full);
        }
    }

    pub(super) fn message_not_written(&mut self, message: Outgoing, error: ErrorMessage) {
        if let Some(replaced) = message.replaces {
            self.set_place(message.session, replaced, Place::Here);
        }
        self.reply(message.caller, Err(error));
    }

    pub(super) fn message_written(&mut self, message: Outgoing) {
        let Outgoing {
            session,
            id,
            content,
            at,
            replaces,
            caller,
            ack,
        } = message;
        if let Some(replaced) = replaces {
            self.unqueue(session, replaced);
        }
        let handed_on = self.hand_on(session, id, content, at);
        if handed_on.is_err() {
            let write = Write::RemoveQueued(MessageId(id));
            self.keep_note(vec![write], "a message that was not taken");
        }
        if handed_on.is_err() || replaces.is_some() {
            self.tell_queue(session);
        }
        self.reply(caller, handed_on.map(|()| ack));
    }

    /// Gives a message to the agent, or keeps it for the next one.
    fn hand_on(
        &mut self,
        session: SessionId,
        id: Uuid,
        content: Vec<ContentBlock>,
        at: Timestamp,
    ) -> Result<(), ErrorMessage> {
        self.known(session)?;
        let input = claude::message_input(id, &content, true);
        let place = match self.send_to_agent(session, input) {
            Ok(()) => Place::WithAgent,
            // It has ended meanwhile.
            Err(error) if error.code == ErrorCode::SessionEnded => Place::Here,
            Err(error) => return Err(error),
        };
        let known = self.sessions.get_mut(session);
        let Some(known) = known else {
            return Ok(());
        };
        let is_at_work = known.state == SessionState::AssistantTurn;
        if place == Place::Here || is_at_work || !known.queue.is_empty() {
            known.queue.push(Queued {
                id,
                content,
                at,
                place,
            });
            self.tell_queue(session);
            return Ok(());
        }
        let waited_for_the_human = known.state == SessionState::UserTurn;
        known.sent.push(Sent {
            id,
            content: content.clone(),
            seq: known.transcript.next_seq(),
            arrival: Arrival::Unknown,
        });
        self.append(
            session,
            None,
            EntryBody::UserMessage {
                message_id: id,
                content,
                queued: false,
            },
        );
        if waited_for_the_human {
            self.dispatch(Event::AgentActive {
                session,
                activity: AgentActivity::Working,
            });
        }
        Ok(())
    }

    /// The agent's input has taken it. One that gets ready has its own time to read it.
    pub(super) fn message_arrived(&mut self, session: SessionId, id: Uuid) {
        let Some(known) = self.sessions.get_mut(session) else {
            return;
        };
        let sent = known.sent.iter_mut().find(|message| message.id == id);
        let is_sent = sent.is_some();
        if let Some(message) = sent {
            message.arrival = Arrival::Arrived;
        }
        let is_queued = known.queue.iter().any(|queued| queued.id == id);
        if (is_sent || is_queued) && known.state != SessionState::Starting {
            self.expect_reaction(session, Instant::now());
        }
        if is_sent {
            self.settle_messages(session);
        }
    }

    /// What is in the transcript and with the agent need not be sent again.
    pub(super) fn settle_messages(&mut self, session: SessionId) {
        let Some(known) = self.sessions.get_mut(session) else {
            return;
        };
        let durable = known.transcript.durable_seq();
        let is_over =
            |message: &mut Sent| message.arrival == Arrival::Arrived && message.seq <= durable;
        let over: Vec<Sent> = known.sent.extract_if(.., is_over).collect();
        for message in over {
            let write = Write::RemoveQueued(MessageId(message.id));
            self.keep_note(vec![write], "a message that arrived");
        }
    }

    /// Gives the agent that is there now what it may not have.
    pub(super) fn send_unread(&mut self, session: SessionId) {
        let Some(known) = self.sessions.get(session) else {
            return;
        };
        let sent = known.sent.iter();
        let sent = sent.filter(|message| message.arrival != Arrival::Arrived);
        let sent = sent.map(|message| (message.id, &message.content));
        let queued = known.queue.iter();
        let queued = queued.map(|queued| (queued.id, &queued.content));
        let inputs: Vec<(Uuid, sayso_claude::AgentInput)> = sent
            .chain(queued)
            .map(|(id, content)| (id, claude::message_input(id, content, true)))
            .collect();
        for (id, input) in inputs {
            if self.send_to_agent(session, input).is_ok() {
                self.set_place(session, id, Place::WithAgent);
            }
        }
        self.settle_messages(session);
    }
}
