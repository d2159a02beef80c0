//! What follows when an agent has ended, or has to.

use sayso_broker::{EndReason, Event, SessionId};
use sayso_protocol::{EntryBody, NoticeLevel};

use super::Hub;
use super::audit::Actor;
use super::sessions::Stopped;

impl Hub {
    pub(super) fn stop_agent(&mut self, session: SessionId, why: Stopped) {
        let run = self
            .sessions
            .get_mut(session)
            .and_then(|session| session.run.as_mut());
        if let Some(run) = run {
            run.stopped.get_or_insert(why);
            // One that does not listen does not hear that it should end either.
            match run.hearing.problem() {
                Some(_) => run.handle.end(),
                None => run.handle.stop(),
            }
        }
    }

    pub(super) fn agent_ended(&mut self, session: SessionId, reason: EndReason) {
        let run = self
            .sessions
            .get_mut(session)
            .and_then(|known| known.run.take());
        let handle = run.as_ref().map(|run| run.handle.clone());
        let stopped = run.and_then(|run| run.stopped);
        let reason = match (stopped, reason) {
            (Some(Stopped::Idle), _) => EndReason::Idle,
            (Some(Stopped::Asked | Stopped::ForMode | Stopped::Replaced), _) => EndReason::Finished,
            (Some(Stopped::Unresponsive), _) => EndReason::Failed(self.without_reaction()),
            (Some(Stopped::RepeatedRequest), _) => EndReason::Failed(
                "The agent used the id of an open request again, so its answers could not be \
                 told apart. It was stopped."
                    .to_owned(),
            ),
            (Some(Stopped::Unasked), _) => EndReason::Failed(
                "The agent ran a tool that nobody allowed, so it was stopped.".to_owned(),
            ),
            (Some(Stopped::TranscriptFull), _) => EndReason::Failed(self.full_transcript()),
            (None, reason) => reason,
        };
        self.fail_controls_of(session);
        let failed = matches!(reason, EndReason::Failed(_) | EndReason::Lost(_));
        tracing::info!(%session, failed, "an agent ended");
        let notice = match &reason {
            EndReason::Finished => None,
            EndReason::Idle => Some((
                NoticeLevel::Info,
                "The agent was stopped because nobody wrote to it for a while. Write to go on."
                    .to_owned(),
            )),
            EndReason::Failed(text) | EndReason::Lost(text) => {
                Some((NoticeLevel::Error, text.clone()))
            }
        };
        if let Some((level, text)) = notice {
            self.append(session, None, EntryBody::Notice { level, text });
        }
        let (actor, text) = match (&stopped, &reason) {
            (Some(Stopped::Asked | Stopped::ForMode | Stopped::Replaced), _) => {
                (Actor::human(""), "")
            }
            (Some(Stopped::Idle), _) => (Actor::policy("idle_timeout"), ""),
            (Some(Stopped::Unresponsive), EndReason::Failed(text)) => {
                (Actor::policy("agent_patience"), text.as_str())
            }
            (Some(Stopped::Unasked), _) => (Actor::policy("on_unasked"), ""),
            (Some(Stopped::TranscriptFull), EndReason::Failed(text)) => {
                (Actor::policy("max_transcript"), text.as_str())
            }
            (_, EndReason::Failed(text) | EndReason::Lost(text)) => (Actor::agent(), text.as_str()),
            _ => (Actor::agent(), ""),
        };
        let entry = self.session_entry(session, &actor, "ended", text);
        self.keep_note(vec![entry], "the end of a session");
        self.keep_unread(session);
        self.dispatch(Event::AgentEnded { session, reason });
        if let Some(handle) = handle {
            self.forget_when_stored(session, handle);
        }
        self.restart_now(session);
    }

    fn without_reaction(&self) -> String {
        let patience = self.config.agent_patience;
        format!(
            "The agent did not react for {patience}, so it was ended. What it had asked is withdrawn; resume the \
             session to go on."
        )
    }
}
