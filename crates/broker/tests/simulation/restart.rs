//! How a server ends without warning, and what the next one takes over.

use sayso_broker::{Delivery, Event, RestoredRequest, RestoredSession, SessionState};

use crate::agents::{Life, run_of};
use crate::links::Link;
use crate::server::Server;
use crate::store::RequestRow;
use crate::world::World;

impl World {
    /// The server dies. What it had sent to runners may still arrive.
    pub(crate) fn crash(&mut self) {
        let Some(server) = &self.server else {
            return;
        };
        self.trace.say(|| "*** the server dies".to_owned());
        let runs: Vec<usize> = server.links.keys().copied().collect();
        if !self.running().is_idle() {
            self.count("crashed between two effects");
        }
        if self.store.has_completions() {
            self.count("written by a server that died before it knew");
        }
        for run in runs {
            while self.random.percent(50) && self.runner_reads(run, false) {}
        }
        self.server = None;
        self.store.crash();
        self.connections.clear();
        for client in &mut self.clients {
            client.connection = None;
        }
    }

    /// A new server takes over what the store has.
    ///
    /// A session is taken over if its runner is still there, whatever its row says: one that is written as dead
    /// may still have requests whose end is not written. It is alive until the runner says again that it ended.
    pub(crate) fn boot(&mut self) {
        self.booted += 1;
        let mut server = Server::new(self.now, self.booted);
        for agent in &mut self.agents {
            if agent.life == Life::Planned {
                agent.life = Life::Forgotten;
            }
        }
        for (session, row) in &self.store.rows.sessions {
            let agent = &self.agents[row.run];
            if agent.life == Life::Forgotten {
                continue;
            }
            let unfinished = self.store.rows.unfinished(*session);
            let restored = RestoredSession {
                spec: row.spec.clone(),
                state: match row.state {
                    SessionState::Dead => SessionState::AssistantTurn,
                    alive => alive,
                },
                state_changed_at: row.state_changed_at,
                requests: unfinished.into_iter().map(restored).collect(),
            };
            server.runs.insert(*session, (row.run, row.spec.clone()));
            server.events.push_back(Event::SessionRestored {
                session: *session,
                restored: Box::new(restored),
            });
            let stored = self.store.rows.cursors.get(&row.run).copied().unwrap_or(0);
            assert!(
                agent.acknowledged <= stored,
                "I7: lines of run {} are gone that are not stored",
                row.run
            );
            let mut link = Link::new(stored, agent.last_line());
            let ids = self.store.rows.requests.keys().copied();
            link.stored = ids.filter(|id| run_of(*id) == row.run).collect();
            server.links.insert(row.run, link);
        }
        let ended = |run: &usize| self.agents[*run].life == Life::Ended;
        if server.links.keys().any(ended) {
            self.count("took over an agent that had ended");
        }
        self.server = Some(server);
        self.count("restarted");
    }
}

fn restored(row: &RequestRow) -> RestoredRequest {
    let pending = row.decision.as_ref();
    RestoredRequest {
        ask: Box::new(row.request.ask.as_ref().clone()),
        created_at: row.request.created_at,
        clock: row.request.clock,
        decided: pending
            .filter(|decision| decision.delivery == Delivery::Pending)
            .cloned(),
    }
}
