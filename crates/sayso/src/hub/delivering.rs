//! Bringing recorded answers to their agents, once each.

use std::time::Duration;

use sayso_broker::{AgentAnswer, Delivery, Event, FollowUp, Json, RequestId, SessionId};
use sayso_claude::SendError;
use sayso_protocol::{ContentBlock, EntryBody};
use tokio::time::Instant;
use uuid::Uuid;

use super::Hub;
use crate::agents::claude;

const DELIVER_AGAIN_AFTER: Duration = Duration::from_millis(50);

/// An answer on its way to an agent that is slow to read.
#[derive(Debug)]
pub(super) struct Undelivered {
    session: SessionId,
    request: RequestId,
    answer: AgentAnswer,
    pub(super) retry_at: Instant,
}

/// What became of an answer at once.
enum Attempt {
    /// On its way, in a line with this id.
    Under(Uuid),
    Over(Delivery),
    /// The agent's queue is full.
    Later,
}

impl Hub {
    /// Sends an answer and reports how that went. To an agent that is slow to
    /// read it is sent again: a decision that is recorded is not given up.
    pub(super) fn deliver(&mut self, session: SessionId, request: RequestId, answer: AgentAnswer) {
        match self.try_deliver(session, request, answer.clone()) {
            // The agent's side says when it is there.
            Attempt::Under(line) => {
                self.delivering.insert(line, request);
            }
            Attempt::Over(delivery) => self
                .events
                .push_back(Event::Delivered { request, delivery }),
            Attempt::Later => self.undelivered.push(Undelivered {
                session,
                request,
                answer,
                retry_at: Instant::now() + DELIVER_AGAIN_AFTER,
            }),
        }
    }

    pub(super) fn deliver_again(&mut self, now: Instant) {
        let waiting = std::mem::take(&mut self.undelivered);
        for answer in waiting {
            if answer.retry_at > now {
                self.undelivered.push(answer);
            } else if self.broker.request(answer.request).is_some() {
                self.deliver(answer.session, answer.request, answer.answer);
            }
        }
        self.settle();
    }

    fn try_deliver(&self, session: SessionId, id: RequestId, answer: AgentAnswer) -> Attempt {
        let run = self
            .sessions
            .get(session)
            .and_then(|session| session.run.as_ref());
        let (Some(run), Some(request)) = (run, self.broker.request(id)) else {
            return Attempt::Over(Delivery::Failed);
        };
        let Some(input) = claude::input_for(&request.ask, answer) else {
            tracing::error!(request = %id, "an answer that the agent cannot be told");
            return Attempt::Over(Delivery::Failed);
        };
        match run.handle.try_send(input) {
            Ok(line) => Attempt::Under(line),
            Err(SendError::NotOpen { .. }) => Attempt::Over(Delivery::TooLate),
            Err(SendError::Overloaded) => Attempt::Later,
            Err(error) => {
                tracing::warn!(request = %id, %error, "an answer could not be delivered");
                Attempt::Over(Delivery::Failed)
            }
        }
    }

    /// The request need not be asked again after a restart.
    pub(super) fn is_recorded(&self, session: SessionId, native_id: &Json) {
        let run = self
            .sessions
            .get(session)
            .and_then(|known| known.run.as_ref());
        if let (Some(run), Ok(id)) = (run, serde_json::from_str::<String>(native_id.as_str())) {
            run.handle.recorded(&id);
        }
    }

    /// Adds the human's words to the conversation without starting a turn.
    pub(super) fn follow_up(&mut self, follow_up: FollowUp) {
        let FollowUp {
            request,
            session,
            text,
        } = follow_up;
        // The agent gets it once, also when the delivery is repeated after a crash.
        let message_id = Uuid::new_v5(&request.0, b"follow-up");
        let content = vec![ContentBlock::Text { text }];
        let input = claude::message_input(message_id, &content, false);
        if self.say(session, input) {
            let queued = false;
            self.append(
                session,
                None,
                EntryBody::UserMessage {
                    message_id,
                    content,
                    queued,
                },
            );
        }
    }

    pub(super) fn was_written(&mut self, id: Uuid, delivery: Delivery) {
        if let Some(request) = self.delivering.remove(&id) {
            self.dispatch(Event::Delivered { request, delivery });
        }
    }
}
