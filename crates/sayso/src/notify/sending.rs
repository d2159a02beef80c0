//! From what the plan wants to one request over the network, and what its answer means.

use jiff::Timestamp;
use sayso_protocol::{
    ActionKind, ChannelKind, DeliveryResult, NotificationKind, PushAction, PushNotice, PushPayload,
    Scope,
};
use uuid::Uuid;

use super::Notifications;
use super::channel::{Channel, Target, recipient};
use super::outgoing::{self, Answer, Post, SendError};
use super::plan::{Key, Subject, Verdict, What};
use super::tokens::Bound;
use super::words;
use super::{ntfy, web_push, webhook};

/// The name of what is not about anything.
const TEST_TAG: &str = "test";
/// Names of deliveries are made from what they deliver.
const DELIVERIES: Uuid = Uuid::from_u128(0x6c1d_5a52_0d0e_4c0b_9a3f_7f0e_51a7_2e90);

/// What a channel is sent.
#[derive(Debug)]
pub(super) struct Message {
    tag: String,
    payload: PushPayload,
    /// For how long a push service keeps it.
    kept: i64,
    id: Uuid,
}

impl Message {
    /// What "Send test" sends.
    pub(super) fn test() -> Self {
        let notice = PushNotice {
            tag: TEST_TAG.to_owned(),
            kind: NotificationKind::Tool,
            title: "Sayso".to_owned(),
            body: "This is a test. Notifications reach you here.".to_owned(),
            path: "/".to_owned(),
            reminder: false,
            session_id: None,
            request_id: None,
            deadline: None,
            actions: Vec::new(),
        };
        Self {
            tag: TEST_TAG.to_owned(),
            payload: PushPayload::Show(notice),
            kept: web_push::KEPT_AT_LEAST,
            id: Uuid::new_v4(),
        }
    }

    /// The same try after try, its buttons included.
    pub(super) fn of(what: &What, channel: &Channel, shared: &Notifications) -> Self {
        let tag = what.key().tag();
        let id = |word: &str, at: i64| {
            let name = format!("{} {word} {tag} {at}", channel.id);
            Uuid::new_v5(&DELIVERIES, name.as_bytes())
        };
        let (subject, reminder) = match what {
            What::Announce(subject) => (subject, false),
            What::Remind(subject) => (subject, true),
            What::Withdraw(_) => {
                return Self {
                    id: id("withdraw", 0),
                    payload: PushPayload::Withdraw { tag: tag.clone() },
                    kept: web_push::KEPT,
                    tag,
                };
            }
        };
        let now = Timestamp::now();
        let deadline = subject
            .deadline
            .and_then(|at| Timestamp::from_millisecond(at).ok());
        let left = deadline.map_or(web_push::KEPT, |at| at.as_second() - now.as_second());
        let word = if reminder { "remind" } else { "announce" };
        Self {
            id: id(
                word,
                if reminder {
                    subject.deadline.unwrap_or_default()
                } else {
                    subject.opened_at
                },
            ),
            payload: PushPayload::Show(notice(subject, reminder, deadline, channel, shared)),
            kept: left.clamp(web_push::KEPT_AT_LEAST, web_push::KEPT),
            tag,
        }
    }

    fn post(&self, channel: &Channel, shared: &Notifications) -> Option<Post> {
        let (base, tag) = (shared.inner.base.as_str(), self.tag.as_str());
        match &channel.target {
            Target::WebPush {
                endpoint,
                p256dh,
                auth,
                ..
            } => web_push::post(
                endpoint,
                &recipient(p256dh, auth)?,
                &shared.inner.vapid,
                tag,
                &self.payload,
                self.kept,
                shared.inner.reach,
            ),
            Target::Ntfy {
                server,
                topic,
                token,
            } => match &self.payload {
                PushPayload::Show(notice) => {
                    ntfy::publish(server, topic, token.as_deref(), notice, base)
                }
                PushPayload::Withdraw { tag } => {
                    ntfy::withdraw(server, topic, token.as_deref(), tag)
                }
            },
            Target::Webhook {
                url,
                format,
                secret,
            } => webhook::post(
                url,
                secret,
                *format,
                &self.payload,
                base,
                self.id,
                Timestamp::now(),
            ),
        }
    }
}

fn notice(
    subject: &Subject,
    reminder: bool,
    deadline: Option<Timestamp>,
    channel: &Channel,
    shared: &Notifications,
) -> PushNotice {
    let (about, session) = (&subject.about, subject.about.session);
    let path = match subject.key {
        Key::Request(request) => format!("/sessions/{session}?request={request}"),
        Key::Turn(_) | Key::Trouble(_) => format!("/sessions/{session}"),
    };
    PushNotice {
        tag: subject.key.tag(),
        kind: subject.kind,
        title: words::title(subject.kind, reminder).to_owned(),
        body: words::body(about, channel.settings.detail),
        path,
        reminder,
        session_id: Some(session),
        request_id: about.request.as_ref().map(|asked| asked.id),
        deadline,
        actions: buttons(subject, channel, shared),
    }
}

