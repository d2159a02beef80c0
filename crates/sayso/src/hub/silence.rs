//! Agents that do not react: an answer or a message is with them and nothing comes back, or they do not even read it.
//!
//! Silence alone says little: an agent may work on an answer for an hour without a word. So it is asked for one, with
//! a question that it answers at once whatever it does. That nothing comes is told within a second. If it stays so,
//! the agent is ended after `agent_patience`, and its session can go on with another one.

use std::time::Duration;

use sayso_broker::{SessionId, SessionState, Timestamp};
use sayso_claude::ControlRequest;
use sayso_protocol::Unresponsive;
use tokio::time::Instant;
use uuid::Uuid;

use super::clock::TwoClocks;
use super::sessions::Stopped;
use super::{Hub, wire};
use crate::agents::{Reading, claude};

/// Most answers are followed by a word at once, so that nothing has to be asked.
const ASK_AFTER: Duration = Duration::from_millis(400);
/// What comes sooner may have been on its way before, and says nothing about what the agent got.
const ON_ITS_WAY: Duration = Duration::from_millis(100);
/// How long the agent has then.
const ANSWER_WITHIN: Duration = Duration::from_millis(500);
/// Patience is counted in these. One that comes late does not count: then the machine was asleep or too busy, and
/// the agent may have been, too.
const BEAT: Duration = Duration::from_secs(1);

const SILENT: &str = "The agent has what you sent and does not react. It may be stopped or stuck.";
const STUCK: &str = "The agent does not read what it is sent. It may be stopped or stuck.";

/// What is heard of one agent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hearing {
    reaction: Reaction,
    /// It does not read its input.
    stuck: bool,
    /// The line in which it was last asked for a word.
    asked: Option<Uuid>,
    /// While it is silent or stuck.
    trouble: Option<Trouble>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Reaction {
    #[default]
    Fine,
    /// It got an answer or a message. If nothing comes by then it is asked for a word.
    Expecting { since: Instant, until: Instant },
    /// It was asked.
    Asked { until: Instant, since_then: Got },
    /// It said nothing.
    Silent,
}

/// What the agent got after it was asked for a word: that it gives one says nothing about this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Got {
    #[default]
    Nothing,
    Something,
}

