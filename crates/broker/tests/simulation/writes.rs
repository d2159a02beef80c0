//! Writes under way, and what follows when one is done or has failed.

use std::collections::BTreeMap;

use sayso_broker::{EndReason, Event};

use crate::agents::{Life, session_id};
use crate::links::Link;
use crate::server::After;
use crate::store::{Write, WriteError};
use crate::world::World;

impl World {
    /// Queues a write and keeps what is waited for.
    pub(crate) fn submit(&mut self, writes: Vec<Write>, after: After) {
        let server = self.server.as_mut().expect("the server runs");
        server.next_token += 1;
        let token = server.next_token;
        if self.store.submit(token, writes) {
            server.writes.insert(token, after);
        } else {
            self.count("queue was full");
            self.not_written(after, &WriteError::Unavailable);
        }
    }

    pub(crate) fn completed(&mut self, token: u64, result: Result<(), WriteError>) {
        let Some(after) = self.running().writes.remove(&token) else {
            return;
        };
        match result {
            Ok(()) => self.written(after),
            Err(error) => self.not_written(after, &error),
        }
    }

    fn written(&mut self, after: After) {
        match after {
            After::Record {
                record,
                request,
                open,
                ..
            } => {
                let server = self.running();
                if open {
                    server.recorded.insert(request);
                }
                server.events.push_back(Event::Recorded { record });
            }
            After::Note(request, _) => one_less(&mut self.running().notes, request),
            After::Clock(_) => {}
            After::Session(session) => one_less(&mut self.running().session_notes, session),
            After::Spawn(run) => {
                self.agents[run].life = Life::Alive;
                self.running().links.insert(run, Link::new(0, 0));
            }
            After::Cursor(run, line) => self.cursor_written(run, line),
        }
    }

    fn not_written(&mut self, after: After, error: &WriteError) {
        self.trace.say(|| format!("not written: {after:?}"));
        match after {
            After::Record { record, .. } => {
                assert_eq!(
                    *error,
                    WriteError::Unavailable,
                    "I1/I2: a write that can never succeed"
                );
                self.count("record failed");
                let reason = "disk full".to_owned();
                self.running()
                    .events
                    .push_back(Event::RecordFailed { record, reason });
            }
            // The request was decided first: its clock no longer matters.
            After::Clock(_) if *error == WriteError::AlreadyDecided => {}
            After::Note(..) | After::Session(_) | After::Clock(_) => {
                assert_eq!(*error, WriteError::Unavailable, "a note that fits nothing");
                self.running().again.push(after);
            }
            After::Spawn(run) => {
                let agent = &mut self.agents[run];
                agent.life = Life::Forgotten;
                let session = session_id(agent.session);
                let reason = EndReason::Failed("disk full".to_owned());
                let server = self.running();
                server.runs.remove(&session);
                server
                    .events
                    .push_back(Event::AgentEnded { session, reason });
            }
            After::Cursor(run, _) => {
                if let Some(link) = self.running().links.get_mut(&run) {
                    link.noting = false;
                }
            }
        }
    }

    pub(crate) fn write_again(&mut self, after: After) {
        match &after {
            After::Note(_, write) => {
                let write = write.clone();
                self.submit(vec![write], after);
            }
            // What is true now, not what was true when it failed.
            After::Clock(request) => {
                if let Some(view) = self.running().broker.request(*request) {
                    self.submit(vec![Write::Clock(*request, view.clock)], after);
                }
            }
            After::Session(session) => match self.session_row(*session) {
                Some(write) => self.submit(vec![write], after),
                None => one_less(&mut self.running().session_notes, *session),
            },
            After::Record { .. } | After::Spawn(_) | After::Cursor(..) => {}
        }
    }
}

fn one_less<K: Ord>(counts: &mut BTreeMap<K, usize>, key: K) {
    if let Some(count) = counts.get_mut(&key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(&key);
        }
    }
}