fn buttons(subject: &Subject, channel: &Channel, shared: &Notifications) -> Vec<PushAction> {
    let Some(asked) = &subject.about.request else {
        return Vec::new();
    };
    let Some(pass) = shared.pass_of(channel) else {
        return Vec::new();
    };
    let wanted = [
        (
            ActionKind::Deny,
            channel.settings.deny_button && asked.can_be_denied,
            Scope::Answer,
        ),
        (
            ActionKind::Allow,
            channel.settings.allow_button && asked.can_be_allowed,
            Scope::Approve,
        ),
    ];
    let offered = wanted
        .into_iter()
        .filter(|(_, offered, scope)| *offered && pass.scopes.has(*scope));
    let mut state = shared.state();
    let buttons = offered.filter_map(|(action, ..)| {
        let bound = Bound {
            channel: channel.id,
            request: asked.id,
            digest: asked.digest.clone(),
            action,
        };
        let token = state.tokens.give(&bound)?;
        Some(PushAction { action, token })
    });
    buttons.collect()
}

/// What became of a try.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) verdict: Verdict,
    /// The browser does not want any more, ever.
    pub(super) gone: bool,
    pub(super) result: DeliveryResult,
}

pub(super) async fn send(message: Message, channel: &Channel, shared: &Notifications) -> Sent {
    let withdraws = matches!(message.payload, PushPayload::Withdraw { .. });
    let answer = match message.post(channel, shared) {
        Some(post) => outgoing::send(post).await,
        None => Err(SendError::Address),
    };
    judge(channel.target.kind(), withdraws, answer)
}

fn judge(kind: ChannelKind, withdraws: bool, answer: Result<Answer, SendError>) -> Sent {
    let sent = |verdict, gone, text: String| Sent {
        verdict,
        gone,
        result: DeliveryResult {
            at: Timestamp::now(),
            delivered: verdict == Verdict::Delivered,
            text,
        },
    };
    let Answer {
        status,
        retry_after,
    } = match answer {
        Ok(answer) => answer,
        Err(error @ (SendError::Address | SendError::Private)) => {
            return sent(Verdict::Refused, false, error.to_string());
        }
        Err(error) => return sent(Verdict::Later(None), false, error.to_string()),
    };
    match (status.as_u16(), kind) {
        (200..300, _) => sent(Verdict::Delivered, false, "Delivered.".to_owned()),
        (404 | 410, ChannelKind::WebPush) => {
            let text = "The browser has ended its subscription.";
            sent(Verdict::Refused, true, text.to_owned())
        }
        // A server that cannot take messages back keeps them.
        (400 | 404 | 405, ChannelKind::Ntfy) if withdraws => {
            sent(Verdict::Delivered, false, String::new())
        }
        (408 | 425 | 429 | 500..600, _) => {
            let text = format!("The server answered {status}; it is tried again.");
            sent(Verdict::Later(retry_after), false, text)
        }
        (300..400, _) => {
            let text = format!("The server answered {status}; redirections are not followed.");
            sent(Verdict::Refused, false, text)
        }
        _ => sent(
            Verdict::Refused,
            false,
            format!("The server answered {status}."),
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hyper::StatusCode;
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn an_answer_says_whether_to_try_again() {
        use ChannelKind::{Ntfy, WebPush, Webhook};
        let wait = Some(Duration::from_secs(7));
        for (status, kind, verdict, gone) in [
            (201, WebPush, Verdict::Delivered, false),
            (204, Webhook, Verdict::Delivered, false),
            (404, WebPush, Verdict::Refused, true),
            (410, WebPush, Verdict::Refused, true),
            (410, Webhook, Verdict::Refused, false),
            (404, Ntfy, Verdict::Refused, false),
            (403, WebPush, Verdict::Refused, false),
            (413, WebPush, Verdict::Refused, false),
            (302, Webhook, Verdict::Refused, false),
            (429, WebPush, Verdict::Later(wait), false),
            (500, Ntfy, Verdict::Later(wait), false),
            (503, WebPush, Verdict::Later(wait), false),
        ] {
            let answer = Answer {
                status: StatusCode::from_u16(status).unwrap(),
                retry_after: wait,
            };
            let sent = judge(kind, false, Ok(answer));
            assert_eq!(
                (sent.verdict, sent.gone),
                (verdict, gone),
                "{status} {kind:?}"
            );
        }
        for (error, verdict) in [
            (SendError::Private, Verdict::Refused),
            (SendError::Timeout, Verdict::Later(None)),
            (SendError::Broken, Verdict::Later(None)),
        ] {
            let sent = judge(WebPush, false, Err(error));
            assert_eq!((sent.verdict, sent.gone), (verdict, false));
        }
    }
}
