//! What somebody must be allowed to do before the hub does it for them.

use sayso_broker::{RequestId, SessionId};
use sayso_claude::PermissionMode;
use sayso_protocol::{ClientMessage, Decision, ErrorCode, ErrorMessage, Scope, StartSession};

use super::{Hub, wire};
use crate::access::{Pass, Proof};
use crate::agents::claude;

/// A scope, and whether the password is asked for as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Need {
    scope: Scope,
    proof: bool,
}

impl From<Scope> for Need {
    fn from(scope: Scope) -> Self {
        let proof = false;
        Self { scope, proof }
    }
}

/// What goes on being allowed after this moment.
const REMEMBERING: Need = Need {
    scope: Scope::Rules,
    proof: true,
};

impl Hub {
    pub(super) fn check_permission(
        &self,
        pass: &Pass,
        message: &ClientMessage,
    ) -> Result<(), ErrorMessage> {
        let need = needed(message, self);
        if !pass.scopes.has(need.scope) {
            let text = format!(
                "This device may not do that: it lacks the scope `{}`.",
                need.scope.as_str()
            );
            return Err(wire::error(ErrorCode::Forbidden, text));
        }
        if need.proof {
            check_proof(pass)?;
        }
        Ok(())
    }
}

pub(super) fn check_proof(pass: &Pass) -> Result<(), ErrorMessage> {
    match pass.proof {
        Proof::Given => Ok(()),
        Proof::Missing => {
            let text = "Give the password first: it is asked for before risky actions.";
            Err(wire::error(ErrorCode::ProofRequired, text))
        }
    }
}

/// What the hub knows about what a message names.
trait Facts {
    /// A request whose effect cannot be taken back. One that is not known is
    /// refused later anyway.
    fn is_destructive(&self, id: RequestId) -> bool;
    /// The mode that a session goes on in.
    fn mode_of(&self, session: SessionId) -> Option<&str>;
}

impl Facts for Hub {
    fn is_destructive(&self, id: RequestId) -> bool {
        let Some(request) = self.broker.request(id) else {
            return false;
        };
        // What cannot be read is treated as the worst.
        let detail = self.details.of(&request.ask);
        detail.is_none_or(|detail| detail.destructive)
    }

    fn mode_of(&self, session: SessionId) -> Option<&str> {
        let known = self.sessions.get(session)?;
        Some(&known.permission_mode)
    }
}

fn needed(message: &ClientMessage, facts: &impl Facts) -> Need {
    match message {
        ClientMessage::Subscribe(_)
        | ClientMessage::Unsubscribe(_)
        | ClientMessage::ListAgentRules(_)
        | ClientMessage::Presence(_)
        | ClientMessage::Ping(_) => Scope::View.into(),
        ClientMessage::Respond(respond) => {
            let id = RequestId(respond.request_id);
            deciding(&respond.decision, || facts.is_destructive(id))
        }
        ClientMessage::SendMessage(_)
        | ClientMessage::EditQueued(_)
        | ClientMessage::RemoveQueued(_)
        | ClientMessage::Interrupt(_)
        | ClientMessage::StopSession(_)
        | ClientMessage::RenameSession(_)
        | ClientMessage::ArchiveSession(_)
        | ClientMessage::Hold(_)
        | ClientMessage::ResumeClock(_)
        | ClientMessage::Extend(_) => Scope::Answer.into(),
        ClientMessage::StartSession(start) => starting(start, facts),
        ClientMessage::SetPermissionMode(set) => mode(&set.permission_mode),
        ClientMessage::SetModel(_)
        | ClientMessage::RemoveSession(_)
        | ClientMessage::ImportConversation(_)
        | ClientMessage::DismissAlert(_) => Scope::Approve.into(),
        ClientMessage::AddRule(_)
        | ClientMessage::UpdateRule(_)
        | ClientMessage::EnableRule(_)
        | ClientMessage::RemoveRule(_) => REMEMBERING,
    }
}

fn deciding(decision: &Decision, is_destructive: impl FnOnce() -> bool) -> Need {
    match decision {
        Decision::Deny(_) | Decision::Answer(_) | Decision::Submit(_) => Scope::Answer.into(),
        Decision::Allow(allow) if !allow.remember.is_empty() || allow.automatic => REMEMBERING,
        Decision::Allow(allow) => match allow.permission_mode.as_deref().map(mode) {
            Some(need) if need.proof => need,
            _ => Need {
                scope: Scope::Approve,
                proof: is_destructive(),
            },
        },
    }
}

