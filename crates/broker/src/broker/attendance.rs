//! Who is connected, and what their coming and going does to the clocks.

use super::Broker;
use crate::{Broadcast, ClientId, Effect, RequestId, Timestamp, WhenUnattended};

impl Broker {
    pub(super) fn client_connected(
        &mut self,
        now: Timestamp,
        client: ClientId,
        label: String,
        effects: &mut Vec<Effect>,
    ) {
        self.clients.insert(client, label);
        if self.unattended_since.take().is_some() {
            self.set_paused(now, false, effects);
        }
    }

    pub(super) fn client_disconnected(
        &mut self,
        now: Timestamp,
        client: ClientId,
        effects: &mut Vec<Effect>,
    ) {
        let was_known = self.clients.remove(&client).is_some();
        for session in self.sessions.values_mut() {
            if session.active == Some(client) {
                session.active = None;
            }
        }
        if was_known && self.clients.is_empty() {
            self.unattended_since = Some(now);
            self.set_paused(now, true, effects);
        }
    }

    fn set_paused(&mut self, now: Timestamp, paused: bool, effects: &mut Vec<Effect>) {
        let pausing: Vec<RequestId> = self
            .sessions
            .values()
            .filter(|session| session.policies.when_unattended == WhenUnattended::Pause)
            .flat_map(|session| session.requests.iter().copied())
            .collect();
        for id in pausing {
            let Some(request) = self.requests.get_mut(&id) else {
                continue;
            };
            request.clock.set_paused(now, paused);
            let view = request.view();
            if request.is_shown() {
                effects.push(Effect::NoteClock {
                    request: view.clone(),
                });
                effects.push(Effect::Broadcast(Broadcast::Updated(view)));
            }
        }
    }
}
