//! Carrying out what the broker wants, and what follows when a write is done.

use sayso_broker::{
    Ask, Broadcast, Decision, Delivery, Effect, EndReason, Event, Json, RequestView, Resolution,
    SessionId, SessionState, SessionView, StopReason,
};
use sayso_protocol::{DecidedBy, EntryBody, Outcome, OutcomeKind, PendingRequest, ServerMessage};
use sayso_store::{RequestRow, Write};
use serde::Deserialize;
use serde_json::Value;

use super::audit::Actor;
use super::clock::TwoClocks;
use super::run::AllowedTool;
use super::sessions::Stopped;
use super::silence::Hearing;
use super::writes::AfterWrite;
use super::{Hub, now, records, wire};

const ORPHANED: &str = "Sayso was stopped while this was open, and the agent with it.";

impl Hub {
    pub(super) fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Record {
                record,
                request,
                open,
                resolution,
            } => {
                self.save_fresh();
                let asked = open.then(|| (request.session, request.ask.native_id.clone()));
                // Rows are large, and many of them wait for the database.
                let count = usize::from(open) + 2 * usize::from(resolution.is_some());
                let mut writes = Vec::with_capacity(count);
                if open {
                    let detail = self.details.of(&request.ask);
                    writes.push(records::open_request(&request, detail.as_deref()));
                }
                if let Some(resolution) = &resolution {
                    writes.push(records::decide(request.ask.id, resolution));
                    writes.push(self.decision_entry(&request, resolution));
                    self.expect_mode(&request, resolution);
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

    fn tell(&mut self, broadcast: Broadcast) {
        match broadcast {
            Broadcast::SessionChanged(session) => self.session_changed(session),
            Broadcast::Opened(request) => {
                let pending_request = self.pending_request(&request);
                let opened = ServerMessage::RequestOpened { pending_request };
                self.clients.broadcast_about(request.session, &opened);
            }
            Broadcast::Updated(request) => {
                let pending_request = self.pending_request(&request);
                let updated = ServerMessage::RequestUpdated { pending_request };
                self.clients.broadcast_about(request.session, &updated);
            }
            Broadcast::Closed {
                request,
                resolution,
            } => self.tell_closed(&request, &resolution),
        }
    }

    pub(super) fn pending_request(&self, request: &RequestView) -> PendingRequest {
        let detail = self.details.of(&request.ask);
        wire::pending_request(request, detail.unwrap_or_default())
    }

    fn tell_closed(&mut self, request: &RequestView, resolution: &Resolution) {
        let outcome = wire::outcome(resolution);
        if matches!(resolution.delivery, Delivery::TooLate | Delivery::Failed) {
            // A mode that went with it did not arrive, so the next one is not from there.
            self.mode_actors.remove(&request.session);
        }
        self.details.forget(request.ask.id);
        if let (OutcomeKind::Allowed, Some(tool)) = (outcome.what, &request.ask.tool_use_id) {
            let allowed = AllowedTool {
                request: request.ask.id,
                name: request.ask.tool_name.clone(),
            };
            self.expect_tool(request.session, tool, allowed);
        }
        let closed = ServerMessage::RequestClosed {
            request_id: request.ask.id.0,
            session_id: request.session.0,
            outcome: outcome.clone(),
        };
        self.clients.broadcast_about(request.session, &closed);
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
        let entries = self.mode_change(id, view.as_ref());
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        if let Some(view) = view {
            session.state = view.state;
            session.state_changed_at = view.state_changed_at;
            session.permission_mode = view.mode.0.as_ref().to_owned();
            session.watch_bypass(TwoClocks::now());
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
        let message = ServerMessage::SessionState {
            session: session.wire(),
        };
        self.write_row(id, entries);
        self.clients.broadcast_about(id, &message);
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

    /// A mode that a human chose with a yes is theirs, though the agent is the one to tell of it.
    fn expect_mode(&mut self, request: &RequestView, resolution: &Resolution) {
        let (sayso_broker::DecidedBy::Human(client), Some(Decision::Allow(allowance))) =
            (&resolution.by, &resolution.decision)
        else {
            return;
        };
        let chosen = allowance
            .mode
            .as_ref()
            .map(|mode| mode.0.as_ref().to_owned());
        let chosen = chosen.or_else(|| offered_mode(&request.ask, &allowance.remember));
        let known = self.sessions.get(request.session);
        if let (Some(mode), Some(known)) = (chosen, known)
            && known.permission_mode != mode
        {
            let actor = Actor::human(&client.label);
            self.mode_actors.insert(request.session, actor);
        }
    }
}

/// The mode among the offers that were taken, if one is.
fn offered_mode(ask: &Ask, taken: &[usize]) -> Option<String> {
    #[derive(Deserialize)]
    struct Offers {
        #[serde(default)]
        suggestions: Vec<Value>,
    }
    if taken.is_empty() {
        return None;
    }
    let offers: Offers = serde_json::from_str(ask.detail.as_str()).ok()?;
    let offers = taken
        .iter()
        .filter_map(|index| offers.suggestions.get(*index));
    let mut modes = offers.filter(|offer| offer["type"] == "setMode");
    modes.next_back()?["mode"].as_str().map(str::to_owned)
}