fn starting(start: &StartSession, facts: &impl Facts) -> Need {
    if start.trust == Some(true) {
        return REMEMBERING;
    }
    let before = || facts.mode_of(SessionId(start.resume?));
    match start.permission_mode.as_deref().or_else(before) {
        Some(wanted) => mode(wanted),
        None => Scope::Approve.into(),
    }
}

/// The mode that asks nothing is one big rule.
fn mode(name: &str) -> Need {
    let current = claude::current_mode_name(name);
    if PermissionMode::from_wire(current) == PermissionMode::BypassPermissions {
        REMEMBERING
    } else {
        Scope::Approve.into()
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use sayso_protocol::ClientFrame;

    use super::*;

    const ID: &str = "00000000-0000-4000-8000-000000000000";

    struct World {
        destructive: bool,
    }

    impl Facts for World {
        fn is_destructive(&self, _: RequestId) -> bool {
            self.destructive
        }

        fn mode_of(&self, _: SessionId) -> Option<&str> {
            Some("bypassPermissions")
        }
    }

    fn need(fields: &str) -> (Scope, bool) {
        let text = format!("{{{}}}", fields.replace('\'', "\"").replace("ID", ID));
        let frame = ClientFrame::parse(&text).unwrap();
        let destructive = text.contains(r#""input_digest": "destructive""#);
        let need = needed(&frame.message, &World { destructive });
        (need.scope, need.proof)
    }

    fn respond(digest: &str, decision: &str) -> (Scope, bool) {
        need(&format!(
            "'type': 'respond', 'request_id': 'ID', 'input_digest': '{digest}', 'decision': {{{decision}}}"
        ))
    }

    #[test]
    fn saying_no_takes_less_than_saying_yes() {
        let cases = [
            ("harmless", "'behavior': 'deny'", (Scope::Answer, false)),
            ("destructive", "'behavior': 'deny'", (Scope::Answer, false)),
            (
                "harmless",
                "'behavior': 'answer', 'answers': {}",
                (Scope::Answer, false),
            ),
            ("harmless", "'behavior': 'allow'", (Scope::Approve, false)),
            ("destructive", "'behavior': 'allow'", (Scope::Approve, true)),
            (
                "harmless",
                "'behavior': 'allow', 'remember': [0]",
                (Scope::Rules, true),
            ),
            (
                "harmless",
                "'behavior': 'allow', 'automatic': true",
                (Scope::Rules, true),
            ),
            (
                "harmless",
                "'behavior': 'allow', 'permission_mode': 'acceptEdits'",
                (Scope::Approve, false),
            ),
            (
                "harmless",
                "'behavior': 'allow', 'permission_mode': 'bypassPermissions'",
                (Scope::Rules, true),
            ),
        ];
        for (digest, decision, expected) in cases {
            assert_eq!(respond(digest, decision), expected, "{digest} {decision}");
        }
    }

    #[test]
    fn what_outlasts_the_moment_takes_the_most() {
        let cases = [
            (
                "'type': 'subscribe', 'session_id': 'ID'",
                (Scope::View, false),
            ),
            (
                "'type': 'send_message', 'session_id': 'ID', 'content': []",
                (Scope::Answer, false),
            ),
            (
                "'type': 'start_session', 'cwd': '/'",
                (Scope::Approve, false),
            ),
            (
                "'type': 'start_session', 'cwd': '/', 'trust': false",
                (Scope::Approve, false),
            ),
            (
                "'type': 'start_session', 'cwd': '/', 'trust': true",
                (Scope::Rules, true),
            ),
            (
                "'type': 'start_session', 'cwd': '/', 'permission_mode': 'bypassPermissions'",
                (Scope::Rules, true),
            ),
            (
                "'type': 'start_session', 'cwd': '/', 'resume': 'ID'",
                (Scope::Rules, true),
            ),
            (
                "'type': 'start_session', 'cwd': '/', 'resume': 'ID', 'permission_mode': 'default'",
                (Scope::Approve, false),
            ),
            (
                "'type': 'set_permission_mode', 'session_id': 'ID', 'permission_mode': 'plan'",
                (Scope::Approve, false),
            ),
            (
                "'type': 'set_permission_mode', 'session_id': 'ID', 'permission_mode': 'bypassPermissions'",
                (Scope::Rules, true),
            ),
            (
                "'type': 'remove_rule', 'rule_id': 'ID'",
                (Scope::Rules, true),
            ),
        ];
        for (fields, expected) in cases {
            assert_eq!(need(fields), expected, "{fields}");
        }
    }
}
