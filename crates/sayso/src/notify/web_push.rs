//! Messages for browsers, through the push services of their makers (RFC 8030).

use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hyper::Request;
use hyper::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE};
use jiff::Timestamp;
use sayso_protocol::PushPayload;
use url::Url;

use super::encrypt::Recipient;
use super::outgoing::{Post, Reach};
use super::vapid::Vapid;

/// For how long a push service keeps what the browser does not take, in seconds.
pub(super) const KEPT: i64 = 24 * 60 * 60;
pub(super) const KEPT_AT_LEAST: i64 = 60;

/// Some browsers pad.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

pub(super) fn bytes(text: &str) -> Option<Vec<u8>> {
    LENIENT.decode(text).ok()
}

/// `None` when it cannot be encrypted for this browser.
pub(super) fn post(
    endpoint: &Url,
    recipient: &Recipient,
    vapid: &Vapid,
    tag: &str,
    payload: &PushPayload,
    kept: i64,
    reach: Reach,
) -> Option<Post> {
    let text = serde_json::to_vec(payload).ok()?;
    let body = recipient.encrypt(&text).ok()?;
    let audience = endpoint.origin().ascii_serialization();
    let request = Request::post("/")
        .header(
            AUTHORIZATION,
            vapid.authorization(&audience, Timestamp::now()),
        )
        .header(CONTENT_ENCODING, "aes128gcm")
        .header(CONTENT_TYPE, "application/octet-stream")
        .header("ttl", kept.max(0))
        .header("urgency", "high")
        // What was not delivered yet is replaced by what follows about the same.
        .header("topic", tag);
    Some(Post {
        url: endpoint.clone(),
        request,
        body,
        reach,
    })
}
