//! The scheduler: one seed, one order of everything that happens.

use std::collections::BTreeMap;
use std::time::Duration;

use sayso_broker::{
    AgentActivity, ClientId, Mode, OnTimeout, Policies, Responders, SessionSpec, Timestamp,
    WhenUnattended,
};

use crate::agents::{Agent, Life, Line};
use crate::clients::{Client, Connection, Message};
use crate::random::Random;
use crate::server::Server;
use crate::store::Store;
use crate::trace::Trace;

pub(crate) const SESSIONS: usize = 3;
const CLIENTS: usize = 3;
const STEPS: usize = 300;
const HOUR: i64 = 60 * 60 * 1000;
const YEAR: i64 = 365 * 24 * HOUR;

/// How often each noteworthy thing happened.
pub(crate) type Coverage = BTreeMap<&'static str, u64>;

#[derive(Debug)]
pub(crate) struct World {
    pub(crate) random: Random,
    pub(crate) trace: Trace,
    pub(crate) now: Timestamp,
    pub(crate) agents: Vec<Agent>,
    pub(crate) store: Store,
    pub(crate) server: Option<Server>,
    /// How many servers there were.
    pub(crate) booted: u32,
    pub(crate) clients: Vec<Client>,
    pub(crate) connections: BTreeMap<ClientId, Connection>,
    pub(crate) coverage: Coverage,
    next_id: u128,
}

impl World {
    pub(crate) fn new(seed: u64, trace: Trace) -> Self {
        Self {
            random: Random::new(seed),
            trace,
            now: Timestamp(50 * YEAR),
            agents: Vec::new(),
            store: Store::default(),
            server: None,
            booted: 0,
            clients: (0..CLIENTS).map(|_| Client::default()).collect(),
            connections: BTreeMap::new(),
            coverage: Coverage::new(),
            next_id: 0,
        }
    }

    pub(crate) fn count(&mut self, what: &'static str) {
        self.trace.say(|| format!("({what})"));
        *self.coverage.entry(what).or_default() += 1;
    }

    pub(crate) fn fresh(&mut self) -> u128 {
        self.next_id += 1;
        self.next_id
    }

    pub(crate) fn run(&mut self) {
        // Some runs are calm, so that long stories happen; some are not.
        let crashes = [0, 1, 3, 8][self.random.below(4)];
        let failures = [0, 0, 10, 40][self.random.below(4)];
        self.boot();
        for client in 0..CLIENTS {
            self.connect(client);
            self.say(client, Message::Start(client));
        }
        for _ in 0..STEPS {
            match self.random.weighted(&[120, 30, 30, 22, 18, 3, crashes]) {
                0 if self.server.is_none() => {
                    if self.random.percent(30) {
                        self.boot();
                    }
                }
                0 => {
                    self.proceed();
                }
                1 => self.client_acts(),
                2 => self.commit(failures),
                3 => self.agent_acts(),
                4 => {
                    let runs = self.agents.len();
                    if self.server.is_some() && runs > 0 {
                        let run = self.random.below(runs);
                        self.runner_reads(run, true);
                    }
                }
                5 => self.time_passes(),
                _ => self.crash(),
            }
        }
        self.finish();
    }

    /// Part of what waits, or all of it; one job fails, or the disk is full.
    fn commit(&mut self, failures: usize) {
        let waiting = self.store.waiting();
        if waiting == 0 {
            return;
        }
        let count = 1 + self.random.below(waiting);
        let full = self.random.percent(failures / 4);
        let random = &mut self.random;
        self.store
            .commit(count, || full || random.percent(failures));
        self.trace
            .say(|| format!("{count} of {waiting} jobs are committed, disk full: {full}"));
    }

    fn agent_acts(&mut self) {
        let alive = |agent: &&Agent| agent.life == Life::Alive;
        let runs = self.agents.iter().filter(alive).map(|agent| agent.run);
        let runs: Vec<usize> = runs.collect();
        let Some(run) = self.random.pick(&runs) else {
            return;
        };
        let action = self.random.weighted(&[36, 30, 8, 5, 5, 2]);
        let random = &mut self.random;
        let agent = &mut self.agents[run];
        self.trace.say(|| format!("agent {run} does {action}"));
        match action {
            0 => agent.ask(random),
            1 => {
                agent.read_input();
            }
            2 => {
                if let Some(index) = random.pick(&agent.waiting()) {
                    agent.take_back(index);
                }
            }
            3 => agent.journal.push(Line::Active(AgentActivity::Working)),
            4 => agent.journal.push(Line::Active(AgentActivity::Idle)),
            _ => self.end_agent(run),
        }
    }

    pub(crate) fn end_agent(&mut self, run: usize) {
        let agent = &mut self.agents[run];
        if agent.life == Life::Alive {
            agent.life = Life::Ended;
        }
    }

    fn time_passes(&mut self) {
        let wakeup = self
            .server
            .as_ref()
            .and_then(|server| server.broker.next_wakeup());
        let by = match self.random.weighted(&[50, 20, 12, 3, 5, 1, 1]) {
            0 => self.random.below(3000) as i64,
            1 => wakeup.map_or(0, |at| (at.0 - self.now.0).clamp(0, 10 * HOUR)),
            2 => self.random.below(120_000) as i64,
            3 => HOUR,
            4 => -HOUR,
            5 => YEAR,
            _ => -YEAR,
        };
        if by < 0 {
            self.count("clock went back");
            if let Some(server) = &mut self.server {
                server.timer = true;
            }
        }
        self.now = Timestamp(self.now.0 + by);
        self.trace.say(|| format!("{by} ms pass"));
    }

    pub(crate) fn some_spec(&mut self) -> SessionSpec {
        let random = &mut self.random;
        let minute = Duration::from_secs(60);
        let timeout = random
            .pick(&[None, Some(minute), Some(5 * minute)])
            .flatten();
        let unattended = [
            WhenUnattended::Wait,
            WhenUnattended::Wait,
            WhenUnattended::Deny,
            WhenUnattended::Pause,
        ];
        let policies = Policies {
            tool_timeout: timeout,
            question_timeout: timeout,
            plan_timeout: timeout,
            on_timeout: match random.percent(80) {
                true => OnTimeout::Deny,
                false => OnTimeout::DenyAndInterrupt,
            },
            when_unattended: unattended[random.below(unattended.len())],
            responders: match random.percent(80) {
                true => Responders::Any,
                false => Responders::Active,
            },
            free_text: random.percent(80),
            ..Policies::default()
        };
        SessionSpec {
            policies,
            mode: Mode::new("default"),
        }
    }
}
