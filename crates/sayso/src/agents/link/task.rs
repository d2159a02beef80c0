//! The task that reads one agent's lines.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use sayso_claude::line::{self, LineError, Received};
use sayso_claude::{AgentEvent, AgentFault};
use sayso_runner::{Connection, Event, Events, LostReason, Welcome, WriteFailure};
use tokio::time::{Instant, sleep, sleep_until};

use super::ending::{HOLDER, fault, gone, lost_because, words};
use super::{Destination, FromAgent, Launch, Origin, Shared, streaming};
use crate::agents::claude::Adapter;
use crate::agents::{AgentOutput, Reading};

/// How long an agent may take to get ready.
const UNTIL_READY: Duration = Duration::from_secs(60);
/// How long a runner may take to kill its agent, and to hear what strangers that hold its output have to say.
const UNTIL_DEAD: Duration = Duration::from_secs(8);
/// How many events are passed on at once when they come fast.
pub(super) const BATCH: usize = 256;
/// What is stored is acknowledged at least so often.
const ACKNOWLEDGE_AFTER: Duration = Duration::from_secs(1);
/// Lines that the runner did not take are offered again.
const OFFER_AGAIN_AFTER: Duration = Duration::from_millis(20);

pub(super) struct Task {
    pub(super) shared: Arc<Shared>,
    pub(super) adapter: Adapter,
    pub(super) destination: Destination,
    /// The last line that came.
    pub(super) line: u64,
    /// Up to this line it was written for an earlier server.
    replay: u64,
    /// What the agent says from now on is of no use.
    pub(super) fault: Option<AgentFault>,
}

/// How listening ended.
pub(super) enum End {
    Exited(Box<sayso_runner::Exited>),
    Lost(LostReason),
    /// The agent was to be killed and the runner does not do it: it may be stopped itself.
    Unreachable,
    /// Nobody takes the output any more: the server is going.
    Unheard,
}

/// Starts the runner and connects to it.
async fn connect(launch: &Launch) -> Result<Connection, String> {
    let Launch {
        program,
        arguments,
        folder,
        spec,
    } = launch;
    let started = sayso_runner::start(program, arguments, folder, spec).await;
    started.map_err(|error| error.to_string())?;
    let connection = Connection::connect(folder, 0).await;
    connection.map_err(|error| error.to_string())
}

/// There is one for each agent as long as that lives, so what is done rarely is put aside while it is done.
impl Task {
    pub(super) fn new(shared: Arc<Shared>, adapter: Adapter, destination: Destination) -> Self {
        Self {
            shared,
            adapter,
            destination,
            line: 0,
            replay: 0,
            fault: None,
        }
    }

    pub(super) async fn run(mut self, origin: Origin) {
        let (folder, connection) = match origin {
            Origin::Found { folder, connection } => {
                self.begin_replay(&connection.welcome);
                (folder, Ok(*connection))
            }
            Origin::Left { folder, journal } => {
                let reason = format!("{HOLDER} ended while Sayso did not run");
                return Box::pin(self.hear_out(&folder, *journal, reason)).await;
            }
            Origin::Started(launch) => {
                let connection = Box::pin(connect(&launch)).await;
                (launch.folder, connection)
            }
        };
        match connection {
            Ok(connection) => self.follow(&folder, connection).await,
            Err(problem) => {
                self.shared.lock().gone();
                self.ended(fault(lost_because(&problem))).await;
            }
        }
    }

    fn begin_replay(&mut self, welcome: &Welcome) {
        if welcome.first_available_seq < welcome.next_seq {
            self.replay = welcome.next_seq - 1;
            self.shared.lock().hold();
        }
    }

    /// Listens until the agent has ended, over as many connections as that takes.
    async fn follow(&mut self, folder: &Path, mut connection: Connection) {
        loop {
            {
                let mut state = self.shared.lock();
                state.connected(connection.handle.clone());
                // It may have been wanted before there was a runner to tell.
                if state.killed_at.is_some() {
                    state.kill();
                } else if state.asked_to_end {
                    state.with_runner(|runner| runner.stop());
                }
            }
            // One that is closed already is noticed below.
            let _ = connection.handle.borrow();
            let reason = match self.listen(&mut connection.events).await {
                End::Unheard => return,
                End::Unreachable => {
                    self.shared.lock().gone();
                    let reason = format!("{HOLDER} did not answer");
                    return Box::pin(self.lost(folder, reason)).await;
                }
                End::Exited(exited) => {
                    let exited = self.exited(*exited);
                    self.shared.lock().gone();
                    self.ended(exited).await;
                    if self.wait_until_forgotten().await {
                        let _ = connection.handle.forget();
                        gone(connection.events).await;
                    }
                    return;
                }
                End::Lost(reason) => reason,
            };
            match Box::pin(self.reconnect(folder, &reason)).await {
                Some(again) => connection = again,
                None if reason == LostReason::Replaced => {
                    self.shared.lock().gone();
                    let lost = lost_because(&words(&reason));
                    return self.ended(fault(lost)).await;
                }
                None => {
                    self.shared.lock().gone();
                    return Box::pin(self.lost(folder, words(&reason))).await;
                }
            }
        }
    }

