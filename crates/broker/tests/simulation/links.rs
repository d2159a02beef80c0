//! Between the server and each runner: lines come in, answers go out.
//!
//! The rules that the hub must follow, or something is lost or done twice:
//!
//! 1. **A request's id follows from its line** (run and number of the line). A line that is read again is
//!    known by it: if the store has the request, in whatever state, the line is passed over.
//! 2. **A line is done when all that it caused is durable**: for an ask its row (or nothing, if it was taken
//!    back before it was written), for a withdrawal the end of the request and what became of its answer, for
//!    all else the session's row. A note that failed is written again, never dropped.
//! 3. **The cursor is written when every line up to it is done, and the runner hears of it after that.** The
//!    next server reads on behind the stored cursor.
//! 4. **What is to be delivered after a restart waits until the journal is read** as far as it went when the
//!    server connected: the agent may have taken the request back while nobody listened.
//! 5. **An answer is delivered when the runner says that it is written**, not when it was handed over. It is sent
//!    under the request's id, so sending it again writes nothing twice.
//! 6. **A runner is told to forget when its agent's end and all before it is durable**, and only then can the
//!    session start again.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use sayso_broker::{Delivery, EndReason, Event, RequestId, SessionId};

use crate::agents::{Life, Line, run_of, session_id};
use crate::server::{After, Answer, Server};
use crate::store::Write;
use crate::world::World;

/// What has to be durable before a line is done.
#[derive(Clone, Copy, Debug)]
enum Need {
    Nothing,
    Recorded(RequestId),
    Closed(RequestId),
    Session(SessionId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    Yes,
    Overloaded,
    AgentEnded,
}

/// A server's connection to one runner.
#[derive(Debug)]
pub(crate) struct Link {
    /// The line that comes next.
    pub(crate) next: u64,
    /// The last line that was there when the server connected.
    replay_until: u64,
    needs: BTreeMap<u64, Need>,
    /// Every line up to here is done.
    done: u64,
    /// The cursor in the store.
    noted: u64,
    pub(crate) noting: bool,
    pub(crate) exited: bool,
    /// Requests of this run that the store had when the server started.
    pub(crate) stored: BTreeSet<RequestId>,
    pub(crate) to_runner: VecDeque<Answer>,
    pub(crate) heard: VecDeque<(Answer, Written)>,
}

impl Link {
    pub(crate) fn new(stored: u64, last: u64) -> Self {
        Self {
            next: stored + 1,
            replay_until: last,
            needs: BTreeMap::new(),
            done: stored,
            noted: stored,
            noting: false,
            exited: false,
            stored: BTreeSet::new(),
            to_runner: VecDeque::new(),
            heard: VecDeque::new(),
        }
    }

    fn is_replaying(&self) -> bool {
        self.next <= self.replay_until
    }
}

impl Server {
    pub(crate) fn can_go(&self, answer: &Answer) -> bool {
        let link = self.links.get(&run_of(answer.request));
        link.is_none_or(|link| !link.is_replaying())
    }

    /// Asked only while nothing is under way in the server itself.
    fn is_done(&self, need: Need) -> bool {
        match need {
            Need::Nothing => true,
            Need::Recorded(id) => self.recorded.contains(&id) || self.broker.request(id).is_none(),
            Need::Closed(id) => self.broker.request(id).is_none() && !self.notes.contains_key(&id),
            Need::Session(session) => !self.session_notes.contains_key(&session),
        }
    }

    fn is_over(&self, run: usize, session: SessionId) -> bool {
        let noted = self.notes.keys().all(|id| run_of(*id) != run);
        noted && !self.session_notes.contains_key(&session) && !self.broker.has_requests(session)
    }
}

impl World {
    /// The next line of a journal.
    pub(crate) fn line(&mut self, run: usize) {
        let agent = &self.agents[run];
        let session = session_id(agent.session);
        let server = self.server.as_mut().expect("the server runs");
        let link = server.links.get_mut(&run).expect("a link to it");
        let Some(line) = agent.line(link.next).cloned() else {
            return;
        };
        let number = link.next;
        link.next += 1;
        let (need, event) = match line {
            Line::Asked(index) => {
                let asked = &agent.asks[index];
                let id = asked.ask.id;
                if link.stored.contains(&id) {
                    link.needs.insert(number, Need::Nothing);
                    return self.count("replayed ask passed over");
                }
                let event = Event::Asked {
                    session,
                    ask: Box::new(asked.ask.clone()),
                    ruling: asked.ruling.clone(),
                };
                (Need::Recorded(id), event)
            }
            Line::TakenBack(index) => {
                let ask = &agent.asks[index].ask;
                let native_id = ask.native_id.clone();
                (
                    Need::Closed(ask.id),
                    Event::Withdrawn { session, native_id },
                )
            }
            Line::Active(activity) => (
                Need::Session(session),
                Event::AgentActive { session, activity },
            ),
            // What an earlier server wanted the mode for is not known any more.
            Line::Mode(mode, asked_by) if asked_by == server.number => (
                Need::Session(session),
                Event::ModeConfirmed { session, mode },
            ),
            Line::Mode(mode, _) => (Need::Session(session), Event::AgentMode { session, mode }),
        };
        link.needs.insert(number, need);
        server.events.push_back(event);
    }

