//! Carrying out what the broker wants, and what follows when a write is done.

use std::time::Duration;

use sayso_broker::{
    AgentAnswer, Broadcast, Decision, Delivery, Effect, EndReason, Event, FollowUp, Json,
    RequestId, RequestView, Resolution, SessionId, SessionState, SessionView, StopReason,
    Timestamp,
};
use sayso_claude::SendError;
use sayso_protocol::{
    ContentBlock, DecidedBy, EntryBody, ErrorCode, Outcome, OutcomeKind, ServerMessage,
};
use sayso_store::{Completion, RequestRow, Write};
use uuid::Uuid;

use super::audit::Actor;
use super::sessions::Stopped;
use super::silence::Hearing;
use super::writes::{AfterWrite, Note};
use super::{Hub, Undelivered, now, records, wire};
use crate::agents::claude;

/// How long after a failed write the next try comes.
const WRITE_AGAIN_AFTER: Duration = Duration::from_secs(1);
const DELIVER_AGAIN_AFTER: Duration = Duration::from_millis(50);
const ORPHANED: &str = "Sayso was stopped while this was open, and the agent with it.";

/// What became of an answer at once.
enum Attempt {
    /// On its way, in a line with this id.
    Under(Uuid),
    Over(Delivery),
    /// The agent's queue is full.
    Later,
}

