//! What the hub tells every client, read as far as notifications need it.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use sayso_protocol::{NotificationKind, RequestDetail, RequestType};
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::plan::{Key, Millis, Plan, Subject};
use super::words::{self, About, Asked};

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Heard {
    Welcome {
        sessions: Vec<Session>,
        pending_requests: Vec<Request>,
    },
    SessionState {
        session: Session,
    },
    SessionRemoved {
        session_id: Uuid,
    },
    RequestOpened {
        pending_request: Request,
    },
    RequestUpdated {
        pending_request: Request,
    },
    RequestClosed {
        request_id: Uuid,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(super) struct Session {
    session_id: Uuid,
    title: String,
    cwd: String,
    state: String,
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    unresponsive: Option<Value>,
    #[serde(default)]
    alert: Option<Alert>,
}

#[derive(Debug, Deserialize)]
struct Alert {
    count: u32,
}

#[derive(Debug, Deserialize)]
pub(super) struct Request {
    request_id: Uuid,
    session_id: Uuid,
    request_type: RequestType,
    tool_name: String,
    tool_input: Value,
    input_digest: String,
    created_at: Timestamp,
    deadline: Option<Timestamp>,
    #[serde(flatten)]
    detail: RequestDetail,
}

/// Sessions as they were last heard of.
#[derive(Debug, Default)]
pub(super) struct Known {
    sessions: HashMap<Uuid, Session>,
}

impl Known {
    /// Puts into the plan what follows. Gives the requests that are over.
    pub(super) fn hear(&mut self, heard: Heard, plan: &mut Plan, now: Millis) -> Vec<Uuid> {
        match heard {
            Heard::Welcome {
                sessions,
                pending_requests,
            } => {
                let open: Vec<Uuid> = pending_requests
                    .iter()
                    .map(|open| open.request_id)
                    .collect();
                let there: Vec<Uuid> = sessions.iter().map(|there| there.session_id).collect();
                for session in sessions {
                    self.session(session, plan, now);
                }
                let gone: Vec<Uuid> = self.sessions.keys().copied().collect();
                for session in gone.into_iter().filter(|id| !there.contains(id)) {
                    self.removed(session, plan);
                }
                for request in pending_requests {
                    plan.open(self.subject(request));
                }
                let over = plan.waiting().into_iter().filter_map(|key| match key {
                    Key::Request(id) if !open.contains(&id) => Some(id),
                    Key::Request(_) | Key::Turn(_) | Key::Trouble(_) => None,
                });
                let over: Vec<Uuid> = over.collect();
                for id in &over {
                    plan.close(Key::Request(*id));
                }
                over
            }
            Heard::SessionState { session } => {
                self.session(session, plan, now);
                Vec::new()
            }
            Heard::SessionRemoved { session_id } => {
                self.removed(session_id, plan);
                Vec::new()
            }
            Heard::RequestOpened { pending_request } => {
                plan.open(self.subject(pending_request));
                Vec::new()
            }
            // One that was not opened before is none of ours.
            Heard::RequestUpdated { pending_request } => {
                if plan.waits(Key::Request(pending_request.request_id)) {
                    plan.open(self.subject(pending_request));
                }
                Vec::new()
            }
            Heard::RequestClosed { request_id } => {
                plan.close(Key::Request(request_id));
                vec![request_id]
            }
            Heard::Other => Vec::new(),
        }
    }

    fn removed(&mut self, id: Uuid, plan: &mut Plan) {
        self.sessions.remove(&id);
        plan.close(Key::Turn(id));
        plan.close(Key::Trouble(id));
    }

    /// Only what changes is news: a session that is first heard of as it is may be long so.
    fn session(&mut self, session: Session, plan: &mut Plan, now: Millis) {
        let id = session.session_id;
        let before = self.sessions.get(&id);
        let was_at_work = before.is_some_and(|before| before.state == "assistant_turn");
        let trouble = session.trouble();
        let new_trouble = before.is_some_and(|before| before.trouble() != trouble);
        let about = |trouble| {
            Arc::new(About {
                session: id,
                session_title: session.title.clone(),
                project: words::project(&session.cwd),
                request: None,
                trouble,
            })
        };
        let subject = |key, kind, about| Subject {
            key,
            kind,
            opened_at: now,
            deadline: None,
            about,
        };
        if session.state != "user_turn" {
            plan.close(Key::Turn(id));
        } else if was_at_work {
            let kind = NotificationKind::TurnFinished;
            plan.open(subject(Key::Turn(id), kind, about(None)));
        }
        if new_trouble || trouble.is_none() {
            plan.close(Key::Trouble(id));
        }
        if let (true, Some((words, _))) = (new_trouble, trouble) {
            let kind = NotificationKind::Error;
            plan.open(subject(Key::Trouble(id), kind, about(Some(words))));
        }
        self.sessions.insert(id, session);
    }

    fn subject(&self, request: Request) -> Subject {
        let session = self.sessions.get(&request.session_id);
        let about = About {
            session: request.session_id,
            session_title: session
                .map(|session| session.title.clone())
                .unwrap_or_default(),
            project: session
                .map(|session| words::project(&session.cwd))
                .unwrap_or_default(),
            request: Some(Asked {
                id: request.request_id,
                what: words::what(request.request_type, &request.tool_name),
                detail: words::detail(&request.tool_input),
                can_be_denied: matches!(
                    request.request_type,
                    RequestType::ToolApproval | RequestType::PlanApproval
                ),
                can_be_allowed: is_harmless(request.request_type, &request.detail),
                digest: request.input_digest,
            }),
            trouble: None,
        };
        Subject {
            key: Key::Request(request.request_id),
            kind: NotificationKind::of(request.request_type),
            opened_at: request.created_at.as_millisecond(),
            deadline: request.deadline.map(Timestamp::as_millisecond),
            about: Arc::new(about),
        }
    }
}

impl Session {
    /// In our words, and how often.
    fn trouble(&self) -> Option<(&'static str, u32)> {
        if let Some(alert) = &self.alert {
            return Some(("a tool ran that nobody allowed", alert.count));
        }
        if self.unresponsive.is_some() {
            return Some(("the agent does not react", 0));
        }
        let words = match self.state.as_str() {
            "dead" => "the agent has ended",
            _ => "something is wrong",
        };
        self.error.is_some().then_some((words, 0))
    }
}

/// Whether a request may be allowed by somebody who has not seen all of it.
pub(super) fn is_harmless(kind: RequestType, detail: &RequestDetail) -> bool {
    kind == RequestType::ToolApproval
        && detail.input_faithful
        && detail.risks.is_empty()
        && !detail.destructive
        && !detail.default_to_no
        && !detail.requires_user_interaction
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    const ID: &str = "00000000-0000-4000-8000-000000000001";

    fn request(change: Value) -> Value {
        let detail = RequestDetail {
            input_faithful: true,
            ..RequestDetail::default()
        };
        let mut request = serde_json::to_value(detail).unwrap();
        let further = json!({
            "request_id": ID, "session_id": ID, "request_type": "tool_approval", "tool_name": "Bash",
            "tool_input": {"command": "ls"}, "input_digest": "d", "created_at": "2026-11-16T00:00:00Z",
            "deadline": null, "choices": [],
        });
        for changes in [further, change] {
            for (name, value) in changes.as_object().unwrap() {
                request[name] = value.clone();
            }
        }
        request
    }

    #[test]
    fn allowing_from_afar_is_for_what_has_no_known_risk() {
        for (change, expected) in [
            (json!({}), true),
            (json!({"default_to_no": true}), false),
            (json!({"requires_user_interaction": true}), false),
            (json!({"destructive": true}), false),
            (json!({"input_faithful": false}), false),
            (
                json!({"risks": [{"kind": "network", "words": "curl"}]}),
                false,
            ),
            (json!({"request_type": "plan_approval"}), false),
            (json!({"request_type": "other"}), false),
        ] {
            let read: Request = serde_json::from_value(request(change.clone())).unwrap();
            let harmless = is_harmless(read.request_type, &read.detail);
            assert_eq!(harmless, expected, "{change}");
        }
    }

    fn hear(known: &mut Known, plan: &mut Plan, heard: Value) -> Vec<Key> {
        known.hear(serde_json::from_value(heard).unwrap(), plan, 0);
        plan.waiting()
    }

    fn session(state: &str, change: Value) -> Value {
        let mut session =
            json!({"session_id": ID, "title": "t", "cwd": "/srv/p", "state": state, "usage": {}});
        for (name, value) in change.as_object().unwrap() {
            session[name] = value.clone();
        }
        session
    }

    #[test]
    fn turns_and_troubles_are_news_when_they_come_and_over_when_they_go() {
        let (mut known, mut plan) = (Known::default(), Plan::default());
        let id: Uuid = ID.parse().unwrap();
        let welcome = json!({"type": "welcome", "sessions": [session("user_turn", json!({"error": "old"}))],
            "pending_requests": [request(json!({}))], "me": {}});
        assert_eq!(
            hear(&mut known, &mut plan, welcome),
            [Key::Request(id)],
            "nothing old is news"
        );
        let mut state = |state, change| {
            let heard = json!({"type": "session_state", "session": session(state, change)});
            hear(&mut known, &mut plan, heard)
        };
        assert_eq!(state("assistant_turn", json!({})), [Key::Request(id)]);
        assert_eq!(
            state("user_turn", json!({})),
            [Key::Request(id), Key::Turn(id)]
        );
        assert_eq!(state("assistant_turn", json!({})), [Key::Request(id)]);
        let dead = json!({"error": "It ended."});
        assert_eq!(state("dead", dead), [Key::Request(id), Key::Trouble(id)]);
        assert_eq!(state("starting", json!({})), [Key::Request(id)]);
        let closed =
            json!({"type": "request_closed", "request_id": ID, "session_id": ID, "outcome": {}});
        assert_eq!(hear(&mut known, &mut plan, closed), []);
        let opened = json!({"type": "request_opened", "pending_request": request(json!({}))});
        assert_eq!(hear(&mut known, &mut plan, opened), [Key::Request(id)]);
        // After a gap the snapshot says what is over.
        let welcome = json!({"type": "welcome", "sessions": [], "pending_requests": []});
        assert_eq!(hear(&mut known, &mut plan, welcome), []);
        assert_eq!(
            hear(&mut known, &mut plan, json!({"type": "rules", "rules": []})),
            []
        );
    }
}
