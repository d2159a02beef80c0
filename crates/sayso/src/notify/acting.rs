//! The buttons of notifications, when somebody presses one.

use std::net::IpAddr;

use sayso_protocol::{
    ActionKind, Allow, ClientMessage, Decision, Deny, PendingRequest, Respond, Scope,
};

use super::Notifications;
use super::channel::Channel;
use super::heard::is_harmless;
use super::managing::NotifyError;
use super::tokens::Bound;
use crate::access::{Guess, Identity, Pass, Proof, Scopes};

impl Notifications {
    /// Somebody used a button. Whatever is in doubt is refused, and the token is gone in any case.
    pub async fn act(&self, token: &str, from: IpAddr) -> Result<(), NotifyError> {
        let bound = self.state().tokens.take(token);
        let Some(bound) = bound else {
            self.inner.access.count_wrong(from, Guess::Secret)?;
            return Err(NotifyError::Over);
        };
        let channel = self.state().channels.get(&bound.channel).cloned();
        let channel = channel.ok_or(NotifyError::Over)?;
        let settings = &channel.settings;
        let (offered, decision) = match bound.action {
            ActionKind::Deny => (settings.deny_button, Decision::Deny(Deny::default())),
            ActionKind::Allow => (settings.allow_button, Decision::Allow(Allow::default())),
        };
        let pass = self.pass_of(&channel).ok_or(NotifyError::Over)?;
        let open = self.inner.hub.snapshot().await?.pending_requests;
        let as_it_was = open.iter().any(|request| is_as_it_was(&bound, request));
        if !settings.enabled || !offered || !as_it_was {
            return Err(NotifyError::Over);
        }
        let respond = Respond {
            request_id: bound.request,
            input_digest: bound.digest,
            decision,
        };
        let reply = self
            .inner
            .hub
            .call(pass, ClientMessage::Respond(respond))
            .await?;
        reply
            .map(|_| ())
            .map_err(|error| NotifyError::Answer(Box::new(error)))
    }

    /// In whose name a channel's buttons decide; `None` when its device is not let in any more.
    pub(super) fn pass_of(&self, channel: &Channel) -> Option<Pass> {
        match channel.device {
            Some(device) => {
                let pass = self.inner.access.pass(Identity::Device(device), "")?;
                let label = format!("{}, from a notification", pass.label);
                Some(Pass { label, ..pass })
            }
            None => Some(Pass {
                identity: Identity::Owner,
                label: format!("{}, from a notification", channel.name),
                scopes: Scopes::of(match channel.settings.allow_button {
                    true => &[Scope::Answer, Scope::Approve],
                    false => &[Scope::Answer],
                }),
                proof: Proof::Missing,
            }),
        }
    }
}

/// Whether this is the request, with the input that was told, and still fit for a button.
fn is_as_it_was(bound: &Bound, request: &PendingRequest) -> bool {
    let fit = match bound.action {
        ActionKind::Deny => true,
        ActionKind::Allow => is_harmless(request.request_type, &request.detail),
    };
    request.request_id == bound.request && request.input_digest == bound.digest && fit
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::Timestamp;
    use sayso_protocol::{OnTimeout, RequestDetail, RequestType, Risk, RiskKind};
    use serde_json::json;
    use serde_json::value::to_raw_value;
    use uuid::Uuid;

    use super::*;

    fn request() -> PendingRequest {
        PendingRequest {
            request_id: Uuid::from_u128(1),
            session_id: Uuid::from_u128(2),
            request_type: RequestType::ToolApproval,
            tool_name: "Bash".to_owned(),
            tool_input: to_raw_value(&json!({"command": "ls"})).unwrap().into(),
            input_digest: "told".to_owned(),
            created_at: Timestamp::now(),
            deadline: None,
            on_timeout: OnTimeout::Deny,
            held: false,
            remaining_seconds: None,
            tool_use_id: None,
            detail: Arc::new(RequestDetail {
                input_faithful: true,
                ..RequestDetail::default()
            }),
            choices: Vec::new(),
        }
    }

    #[test]
    fn a_button_is_for_the_input_that_was_told_and_allows_only_what_has_no_risk() {
        let other = || PendingRequest {
            request_id: Uuid::from_u128(3),
            ..request()
        };
        let changed = || PendingRequest {
            input_digest: "changed".to_owned(),
            ..request()
        };
        let risky = || {
            let mut risky = request();
            Arc::make_mut(&mut risky.detail).risks.push(Risk {
                kind: RiskKind::Network,
                words: "curl".to_owned(),
            });
            risky
        };
        for (action, request, expected) in [
            (ActionKind::Allow, request(), true),
            (ActionKind::Allow, other(), false),
            (ActionKind::Allow, changed(), false),
            (ActionKind::Allow, risky(), false),
            (ActionKind::Deny, request(), true),
            (ActionKind::Deny, other(), false),
            (ActionKind::Deny, changed(), false),
            (ActionKind::Deny, risky(), true),
        ] {
            let bound = Bound {
                channel: Uuid::from_u128(9),
                request: Uuid::from_u128(1),
                digest: "told".to_owned(),
                action,
            };
            let seen = is_as_it_was(&bound, &request);
            assert_eq!(seen, expected, "{action:?} {request:?}");
        }
    }
}