impl Hub {
    pub(super) fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Record {
                record,
                request,
                open,
                resolution,
            } => {
                let asked = open.then(|| (request.session, request.ask.native_id.clone()));
                let mut writes = Vec::with_capacity(3);
                if open {
                    writes.push(records::open_request(&request));
                }
                if let Some(resolution) = &resolution {
                    writes.push(records::decide(request.ask.id, resolution));
                    writes.push(self.decision_entry(&request, resolution));
                }
                if self
                    .writes
                    .submit(writes, AfterWrite::Record { record, asked })
                    .is_err()
                {
                    self.events.push_back(Event::RecordFailed {
                        record,
                        reason: "Too much is waiting to be written.".to_owned(),
                    });
                }
            }
            Effect::Note {
                request,
                resolution,
            } => {
                let writes = vec![
                    records::decide(request.ask.id, &resolution),
                    self.decision_entry(&request, &resolution),
                ];
                self.keep_note(writes, "a withdrawal");
            }
            Effect::NoteClock { request } => {
                self.keep_note(vec![records::clock(&request)], "a clock");
            }
            Effect::NoteDelivery { request, delivery } => {
                let write = records::set_delivery(request, delivery, now());
                self.keep_note(vec![write], "a delivery");
            }
            Effect::Deliver {
                session,
                request,
                native_id: _,
                answer,
            } => {
                self.deliver(session, request, answer);
            }
            Effect::FollowUp(follow_up) => self.follow_up(follow_up),
            Effect::Broadcast(broadcast) => self.tell(broadcast),
            Effect::Reply { to, result } => {
                if let Some((caller, request)) = self.replies.remove(&to) {
                    self.answer(caller, request, result);
                }
            }
            Effect::StopAgent { session, reason } => {
                let stopped = match reason {
                    StopReason::Idle => Stopped::Idle,
                    StopReason::RepeatedRequest => Stopped::RepeatedRequest,
                };
                self.stop_agent(session, stopped);
            }
        }
    }

    /// What a restart must find, although nobody waits for it now.
    fn keep_note(&mut self, writes: Vec<Write>, what: &'static str) {
        let note = Note {
            what,
            writes: writes.clone(),
            retry_at: now().plus(WRITE_AGAIN_AFTER),
        };
        if let Err(AfterWrite::Kept(note)) = self.writes.submit(writes, AfterWrite::Kept(note)) {
            self.unwritten.push(note);
        }
    }

    pub(super) fn write_again(&mut self, now: Timestamp) {
        for note in std::mem::take(&mut self.unwritten) {
            if note.retry_at > now {
                self.unwritten.push(note);
            } else {
                self.keep_note(note.writes, note.what);
            }
        }
    }

    pub(super) fn note(&mut self, write: Write, what: &'static str) {
        self.note_all(vec![write], what);
    }

    pub(super) fn note_all(&mut self, writes: Vec<Write>, what: &'static str) {
        if self
            .writes
            .submit(writes, AfterWrite::Nothing(what))
            .is_err()
        {
            tracing::error!(what, "too much is waiting to be written");
        }
    }

    /// Sends an answer and reports how that went. To an agent that is slow to
    /// read it is sent again: a decision that is recorded is not given up.
    fn deliver(&mut self, session: SessionId, request: RequestId, answer: AgentAnswer) {
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
                retry_at: now().plus(DELIVER_AGAIN_AFTER),
            }),
        }
    }

    pub(super) fn deliver_again(&mut self, now: Timestamp) {
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
    fn follow_up(&mut self, follow_up: FollowUp) {
        let FollowUp {
            request,
            session,
            text,
        } = follow_up;
        // The agent gets it once, also when the delivery is repeated after a crash.
        let message_id = Uuid::new_v5(&request.0, b"follow-up");
        let content = vec![ContentBlock::Text { text }];
        let input = claude::message_input(message_id, &content, false);
        let run = self
            .sessions
            .get(session)
            .and_then(|session| session.run.as_ref());
        if run.is_some_and(|run| run.handle.try_send(input).is_ok()) {
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

    fn tell(&mut self, broadcast: Broadcast) {
        match broadcast {
            Broadcast::SessionChanged(session) => self.session_changed(session),
            Broadcast::Opened(request) => {
                let pending_request = wire::pending_request(&request);
                self.clients
                    .broadcast(&ServerMessage::RequestOpened { pending_request });
            }
            Broadcast::Updated(request) => {
                let pending_request = wire::pending_request(&request);
                self.clients
                    .broadcast(&ServerMessage::RequestUpdated { pending_request });
            }
            Broadcast::Closed {
                request,
                resolution,
            } => self.tell_closed(&request, &resolution),
        }
    }

    fn tell_closed(&mut self, request: &RequestView, resolution: &Resolution) {
        let outcome = wire::outcome(resolution);
        self.calls.remove(&request.ask.id);
        if let (OutcomeKind::Allowed, Some(tool)) = (outcome.what, &request.ask.tool_use_id) {
            self.expect_tool(request.session, request.ask.id, tool);
        }
        self.clients.broadcast(&ServerMessage::RequestClosed {
            request_id: request.ask.id.0,
            session_id: request.session.0,
            outcome: outcome.clone(),
        });
        let mut notes = None;
        let (answers, updated_input) = match &resolution.decision {
            Some(decision @ Decision::Answer(given)) => {
                let json = wire::decision_json(decision);
                if !given.notes.is_empty() {
                    notes = Some(Json::new(&json["notes"].to_string()));
                }
                (Some(Json::new(&json["answers"].to_string())), None)
            }
            Some(Decision::Submit(content)) => (Some(content.clone()), None),
            Some(Decision::Allow(allowance)) => (None, allowance.updated_input.clone()),
            Some(Decision::Deny { .. }) | None => (None, None),
        };
        let body = EntryBody::Decision {
            request_id: request.ask.id.0,
            request_type: wire::request_type(&request.ask.kind),
            tool_name: request.ask.tool_name.clone(),
            tool_use_id: request.ask.tool_use_id.clone(),
            outcome,
            answers: answers.as_ref().map(wire::raw),
            notes: notes.as_ref().map(wire::raw),
            updated_input: updated_input.as_ref().map(wire::raw),
        };
        self.append(request.session, None, body);
    }

    /// Says in the transcripts what was open when the last server ended.
    pub(super) fn tell_orphaned(&mut self, orphaned: Vec<RequestRow>) {
        for row in orphaned {
            tracing::warn!(request = %row.id, "was open when the last server ended");
            let body = EntryBody::Decision {
                request_id: row.id.0,
                request_type: records::request_type(&row.kind),
                tool_name: row.tool_name,
                tool_use_id: row.tool_use_id,
                outcome: Outcome {
                    what: OutcomeKind::Orphaned,
                    by: DecidedBy::Agent,
                    by_name: None,
                    client: None,
                    message: Some(ORPHANED.to_owned()),
                    edited: false,
                    delivery: sayso_protocol::Delivery::None,
                    at: wire::time(now()),
                },
                answers: None,
                notes: None,
                updated_input: None,
            };
            self.append(SessionId(row.session_id.0), None, body);
        }
    }

    /// Takes over what the broker knows of the session, saves it and tells everybody.
    pub(super) fn session_changed(&mut self, id: SessionId) {
        let view = self.broker.session(id);
        let mut writes = self.mode_change(id, view.as_ref());
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        if let Some(view) = view {
            session.state = view.state;
            session.state_changed_at = view.state_changed_at;
            session.permission_mode = view.mode.0.as_ref().to_owned();
            session.watch_bypass(now());
            session.error = match (&view.ended, &view.store_problem) {
                (Some(EndReason::Failed(text) | EndReason::Lost(text)), _) => Some(text.clone()),
                (_, Some(problem)) => Some(format!("Sayso cannot write its records: {problem}")),
                (Some(EndReason::Finished | EndReason::Idle) | None, None) => {
                    let hearing = session.run.as_ref().map(|run| run.hearing);
                    let problem = hearing.and_then(Hearing::problem);
                    problem.map(str::to_owned)
                }
            };
            session.ended_reason = view.ended.map(|ended| match ended {
                EndReason::Finished => "finished".to_owned(),
                EndReason::Idle => "idle".to_owned(),
                EndReason::Failed(_) | EndReason::Lost(_) => "failed".to_owned(),
            });
            if session.state == SessionState::Dead {
                session.transcript.clear_live();
            }
        }
        let row = session.row();
        let message = ServerMessage::SessionState {
            session: session.wire(),
        };
        if let Some(run) = &mut session.run {
            run.progress.row_submitted();
        }
        let after = AfterWrite::Session { session: id };
        writes.push(Write::PutSession(row));
        if let Err(after) = self.writes.submit(writes, after) {
            tracing::error!("too much is waiting to be written");
            self.session_written(after);
        }
        self.clients.broadcast(&message);
    }

    /// The history tells when an agent's mode is another one, and who wanted that.
    fn mode_change(&mut self, id: SessionId, view: Option<&SessionView>) -> Vec<Write> {
        let (Some(view), Some(known)) = (view, self.sessions.get(id)) else {
            return Vec::new();
        };
        let mode = view.mode.0.as_ref().to_owned();
        if known.permission_mode == mode {
            return Vec::new();
        }
        let actor = self.mode_actors.remove(&id).unwrap_or_else(Actor::agent);
        vec![self.mode_entry(id, &actor, &mode)]
    }

    fn session_written(&mut self, after: AfterWrite) {
        let AfterWrite::Session { session } = after else {
            return;
        };
        if let Some(run) = self
            .sessions
            .get_mut(session)
            .and_then(|known| known.run.as_mut())
        {
            run.progress.row_written();
        }
        self.acknowledge(session);
    }

    pub(super) fn completed(&mut self, completion: Completion) {
        let Some(after) = self.writes.completed(completion.token) else {
            return;
        };
        match (after, completion.result) {
            (AfterWrite::Record { record, asked }, Ok(())) => {
                if let Some((session, native_id)) = asked {
                    self.is_recorded(session, &native_id);
                }
                self.dispatch(Event::Recorded { record });
            }
            (AfterWrite::Record { record, .. }, Err(error)) => {
                tracing::error!(%error, "a record could not be written");
                self.dispatch(Event::RecordFailed {
                    record,
                    reason: error.to_string(),
                });
            }
            (AfterWrite::Entries { session, entries }, Ok(())) => {
                if let Some(known) = self.sessions.get_mut(session) {
                    let entries = known.transcript.saved(entries);
                    self.tell_entries(session, entries);
                    self.acknowledge(session);
                }
            }
            (after @ AfterWrite::Session { .. }, result) => {
                if let Err(error) = result {
                    tracing::error!(%error, "a session could not be written");
                }
                self.session_written(after);
            }
            (AfterWrite::Forget { handle }, result) => {
                if let Err(error) = result {
                    tracing::error!(%error, "the end of an agent could not be written");
                }
                handle.forget();
            }
            (AfterWrite::Entries { session, entries }, Err(error)) => {
                tracing::error!(%error, "transcript entries could not be written");
                if let Some(known) = self.sessions.get_mut(session) {
                    known.transcript.not_saved(now(), entries);
                }
            }
            (AfterWrite::Imported { caller, session }, Ok(())) => {
                self.import_saved(caller, *session);
            }
            (AfterWrite::Imported { caller, .. }, Err(error)) => {
                tracing::error!(%error, "a conversation could not be written");
                let error = wire::error(ErrorCode::StoreUnavailable, error.to_string());
                self.reply(caller, Err(error));
            }
            (after @ AfterWrite::Rule { .. }, result) => {
                self.rule_written(after, result.map_err(|error| error.to_string()));
            }
            (AfterWrite::Kept(note), Err(error)) if error.is_retryable() => {
                tracing::error!(%error, what = note.what, "could not be written yet");
                self.unwritten.push(Note {
                    retry_at: now().plus(WRITE_AGAIN_AFTER),
                    ..note
                });
            }
            (AfterWrite::Kept(Note { what, .. }), Err(error)) => {
                tracing::error!(%error, what, "could not be written");
            }
            (AfterWrite::Kept(_) | AfterWrite::Nothing(_), Ok(())) => {}
            (AfterWrite::Nothing(what), Err(error)) => {
                tracing::error!(%error, what, "could not be written");
            }
        }
    }

    pub(super) fn stop_agent(&mut self, session: SessionId, why: Stopped) {
        let run = self
            .sessions
            .get_mut(session)
            .and_then(|session| session.run.as_mut());
        if let Some(run) = run {
            run.stopped.get_or_insert(why);
            run.handle.stop();
        }
    }
}
