//! Messages for the topics of an ntfy server.

use hyper::Request;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE};
use sayso_protocol::{ActionKind, NotificationKind, PushNotice};
use serde_json::{Value, json};
use url::Url;

use super::outgoing::{Post, Reach};

/// Of 1 to 5.
fn priority(notice: &PushNotice) -> u8 {
    match notice.kind {
        _ if notice.reminder => 5,
        NotificationKind::Tool | NotificationKind::Question | NotificationKind::Plan => 4,
        NotificationKind::Error => 4,
        NotificationKind::TurnFinished => 3,
    }
}

pub(super) fn publish(
    server: &Url,
    topic: &str,
    token: Option<&str>,
    notice: &PushNotice,
    base: &str,
) -> Option<Post> {
    let open = format!("{base}{}", notice.path);
    let view = json!({"action": "view", "label": "Open", "url": open, "clear": false});
    let buttons = notice.actions.iter().map(|button| {
        let label = match button.action {
            ActionKind::Deny => "Deny",
            ActionKind::Allow => "Allow once",
        };
        json!({
            "action": "http",
            "label": label,
            "method": "POST",
            "url": format!("{base}/api/notifications/act"),
            "headers": {"Content-Type": "application/json"},
            "body": json!({"token": button.token}).to_string(),
            "clear": true,
        })
    });
    let actions: Vec<Value> = std::iter::once(view).chain(buttons).collect();
    let body = json!({
        "topic": topic,
        "title": notice.title,
        "message": notice.body,
        "priority": priority(notice),
        "click": open,
        "actions": actions,
        "sequence_id": notice.tag,
    });
    let request = with_token(Request::post("/"), token).header(CONTENT_TYPE, "application/json");
    Some(Post {
        url: server.clone(),
        request,
        body: serde_json::to_vec(&body).ok()?,
        reach: Reach::Anywhere,
    })
}

/// Takes a message back. Servers before 2.16 do not know how.
pub(super) fn withdraw(server: &Url, topic: &str, token: Option<&str>, tag: &str) -> Option<Post> {
    let mut url = server.clone();
    url.path_segments_mut()
        .ok()?
        .pop_if_empty()
        .extend([topic, tag]);
    Some(Post {
        url,
        request: with_token(Request::delete("/"), token),
        body: Vec::new(),
        reach: Reach::Anywhere,
    })
}

fn with_token(
    request: hyper::http::request::Builder,
    token: Option<&str>,
) -> hyper::http::request::Builder {
    match token {
        Some(token) => request.header(AUTHORIZATION, format!("Bearer {token}")),
        None => request,
    }
}
