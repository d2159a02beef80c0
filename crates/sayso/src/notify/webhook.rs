//! Signed messages for whatever listens. `docs/notifications.md` describes them.

use hmac::{Hmac, KeyInit, Mac};
use hyper::Request;
use hyper::header::CONTENT_TYPE;
use jiff::Timestamp;
use sayso_protocol::{PushPayload, WebhookFormat};
use serde_json::{Value, json};
use sha2::Sha256;
use url::Url;
use uuid::Uuid;

use super::outgoing::{Post, Reach};

/// `id` is the same for each try to deliver the same.
pub(super) fn post(
    url: &Url,
    secret: &str,
    format: WebhookFormat,
    payload: &PushPayload,
    base: &str,
    id: Uuid,
    now: Timestamp,
) -> Option<Post> {
    let body = match format {
        WebhookFormat::Sayso => {
            let mut body = serde_json::to_value(payload).ok()?;
            body["id"] = json!(id);
            if let Some(path) = body["path"].as_str() {
                body["url"] = json!(format!("{base}{path}"));
            }
            if !body["actions"].is_null() {
                body["act_url"] = json!(format!("{base}/api/notifications/act"));
            }
            body
        }
        WebhookFormat::Slack => text(payload, base)?,
    };
    let body = serde_json::to_vec(&body).ok()?;
    let timestamp = now.as_second().to_string();
    let request = Request::post("/")
        .header(CONTENT_TYPE, "application/json")
        .header("x-sayso-delivery", id.to_string())
        .header("x-sayso-signature", signature(secret, &timestamp, &body)?)
        .header("x-sayso-timestamp", timestamp);
    Some(Post {
        url: url.clone(),
        request,
        body,
        reach: Reach::Anywhere,
    })
}

/// What is said cannot be taken back there.
fn text(payload: &PushPayload, base: &str) -> Option<Value> {
    let PushPayload::Show(notice) = payload else {
        return None;
    };
    // What these three mean to Slack must not come from a session's name.
    let escape = |text: &str| {
        text.replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
    };
    let (title, body, path) = (notice.title.as_str(), escape(&notice.body), &notice.path);
    Some(json!({"text": format!("*{title}*\n{body}\n{base}{path}")}))
}

/// Over the time and the body, so that neither can be changed and an old one is known as such.
fn signature(secret: &str, timestamp: &str, body: &[u8]) -> Option<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).ok()?;
    mac.update(timestamp.as_bytes());
    mac.update(b".");
    mac.update(body);
    let sum = mac.finalize().into_bytes();
    let digits: Vec<String> = sum.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(format!("sha256={}", digits.concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `openssl dgst -sha256 -hmac` makes it.
    #[test]
    fn a_signature_is_over_time_and_body() {
        let sum = |time, body| signature("a-secret-of-sixteen", time, body).unwrap();
        assert_eq!(
            sum("1700000000", b"{}"),
            "sha256=2d3f5862638b69145e47f0091c6853c2875a315170aa4427e5394fe2ca153a95"
        );
        assert_ne!(sum("1700000000", b"{}"), sum("1700000001", b"{}"));
        assert_ne!(sum("1700000000", b"{}"), sum("1700000000", b"{ }"));
    }
}
