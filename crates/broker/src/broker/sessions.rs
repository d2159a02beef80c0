//! Sessions: start, turns, modes, end.

use super::Broker;
use super::opening::refused_by_policy;
use crate::request::Phase;
use crate::session::Session;
use crate::{
    AgentActivity, Allowance, Broadcast, DecidedBy, Decision, Delivery, Effect, EndReason, Mode,
    ModeEffect, OutcomeKind, RequestId, Resolution, SessionId, SessionSpec, SessionState,
    StopReason, Timestamp, words,
};

impl Broker {
    pub(super) fn session_started(
        &mut self,
        now: Timestamp,
        id: SessionId,
        spec: SessionSpec,
        effects: &mut Vec<Effect>,
    ) {
        if self
            .sessions
            .get(&id)
            .is_some_and(|session| session.state != SessionState::Dead)
        {
            return;
        }
        let earlier = self.sessions.remove(&id);
        self.sessions.insert(
            id,
            Session {
                state: SessionState::Starting,
                state_changed_at: now,
                mode: spec.mode,
                policies: spec.policies,
                // Decisions of the agent before it that are still being written.
                requests: earlier
                    .as_ref()
                    .map(|session| session.requests.clone())
                    .unwrap_or_default(),
                active: earlier.and_then(|session| session.active),
                ended: None,
                store_problem: None,
                stopping: false,
            },
        );
        effects.push(Effect::Broadcast(Broadcast::SessionChanged(id)));
    }

    pub(super) fn agent_active(
        &mut self,
        now: Timestamp,
        id: SessionId,
        activity: AgentActivity,
        effects: &mut Vec<Effect>,
    ) {
        let state = match activity {
            AgentActivity::Working => SessionState::AssistantTurn,
            AgentActivity::Idle => SessionState::UserTurn,
        };
        if let Some(session) = self.sessions.get_mut(&id)
            && session.state != SessionState::Dead
            && session.enter(now, state)
        {
            effects.push(Effect::Broadcast(Broadcast::SessionChanged(id)));
        }
    }

    pub(super) fn agent_mode(&mut self, id: SessionId, mode: Mode, effects: &mut Vec<Effect>) {
        if let Some(session) = self.sessions.get_mut(&id)
            && session.mode != mode
        {
            session.mode = mode;
            effects.push(Effect::Broadcast(Broadcast::SessionChanged(id)));
        }
    }

    /// Open requests that the new mode would not have asked are settled by it;
    /// the others stay.
    pub(super) fn mode_confirmed(
        &mut self,
        now: Timestamp,
        id: SessionId,
        mode: Mode,
        effects: &mut Vec<Effect>,
    ) {
        self.agent_mode(id, mode.clone(), effects);
        for request in self.open_requests_of(id) {
            if let Some(resolution) = self.settled_by_mode(now, request, &mode) {
                self.resolve_automatically(request, resolution, effects);
            }
        }
    }

    fn settled_by_mode(&self, now: Timestamp, id: RequestId, mode: &Mode) -> Option<Resolution> {
        let ask = &self.requests.get(&id)?.ask;
        let may_allow = ask.input_faithful && !ask.requires_user_interaction;
        let (outcome, decision) = match ask.mode_effect(mode) {
            ModeEffect::Allows if may_allow => {
                (OutcomeKind::Allowed, Decision::Allow(Allowance::default()))
            }
            ModeEffect::Denies => (
                OutcomeKind::Denied,
                Decision::Deny {
                    message: Some(words::MODE_DENIES.to_owned()),
                    interrupt: false,
                },
            ),
            ModeEffect::Allows | ModeEffect::Asks => return None,
        };
        Some(Resolution {
            outcome,
            by: DecidedBy::Mode(mode.clone()),
            decision: Some(decision),
            at: now,
            delivery: Delivery::Pending,
        })
    }

    /// Refuses whatever is open, because the agent that asked is about to end.
    pub(super) fn restarting(
        &mut self,
        now: Timestamp,
        id: SessionId,
        mode: &Mode,
        effects: &mut Vec<Effect>,
    ) {
        for request in self.open_requests_of(id) {
            let resolution = Resolution {
                by: DecidedBy::Mode(mode.clone()),
                // The turn ends with it: an agent that went on would begin something new before it is stopped.
                decision: Some(Decision::Deny {
                    message: Some(words::RESTARTING.to_owned()),
                    interrupt: true,
                }),
                ..refused_by_policy(now, "restarting", words::RESTARTING)
            };
            self.resolve_automatically(request, resolution, effects);
        }
    }

    pub(super) fn agent_ended(
        &mut self,
        now: Timestamp,
        id: SessionId,
        reason: EndReason,
        effects: &mut Vec<Effect>,
    ) {
        let Some(session) = self.sessions.get_mut(&id) else {
            return;
        };
        if !session.enter(now, SessionState::Dead) {
            return;
        }
        session.ended = Some(reason);
        session.stopping = false;
        for request in self.open_requests_of(id) {
            let delivering = self
                .requests
                .get(&request)
                .is_some_and(|request| matches!(request.phase, Phase::Delivering(_)));
            if delivering {
                self.delivered(request, Delivery::Failed, effects);
            } else {
                self.withdraw(now, request, effects);
            }
        }
        effects.push(Effect::Broadcast(Broadcast::SessionChanged(id)));
    }

    pub(super) fn session_removed(
        &mut self,
        now: Timestamp,
        id: SessionId,
        effects: &mut Vec<Effect>,
    ) {
        self.agent_ended(now, id, EndReason::Finished, effects);
        for request in self.open_requests_of(id) {
            self.forget(request);
        }
        self.sessions.remove(&id);
    }

    pub(super) fn stop_idle_sessions(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        for (id, session) in &mut self.sessions {
            if session.idle_deadline().is_some_and(|at| at <= now) {
                session.stopping = true;
                effects.push(Effect::StopAgent {
                    session: *id,
                    reason: StopReason::Idle,
                });
            }
        }
    }

    /// Refuses whatever is open, so that no agent is left with a question that
    /// nobody will read.
    pub(super) fn shut_down(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        self.shutting_down = true;
        let open: Vec<RequestId> = self.requests.keys().copied().collect();
        for id in open {
            let resolution = refused_by_policy(now, "shutting_down", words::SHUTTING_DOWN);
            self.resolve_automatically(id, resolution, effects);
        }
    }

    pub(super) fn open_requests_of(&self, id: SessionId) -> Vec<RequestId> {
        self.sessions
            .get(&id)
            .map(|session| session.requests.clone())
            .unwrap_or_default()
    }
}