    async fn listen(&mut self, events: &mut Events) -> End {
        let ready_by = Instant::now() + UNTIL_READY;
        let mut acknowledge_at = None;
        loop {
            let (initializing, waits, stored, dead_by) = {
                let mut state = self.shared.lock();
                (
                    state.is_initializing(),
                    !state.flush(),
                    state.has_unacknowledged(),
                    state.killed_at.map(|at| at + UNTIL_DEAD),
                )
            };
            if stored && acknowledge_at.is_none() {
                acknowledge_at = Some(Instant::now() + ACKNOWLEDGE_AFTER);
            }
            let event = tokio::select! {
                event = events.next() => event,
                () = self.shared.changed.notified() => continue,
                () = sleep(OFFER_AGAIN_AFTER), if waits => continue,
                () = sleep_until(acknowledge_at.unwrap_or(ready_by)), if acknowledge_at.is_some() => {
                    self.shared.lock().acknowledge(true);
                    acknowledge_at = None;
                    continue;
                }
                () = sleep_until(dead_by.unwrap_or(ready_by)), if dead_by.is_some() => {
                    return End::Unreachable;
                }
                () = sleep_until(ready_by), if initializing && self.fault.is_none() => {
                    self.give_up(AgentFault::NotReadyInTime(UNTIL_READY.as_secs()));
                    continue;
                }
            };
            let mut outputs = Vec::new();
            let mut taken = 0;
            let mut next = event;
            let end = loop {
                let Some(event) = next else {
                    break Some(End::Lost(LostReason::Closed));
                };
                if let Some(end) = self.take(event, &mut outputs) {
                    break Some(end);
                }
                taken += 1;
                if taken >= BATCH {
                    break None;
                }
                match events.next().now_or_never() {
                    Some(more) => next = more,
                    None => break None,
                }
            };
            self.shared.lock().acknowledge(false);
            if !outputs.is_empty() && !self.pass_on(outputs).await {
                return End::Unheard;
            }
            if let Some(end) = end {
                return end;
            }
        }
    }

    pub(super) fn take(&mut self, event: Event, outputs: &mut Vec<AgentOutput>) -> Option<End> {
        match event {
            Event::Line {
                seq,
                fragment,
                bytes,
            } => {
                self.line = seq;
                if self.fault.is_none() {
                    outputs.push(AgentOutput::Line(seq));
                    self.take_line(seq, fragment, bytes, outputs);
                }
                if seq == self.replay {
                    self.shared.lock().release();
                }
            }
            Event::Written(id) => {
                self.shared.lock().over(id);
                outputs.push(AgentOutput::Written(id));
            }
            Event::WriteFailed(id, WriteFailure::Overloaded) => {
                outputs.push(AgentOutput::NotWritten(id));
                self.give_up(AgentFault::InputStalled);
            }
            Event::WriteFailed(id, WriteFailure::InputClosed | WriteFailure::AgentEnded) => {
                self.shared.lock().over(id);
                outputs.push(AgentOutput::NotWritten(id));
            }
            Event::InputWaits => outputs.push(AgentOutput::Input(Reading::Stuck)),
            Event::InputTaken => outputs.push(AgentOutput::Input(Reading::GoesOn)),
            // The hub has heard that it waits, and counts by its own patience.
            Event::InputStalled => {}
            Event::Exited(exited) => return Some(End::Exited(exited)),
            Event::Lost(reason) => return Some(End::Lost(reason)),
        }
        None
    }

    fn take_line(
        &mut self,
        number: u64,
        fragment: bool,
        bytes: Vec<u8>,
        outputs: &mut Vec<AgentOutput>,
    ) {
        let received = if fragment && bytes.trim_ascii_start().starts_with(b"{") {
            Err(LineError::Truncated { bytes: bytes.len() })
        } else {
            line::classify_owned(bytes)
        };
        let events = match received {
            Err(error) => return self.give_up(error.into()),
            Ok(None) => return,
            Ok(Some(Received::Noise(text))) => vec![AgentEvent::Noise(text)],
            Ok(Some(Received::Json(line))) => {
                let (received, flooded) = {
                    let mut state = self.shared.lock();
                    (state.receive(number, &line), state.is_flooded())
                };
                match received {
                    Ok(_) if flooded => return self.give_up(AgentFault::InputStalled),
                    Ok(reception) => reception.events,
                    Err(error) => return self.give_up(error.into()),
                }
            }
        };
        for event in events {
            let unwritten = match &event {
                AgentEvent::Withdrawn { request_id, .. } => self.shared.lock().withdraw(request_id),
                _ => None,
            };
            for output in self.adapter.translate(event) {
                streaming::push(outputs, output);
            }
            outputs.extend(unwritten.map(AgentOutput::NotWritten));
        }
    }

    /// The agent is of no use any more: it is killed, and its end is waited for.
    fn give_up(&mut self, fault: AgentFault) {
        if self.fault.is_none() {
            self.fault = Some(fault);
            self.shared.lock().kill();
        }
    }

    pub(super) async fn pass_on(&self, outputs: Vec<AgentOutput>) -> bool {
        let Destination {
            session, run, hub, ..
        } = &self.destination;
        let message = FromAgent {
            session: *session,
            run: *run,
            outputs,
        };
        hub.send(message).await.is_ok()
    }
}
