//! Checks before any handler: Host, Origin, credential. And the headers after.
//!
//! Loopback protects nothing by itself: any web page can reach 127.0.0.1. The
//! Host check stops names that were rebound to this machine, the Origin check
//! stops other sites, and the credential stops everything else.

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sayso_protocol::ErrorCode;

use super::gate::Page;
use super::incoming::Sender;
use super::preview::Untrusted;
use super::refused::Refused;
use super::routes::COMPAT;
use super::{Web, extension, pages};
use crate::access::{Credential, Guess, Pass};

const NOBODY: &str = "Nobody is let in without a credential. Open the link that `sayso pair` prints, or send \
    `Authorization: Bearer TOKEN`.";

/// Vue and the sanitiser are the only ones that may make HTML of a text, and `worker` names the service worker.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; frame-src 'self'; manifest-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types dompurify vue worker";

/// For what an agent wrote: no origin, no script, nothing from the network; only its own looks.
const UNTRUSTED_POLICY: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'; \
    img-src data:; font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/// What a browser lets pages do besides. The app copies texts and plays a tone, and that is all.
const PERMISSIONS: &str = "accelerometer=(), autoplay=(self), camera=(), \
    clipboard-read=(), clipboard-write=(self), display-capture=(), encrypted-media=(), \
    fullscreen=(), gamepad=(), geolocation=(), gyroscope=(), hid=(), idle-detection=(), \
    local-fonts=(), magnetometer=(), microphone=(), midi=(), payment=(), picture-in-picture=(), \
    publickey-credentials-create=(), publickey-credentials-get=(), screen-wake-lock=(), \
    serial=(), storage-access=(), usb=(), window-management=(), \
    xr-spatial-tracking=()";

/// How a request showed that it may come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Bearer,
    Cookie,
}

/// Every request: the host must be ours, and a page that asks must be ours.
pub(super) async fn check_host_and_origin(
    State(web): State<Web>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    // A target with a name of its own counts for more than the header, to a reader that goes by the book.
    let target = request.uri().authority();
    let named = target.is_none_or(|target| web.gate.knows_name(target.as_str()));
    if !named || !web.gate.knows_host(headers) {
        return Refused::new(
            ErrorCode::Forbidden,
            "This name for the server is not known. Open it as localhost, or add the name to \
             `allow_hosts`.",
        )
        .into_response();
    }
    let refused = match web.gate.page(headers) {
        Page::Unnamed | Page::Own => false,
        Page::FrontEnd if is_compat(&request) => false,
        Page::FrontEnd | Page::Other => !is_extension_at_work(&request),
    };
    if refused {
        let text = "Requests from other sites are refused.";
        return Refused::new(ErrorCode::Forbidden, text).into_response();
    }
    next.run(request).await
}

/// Extensions come from elsewhere by nature. Below `/api` they need their own token, or a link.
fn is_extension_at_work(request: &Request) -> bool {
    request.uri().path().starts_with("/api/") && extension::origin(request.headers()).is_some()
}

/// Everything under `/api` but the way in: a valid token or cookie.
pub(super) async fn require_credential(
    State(web): State<Web>,
    mut request: Request,
    next: Next,
) -> Response {
    match let_through(&web, &request) {
        Ok(pass) => {
            web.access.seen(pass.identity);
            request.extensions_mut().insert(pass);
            next.run(request).await
        }
        Err(refused) => refused.into_response(),
    }
}

fn let_through(web: &Web, request: &Request) -> Result<Pass, Refused> {
    let headers = request.headers();
    let sender = Sender::of(headers, request.extensions());
    let page = web.gate.page(headers);
    let in_address = shown_in_address(request);
    if in_address.is_some() && page == Page::Unnamed && is_from_elsewhere(headers) {
        // A picture on another page. It shall not even be able to be wrong.
        let text = "Requests from other sites are refused.";
        return Err(Refused::new(ErrorCode::Forbidden, text));
    }
    // Another front end may be an extension, too: there the operator has named its origin.
    let extension = extension::origin(headers).filter(|_| !is_compat(request));
    let bearer = match extension {
        Some(_) => bearer(headers).or(extension::shown_to_socket(request)),
        None => bearer(headers).or(in_address),
    };
    let (identity, shown) = match (bearer, extension) {
        (Some(token), Some(origin)) => (
            web.access.identify(Credential::Extension { token, origin }),
            Shown::Bearer,
        ),
        // Its browser might send a cookie of ours along; it is not the extension's.
        (None, Some(_)) => (None, Shown::Cookie),
        (Some(token), None) => (
            web.access.identify(Credential::Bearer(token)),
            Shown::Bearer,
        ),
        (None, None) => {
            let cookies = web.gate.cookies(headers);
            let known = cookies.filter_map(|value| web.access.identify(Credential::Cookie(value)));
            (known.into_iter().next(), Shown::Cookie)
        }
    };
    let pass = identity.and_then(|identity| web.access.pass(identity, &sender.label));
    let Some(pass) = pass else {
        // Whoever is right is let in however many were wrong before.
        if bearer.is_some() {
            web.access.count_wrong(sender.address, Guess::Secret)?;
        }
        return Err(Refused::new(ErrorCode::Unauthorized, NOBODY));
    };
    // A front end of another origin has passed the check before this one, for its token's sake alone.
    let foreign = matches!(page, Page::FrontEnd | Page::Other);
    if shown == Shown::Cookie && (foreign || !is_own_page(request)) {
        return Err(Refused::new(
            ErrorCode::Forbidden,
            "With a cookie, only Sayso's own pages may do this. Scripts use a token.",
        ));
    }
    Ok(pass)
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?;
    // Something that is no token is a wrong token, not none.
    let text = value.to_str().unwrap_or_default();
    Some(text.strip_prefix("Bearer ").unwrap_or_default().trim())
}

/// The sockets of other front ends. Their pages cannot set a header, so that there, and only there, the
/// address may hold the token.
fn is_compat(request: &Request) -> bool {
    let matched = request.extensions().get::<MatchedPath>();
    matched.is_some_and(|path| path.as_str() == COMPAT)
}

fn shown_in_address(request: &Request) -> Option<&str> {
    is_compat(request).then(|| pages::token(request.uri()))?
}

/// A browser sends cookies for any page that asks it to; so the page must say
/// that it is ours. Sockets and changes need an Origin, reads must not be
/// marked as coming from elsewhere.
fn is_own_page(request: &Request) -> bool {
    let headers = request.headers();
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let upgrade = headers.contains_key("upgrade");
    // An Origin that is there has been checked before.
    !is_from_elsewhere(headers) && ((reads && !upgrade) || headers.contains_key(ORIGIN))
}

/// A browser says that another page makes it ask. What is no browser says nothing.
pub(super) fn is_from_elsewhere(headers: &HeaderMap) -> bool {
    let mut sites = headers.get_all("sec-fetch-site").iter();
    sites.any(|site| site != "same-origin" && site != "none")
}

/// What every answer carries.
pub(super) async fn set_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await.into_response();
    let untrusted = response.extensions().get::<Untrusted>().is_some();
    let (policy, framed_by) = if untrusted {
        (UNTRUSTED_POLICY, "SAMEORIGIN")
    } else {
        (CONTENT_POLICY, "DENY")
    };
    let headers = response.headers_mut();
    let fixed: [(HeaderName, &'static str); 8] = [
        (CONTENT_SECURITY_POLICY, policy),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, framed_by),
        (REFERRER_POLICY, "no-referrer"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-embedder-policy"),
            "require-corp",
        ),
        (HeaderName::from_static("permissions-policy"), PERMISSIONS),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}