impl Reaction {
    fn expecting(now: Instant) -> Self {
        Self::Expecting {
            since: now,
            until: now + ASK_AFTER,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Trouble {
    since: Timestamp,
    last_beat: TwoClocks,
    /// What counts of the time since then.
    waited: Duration,
    /// It said something since the last beat: it is deaf and not dead.
    talks: bool,
    /// `None` when the agent is not ended for it, or is ended already.
    patience: Option<Duration>,
}

impl Trouble {
    fn ends_at(self) -> Option<Timestamp> {
        let left = self.patience?.saturating_sub(self.waited);
        Some(self.last_beat.wall.plus(left))
    }

    fn is_over(self) -> bool {
        self.patience
            .is_some_and(|patience| patience <= self.waited)
    }
}

impl Hearing {
    pub(super) fn deadline(self) -> Option<Instant> {
        let reaction = match self.reaction {
            Reaction::Expecting { until, .. } | Reaction::Asked { until, .. } => Some(until),
            Reaction::Fine | Reaction::Silent => None,
        };
        reaction.into_iter().chain(self.next_beat()).min()
    }

    fn next_beat(self) -> Option<Instant> {
        let trouble = self.trouble?;
        let patience = trouble.patience?;
        let left = patience.saturating_sub(trouble.waited);
        trouble.last_beat.steady.checked_add(left.min(BEAT))
    }

    /// For the human, while it lasts.
    pub(super) fn problem(self) -> Option<&'static str> {
        if self.stuck {
            return Some(STUCK);
        }
        (self.reaction == Reaction::Silent).then_some(SILENT)
    }

    pub(super) fn unresponsive(self) -> Option<Unresponsive> {
        let trouble = self.trouble?;
        Some(Unresponsive {
            since: wire::time(trouble.since),
            ends_at: trouble.ends_at().map(wire::time),
        })
    }
}

impl Hub {
    /// Something is with the agent that it reacts to.
    pub(super) fn expect_reaction(&mut self, session: SessionId, now: Instant) {
        let Some(run) = self.run_of(session) else {
            return;
        };
        match &mut run.hearing.reaction {
            Reaction::Silent => {}
            fine @ Reaction::Fine => *fine = Reaction::expecting(now),
            Reaction::Expecting { since, .. } => *since = now,
            Reaction::Asked { since_then, .. } => *since_then = Got::Something,
        }
    }

    /// The line is with the agent. If it was asked for a word in it, and nothing else is waited for, that one is.
    pub(super) fn expect_a_word(&mut self, session: SessionId, line: Uuid, now: Instant) {
        if let Some(run) = self.run_of(session)
            && run.hearing.asked == Some(line)
            && run.hearing.reaction == Reaction::Fine
        {
            run.hearing.reaction = Reaction::expecting(now);
        }
    }

    pub(super) fn input_is(&mut self, session: SessionId, reading: Reading) {
        let Some(run) = self.run_of(session) else {
            return;
        };
        let stuck = reading == Reading::Stuck;
        if std::mem::replace(&mut run.hearing.stuck, stuck) != stuck {
            if stuck {
                tracing::warn!(%session, "an agent does not read its input");
            }
            self.hearing_changed(session);
        }
    }

    pub(super) fn heard(&mut self, session: SessionId) {
        let Some(run) = self.run_of(session) else {
            return;
        };
        if let Some(trouble) = &mut run.hearing.trouble {
            trouble.talks = true;
        }
        if let Reaction::Expecting { since, .. } = run.hearing.reaction
            && since.elapsed() < ON_ITS_WAY
        {
            return;
        }
        match std::mem::take(&mut run.hearing.reaction) {
            Reaction::Silent => self.hearing_changed(session),
            Reaction::Asked {
                since_then: Got::Something,
                ..
            } => run.hearing.reaction = Reaction::expecting(Instant::now()),
            Reaction::Fine | Reaction::Expecting { .. } | Reaction::Asked { .. } => {}
        }
    }

    pub(super) fn note_silence(&mut self, now: TwoClocks) {
        for session in self.sessions.running() {
            let Some(run) = self.run_of(session) else {
                continue;
            };
            match run.hearing.reaction {
                Reaction::Expecting { until, .. } if until <= now.steady => {
                    let until = now.steady + ANSWER_WITHIN;
                    let since_then = Got::Nothing;
                    run.hearing.reaction = Reaction::Asked { until, since_then };
                    self.ask_for_a_word(session);
                }
                Reaction::Asked { until, .. } if until <= now.steady => {
                    run.hearing.reaction = Reaction::Silent;
                    tracing::warn!(%session, "an agent does not react to what it was sent");
                    self.hearing_changed(session);
                }
                Reaction::Fine
                | Reaction::Silent
                | Reaction::Expecting { .. }
                | Reaction::Asked { .. } => {}
            }
            self.count_beat(session, now);
        }
    }

    /// Any agent that lives answers this, if only that it does not know what is meant. Nobody needs the answer: that
    /// there is one is heard.
    pub(super) fn ask_for_a_word(&mut self, session: SessionId) {
        self.next_control += 1;
        let input = claude::control(self.next_control, ControlRequest::GetBinaryVersion);
        if let Some(run) = self.run_of(session) {
            // Where there is no room for it, there is enough that it did not react to.
            run.hearing.asked = run.handle.try_send(input).ok();
        }
    }

    /// An agent of an earlier server: nobody knows what it has not reacted to.
    pub(super) fn ask_whether_it_lives(&mut self, session: SessionId) {
        let known = self.sessions.get(session);
        // One that is getting ready has its own time for that.
        if known.is_some_and(|known| known.state != SessionState::Starting) {
            self.ask_for_a_word(session);
        }
    }

    pub(super) fn is_unresponsive(&self, session: SessionId) -> bool {
        let run = self
            .sessions
            .get(session)
            .and_then(|known| known.run.as_ref());
        run.is_some_and(|run| run.hearing.problem().is_some())
    }

    fn hearing_changed(&mut self, session: SessionId) {
        let patience = self.config.agent_patience.0;
        if let Some(run) = self.run_of(session) {
            let now = TwoClocks::now();
            let trouble = run.hearing.problem().map(|_| Trouble {
                since: now.wall,
                last_beat: now,
                waited: Duration::ZERO,
                talks: false,
                patience,
            });
            // A second problem does not make the first one younger.
            let earlier = run.hearing.trouble.filter(|_| trouble.is_some());
            run.hearing.trouble = earlier.or(trouble);
        }
        self.session_changed(session);
    }

    fn count_beat(&mut self, session: SessionId, now: TwoClocks) {
        let hears = self.has_room() && self.unwritten.is_empty() && self.is_saved(session);
        let Some(run) = self.run_of(session) else {
            return;
        };
        if run.hearing.next_beat().is_none_or(|at| at > now.steady) {
            return;
        }
        let Some(trouble) = &mut run.hearing.trouble else {
            return;
        };
        let last = std::mem::replace(&mut trouble.last_beat, now);
        let talks = std::mem::take(&mut trouble.talks);
        if talks || !hears || !now.is_soon_after(last, 2 * BEAT) {
            // It has reacted, or may have when nobody could hear it.
            trouble.waited = Duration::ZERO;
            return self.session_changed(session);
        }
        trouble.waited += now.steady.saturating_duration_since(last.steady);
        if trouble.is_over() {
            trouble.patience = None;
            tracing::warn!(%session, "an agent that did not react is ended");
            self.stop_agent(session, Stopped::Unresponsive);
        }
    }

    /// The disk has taken what there was to say of the session, also that its agent does not react. An agent's words
    /// take the same way, so they could be heard.
    fn is_saved(&self, session: SessionId) -> bool {
        let known = self.sessions.get(session);
        known.is_some_and(|known| {
            known.unsaved_row.is_none()
                && known
                    .run
                    .as_ref()
                    .is_some_and(|run| !run.progress.awaits_row())
        })
    }
}
