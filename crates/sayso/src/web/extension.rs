//! Extensions of browsers. Their pages come from an origin of their own, which their browser vouches
//! for: from there they can be paired like any device, and then nothing but their own token counts.

use axum::extract::{MatchedPath, Request};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN,
    SEC_WEBSOCKET_PROTOCOL, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use uuid::Uuid;

/// What the native socket speaks. Whoever names protocols must be told one of them.
pub(super) const PROTOCOL: &str = "sayso";
/// A page cannot set a header on a socket, but it can name protocols: this, and the token after it.
const TOKEN_PROTOCOL: &str = "sayso.bearer.";
const SOCKET: &str = "/api/ws";

/// Whether browsers give this origin to their extensions, and to nothing else.
fn is_extension(origin: &str) -> bool {
    match origin.split_once("://") {
        Some(("chrome-extension", id)) => {
            id.len() == 32 && id.bytes().all(|byte| matches!(byte, b'a'..=b'p'))
        }
        Some(("moz-extension", id)) => id.len() == 36 && Uuid::try_parse(id).is_ok(),
        _ => false,
    }
}

/// Where the extension that asks comes from, if it is one. No browser names two origins.
pub(super) fn origin(headers: &HeaderMap) -> Option<&str> {
    let mut named = headers.get_all(ORIGIN).iter();
    let (Some(origin), None) = (named.next(), named.next()) else {
        return None;
    };
    let origin = origin.to_str().ok()?;
    is_extension(origin).then_some(origin)
}

/// Lets an extension read its answers, also a refusal: it has to say what is wrong. Nothing is
/// done here that an extension may do; a question about what it may send is answered, no more.
pub(super) async fn answer_its_origin(request: Request, next: Next) -> Response {
    let named = origin(request.headers()).map(HeaderValue::from_str);
    let Some(Ok(origin)) = named else {
        return next.run(request).await;
    };
    let asks = request
        .headers()
        .contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = if asks && *request.method() == Method::OPTIONS {
        StatusCode::NO_CONTENT.into_response()
    } else {
        next.run(request).await
    };
    // Without `Access-Control-Allow-Credentials`: its browser sends no cookies along.
    let fixed: [(HeaderName, &'static str); 5] = [
        (ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, PUT, DELETE"),
        (ACCESS_CONTROL_ALLOW_HEADERS, "authorization, content-type"),
        (ACCESS_CONTROL_EXPOSE_HEADERS, "date, retry-after"),
        (ACCESS_CONTROL_MAX_AGE, "600"),
        (VARY, "origin"),
    ];
    let headers = response.headers_mut();
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    response
}

/// The token among the protocols that the native socket is asked for.
pub(super) fn shown_to_socket(request: &Request) -> Option<&str> {
    let matched = request.extensions().get::<MatchedPath>()?;
    if matched.as_str() != SOCKET {
        return None;
    }
    token_among_protocols(request.headers())
}

fn token_among_protocols(headers: &HeaderMap) -> Option<&str> {
    let values = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter();
    let mut tokens = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().strip_prefix(TOKEN_PROTOCOL));
    match (tokens.next(), tokens.next()) {
        (Some(token), None) => Some(token),
        // Two are none.
        (None | Some(_), _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_browsers_give_to_extensions_is_one() {
        let chrome = format!("chrome-extension://{}", "abcdefghijklmnop".repeat(2));
        for origin in [
            chrome.as_str(),
            "moz-extension://2c127fa4-62c7-7e4f-90e5-472b45eecfdc",
        ] {
            assert!(is_extension(origin), "{origin}");
        }
        for origin in [
            "",
            "null",
            "chrome-extension://",
            "chrome-extension://abc",
            &format!("{chrome}/"),
            &format!("{chrome}a"),
            &format!("{chrome}:80"),
            &chrome.replace('p', "q"),
            &chrome.replace("chrome-extension", "https"),
            &chrome.replace("chrome-extension", "chrome"),
            "moz-extension://2c127fa462c77e4f90e5472b45eecfdc",
            "moz-extension://{2c127fa4-62c7-7e4f-90e5-472b45eecfdc}",
            "safari-web-extension://2c127fa4-62c7-7e4f-90e5-472b45eecfdc",
        ] {
            assert!(!is_extension(origin), "{origin}");
        }
    }

    #[test]
    fn a_token_is_found_among_protocols_when_it_is_the_only_one() {
        let cases: [(&[&'static str], Option<&str>); 6] = [
            (&["sayso, sayso.bearer.one"], Some("one")),
            (&["sayso", "sayso.bearer.one"], Some("one")),
            (&["sayso.bearer.one,sayso.bearer.two"], None),
            (&["sayso"], None),
            (&["sayso.bearer."], Some("")),
            (&[], None),
        ];
        for (protocols, token) in cases {
            let mut headers = HeaderMap::new();
            for value in protocols {
                headers.append(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(value));
            }
            assert_eq!(token_among_protocols(&headers), token, "{protocols:?}");
        }
    }
}