    pub(crate) fn exited(&mut self, run: usize) {
        let session = session_id(self.agents[run].session);
        let server = self.running();
        if let Some(link) = server.links.get_mut(&run) {
            link.exited = true;
        }
        let reason = EndReason::Finished;
        server
            .events
            .push_back(Event::AgentEnded { session, reason });
    }

    /// Moves the cursors on, and forgets runners that have no more to say.
    pub(crate) fn settle_links(&mut self) {
        let runs: Vec<usize> = self.running().links.keys().copied().collect();
        for run in runs {
            let session = session_id(self.agents[run].session);
            let last = self.agents[run].last_line();
            let server = self.running();
            let Some(mut link) = server.links.remove(&run) else {
                continue;
            };
            while let Some(need) = link.needs.get(&(link.done + 1)).copied()
                && server.is_done(need)
            {
                link.done += 1;
                link.needs.remove(&link.done);
            }
            let over = link.exited && link.noted == last && server.is_over(run, session);
            let moves = link.done > link.noted && !link.noting;
            let done = link.done;
            link.noting |= moves;
            if over {
                server.runs.remove(&session);
                self.agents[run].life = Life::Forgotten;
                self.check_forgotten(run);
                continue;
            }
            server.links.insert(run, link);
            if moves {
                self.submit(vec![Write::Cursor(run, done)], After::Cursor(run, done));
            }
        }
    }

    pub(crate) fn cursor_written(&mut self, run: usize, line: u64) {
        self.agents[run].acknowledged = line;
        if let Some(link) = self.running().links.get_mut(&run) {
            link.noted = line;
            link.noting = false;
        }
    }

    /// Hands an answer over, or keeps it until it can go.
    pub(crate) fn deliver(&mut self, answer: Answer) {
        let request = answer.request;
        let run = run_of(request);
        let server = self.server.as_mut().expect("the server runs");
        match server.links.get_mut(&run) {
            None => server.events.push_back(Event::Delivered {
                request,
                delivery: Delivery::Failed,
            }),
            Some(link) if link.is_replaying() => server.undelivered.push(answer),
            Some(link) => {
                let asked = self.agents[run].asked(request).expect("it was asked");
                assert!(
                    !asked.withdrawal_known,
                    "I1: {request} is answered although the agent took it back"
                );
                link.to_runner.push_back(answer);
            }
        }
    }

    pub(crate) fn heard(&mut self, run: usize) {
        let server = self.running();
        let heard = server
            .links
            .get_mut(&run)
            .and_then(|link| link.heard.pop_front());
        let Some((answer, written)) = heard else {
            return;
        };
        let request = answer.request;
        let delivery = match written {
            Written::Yes => Delivery::Sent,
            Written::AgentEnded => Delivery::Failed,
            Written::Overloaded => return server.undelivered.push(answer),
        };
        server
            .events
            .push_back(Event::Delivered { request, delivery });
    }

    /// The runner takes the next answer from the server. False when there is none.
    pub(crate) fn runner_reads(&mut self, run: usize, may_be_full: bool) -> bool {
        let Some(link) = self.running().links.get_mut(&run) else {
            return false;
        };
        let Some(answer) = link.to_runner.pop_front() else {
            return false;
        };
        let id = answer.request;
        let agent = &self.agents[run];
        let written = if agent.written.contains(&id) {
            self.count("sent again, not written again");
            Written::Yes
        } else if agent.life != Life::Alive {
            Written::AgentEnded
        } else if may_be_full && self.random.percent(15) {
            Written::Overloaded
        } else {
            self.check_answer(&answer);
            self.trace.say(|| format!("runner {run} writes {answer:?}"));
            let agent = &mut self.agents[run];
            agent.written.insert(id);
            agent.input.push_back(id);
            Written::Yes
        };
        if let Some(link) = self.running().links.get_mut(&run) {
            link.heard.push_back((answer, written));
        }
        true
    }
}
