//! A new server takes over what the one before it left: sessions whose agents live on, and their requests.

use std::sync::Arc;

use super::Broker;
use crate::clock::Clock;
use crate::request::{Deciding, Phase, Place, Request};
use crate::session::Session;
use crate::{
    Broadcast, Effect, RestoredRequest, RestoredSession, SessionId, Timestamp, WhenUnattended,
};

impl Broker {
    /// Open requests are open again, with the deadline they had. What was decided and not yet delivered is
    /// delivered now.
    pub(super) fn restored(
        &mut self,
        now: Timestamp,
        id: SessionId,
        restored: RestoredSession,
        effects: &mut Vec<Effect>,
    ) {
        if self.sessions.contains_key(&id) {
            return;
        }
        self.sessions.insert(
            id,
            Session {
                state: restored.state,
                state_changed_at: restored.state_changed_at,
                mode: restored.spec.mode,
                policies: restored.spec.policies,
                requests: Vec::new(),
                active: None,
                ended: None,
                store_problem: None,
                stopping: false,
            },
        );
        let mut since = Timestamp(i64::MIN);
        for request in restored.requests {
            // Keeps the order within the session whatever the clock said.
            since = since.max(request.created_at);
            self.restored_request(now, id, request, since, effects);
        }
        effects.push(Effect::Broadcast(Broadcast::SessionChanged(id)));
    }

    fn restored_request(
        &mut self,
        now: Timestamp,
        session_id: SessionId,
        restored: RestoredRequest,
        since: Timestamp,
        effects: &mut Vec<Effect>,
    ) {
        let id = restored.ask.id;
        let Some(session) = self.sessions.get_mut(&session_id) else {
            return;
        };
        let mut clock = Clock::restored(restored.clock);
        let pauses = session.policies.when_unattended == WhenUnattended::Pause;
        clock.set_paused(now, pauses && self.unattended_since.is_some());
        session.requests.push(id);
        self.requests.insert(
            id,
            Box::new(Request {
                session: session_id,
                ask: Arc::new(*restored.ask),
                created_at: restored.created_at,
                clock,
                on_timeout: session.policies.on_timeout,
                free_text: session.policies.free_text,
                phase: Phase::Open,
                quiet_until: None,
                place: Place { number: 0, since },
            }),
        );
        if let Some(resolution) = restored.decided {
            let deciding = Deciding {
                resolution,
                reply: None,
                later: Vec::new(),
                withdrawn: false,
                unseen: false,
            };
            self.deliver(id, Box::new(deciding), effects);
        }
    }
}
