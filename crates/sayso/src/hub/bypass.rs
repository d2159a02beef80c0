//! The mode that asks nothing, for a while: afterwards the agent asks again.

use sayso_broker::{Mode, SessionId};
use sayso_claude::{ControlRequest, PermissionMode};
use sayso_protocol::{EntryBody, NoticeLevel};

use super::audit::Actor;
use super::clock::TwoClocks;
use super::controls::ControlPurpose;
use super::sessions::{Session, Stopped};
use super::{Hub, nobody};

impl Session {
    /// Starts the time that the mode may last, or forgets it.
    pub(super) fn watch_bypass(&mut self, now: TwoClocks) {
        let bypass = PermissionMode::BypassPermissions;
        if self.run.is_none() || self.permission_mode != bypass.as_str() {
            self.bypass_until = None;
        } else if self.bypass_until.is_none() {
            let expiry = self.policies.bypass_expiry.and_then(|limit| limit.0);
            self.bypass_until = expiry.and_then(|expiry| now.plus(expiry));
        }
    }
}

impl Hub {
    /// Brings agents back to asking whose time without questions is over.
    pub(super) fn end_bypasses(&mut self, now: TwoClocks) {
        for session in self.sessions.bypass_over(now) {
            if let Some(known) = self.sessions.get_mut(session) {
                known.bypass_until = None;
            }
            let text = "The time for the mode bypassPermissions is over: the agent asks again.";
            self.notice(session, NoticeLevel::Info, text);
            self.mode_actors
                .insert(session, Actor::policy("bypass_expiry"));
            let mode = PermissionMode::Default;
            let purpose = ControlPurpose::EndBypass(Mode::new(mode.as_str()));
            let request = ControlRequest::SetPermissionMode { mode };
            self.control(nobody(), session, request, purpose);
        }
    }

    /// An agent that does not come back to asking is not left running.
    pub(super) fn bypass_not_ended(&mut self, session: SessionId) {
        let text = "The agent did not leave the mode bypassPermissions, so it was stopped.";
        self.notice(session, NoticeLevel::Error, text);
        self.stop_agent(session, Stopped::Asked);
    }

    fn notice(&mut self, session: SessionId, level: NoticeLevel, text: &str) {
        let text = text.to_owned();
        self.append(session, None, EntryBody::Notice { level, text });
    }
}
