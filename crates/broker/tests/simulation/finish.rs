//! The end of a run: nothing fails any more, time passes, and everything has to come to its end.

use std::time::Duration;

use sayso_broker::{AgentActivity, Delivery, Kind, Timestamp};

use crate::agents::{AskState, Life, Line, run_of};
use crate::asks::{allow, answer, deny};
use crate::checks::ids;
use crate::clients::Message;
use crate::store::Status;
use crate::world::{SESSIONS, World};

/// Well within this all that waits for a retry has been tried again.
const PATIENCE: u32 = 5;

impl World {
    pub(crate) fn finish(&mut self) {
        self.trace.say(|| "--- faults stop".to_owned());
        if self.random.percent(50) {
            self.crash();
        }
        self.settle();
        for _ in 0..PATIENCE {
            self.pass(Duration::from_secs(1));
        }
        self.check_everything_is_known();
        self.check_quiet_pictures();
        self.answer_everything();
        self.end_everything();
        self.check_the_end();
    }

    fn pass(&mut self, time: Duration) {
        self.now = self.now.plus(time);
        self.settle();
    }

    /// Everybody does what they can until nobody can do anything.
    fn settle(&mut self) {
        for _ in 0..2_000 {
            if self.server.is_none() {
                self.boot();
            }
            self.connect(0);
            let mut busy = false;
            while self.proceed() {
                busy = true;
            }
            let waiting = self.store.waiting();
            busy |= waiting > 0;
            self.store.commit(waiting, || false);
            for run in 0..self.agents.len() {
                busy |= self.runner_reads(run, false);
                busy |= self.agents[run].read_input();
            }
            for client in 0..self.clients.len() {
                busy |= self.read_frame(client);
            }
            if !busy {
                return;
            }
        }
        panic!("I1: it never comes to rest");
    }

    /// What an agent waits for is on disk and in the broker.
    fn check_everything_is_known(&mut self) {
        let server = self.server.as_ref().expect("the server runs");
        for agent in &self.agents {
            if agent.life != Life::Alive {
                continue;
            }
            let waiting = |state| state == AskState::Waiting;
            for asked in agent.asks.iter().filter(|asked| waiting(asked.state)) {
                let id = asked.ask.id;
                let row = self.store.rows.requests.get(&id);
                let row = row.unwrap_or_else(|| panic!("I1: {id} was asked and is not on disk"));
                assert_eq!(row.status, Status::Open, "I1: {id} is over and unanswered");
                assert!(
                    server.broker.request(id).is_some(),
                    "I7: {id} is open on disk and nobody can answer it"
                );
            }
        }
        let open = self.store.rows.requests.values();
        for row in open.filter(|row| row.is_unfinished()) {
            let id = row.request.ask.id;
            assert_eq!(
                self.agents[run_of(id)].life,
                Life::Alive,
                "I1: {id} is shown although its agent has ended"
            );
            assert!(
                server.broker.request(id).is_some(),
                "I7: {id} is unfinished on disk only"
            );
        }
    }

    fn check_quiet_pictures(&mut self) {
        let server = self.server.as_ref().expect("the server runs");
        let shown = ids(&server.broker.shown_requests());
        for client in self
            .clients
            .iter()
            .filter(|client| client.connection.is_some())
        {
            assert_eq!(ids(&client.picture), shown, "I6: at rest");
        }
        let waits = server.replies.keys().next();
        assert_eq!(waits, None, "I1: a client waits for ever");
    }

    /// Some requests run out by themselves; the others are decided.
    fn answer_everything(&mut self) {
        for round in 0..200 {
            let server = self.server.as_ref().expect("the server runs");
            let Some(request) = server.broker.shown_requests().into_iter().next() else {
                return;
            };
            match server.broker.next_wakeup() {
                Some(at) if round % 2 == 0 && at > self.now => self.now = at,
                Some(_) | None => {
                    for session in 0..SESSIONS {
                        self.say(0, Message::Attach(session));
                    }
                    let decision = match (&request.ask.kind, request.ask.input_faithful) {
                        (Kind::Tool | Kind::Plan(_), true) => allow(),
                        (Kind::Questions(_), _) => answer("A"),
                        (Kind::Tool | Kind::Plan(_) | Kind::Elicitation(_) | Kind::Other, _) => {
                            deny(false)
                        }
                    };
                    let digest = request.ask.digest.clone();
                    self.send_decision(0, &request, digest, decision);
                }
            }
            self.settle();
        }
        panic!("I1: requests stay open whatever is decided");
    }

    fn end_everything(&mut self) {
        for agent in &self.agents {
            if agent.life != Life::Alive {
                continue;
            }
            for asked in &agent.asks {
                let answered = asked.state == AskState::Heard && asked.answers.len() == 1;
                assert!(
                    answered || asked.state == AskState::TakenBack,
                    "I1: {} has {} answers",
                    asked.ask.id,
                    asked.answers.len()
                );
            }
        }
        for run in 0..self.agents.len() {
            let line = Line::Active(AgentActivity::Working);
            self.agents[run].journal.push(line);
            self.end_agent(run);
        }
        self.settle();
    }

    fn check_the_end(&mut self) {
        let server = self.server.as_ref().expect("the server runs");
        assert!(server.broker.is_quiet(), "I1: something hangs");
        assert_eq!(server.broker.shown_requests(), [], "I6: something is stale");
        for row in self.store.rows.requests.values() {
            let id = row.request.ask.id;
            let decision = row.decision.as_ref();
            let delivery = decision.map(|decision| decision.delivery);
            assert!(
                delivery.is_some_and(|delivery| delivery != Delivery::Pending),
                "I7: {id} never ended on disk"
            );
        }
        for agent in &self.agents {
            assert_eq!(
                agent.life,
                Life::Forgotten,
                "run {} is not over although its agent is",
                agent.run
            );
        }
        assert!(self.now > Timestamp(0), "time stays sensible");
    }
}
