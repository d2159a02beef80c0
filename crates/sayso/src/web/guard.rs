//! Checks before any handler: Host, Origin, credential. And the headers after.
//!
//! Loopback protects nothing by itself: any web page can reach 127.0.0.1. The
//! Host check stops names that were rebound to this machine, the Origin check
//! stops other sites, and the credential stops everything else.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sayso_protocol::ErrorCode;

use super::Web;
use super::auth::Secret;
use super::preview::Untrusted;
use super::rest::refuse;

/// Vue and the sanitiser are the only ones that may make HTML of a text.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; frame-src 'self'; manifest-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types dompurify vue";

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

/// Who may come in.
#[derive(Debug)]
pub(crate) struct Gate {
    secret: Secret,
    hosts: Vec<String>,
    cookie_name: String,
}

/// How a request showed that it may come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Credential {
    Bearer,
    Cookie,
}

impl Gate {
    pub(crate) fn new(secret: Secret, address: SocketAddr, allow_hosts: &[String]) -> Self {
        let port = address.port();
        let mut hosts = vec![
            format!("127.0.0.1:{port}"),
            format!("localhost:{port}"),
            format!("[::1]:{port}"),
        ];
        if !address.ip().is_unspecified() && !address.ip().is_loopback() {
            hosts.push(match address.ip() {
                IpAddr::V4(ip) => format!("{ip}:{port}"),
                IpAddr::V6(ip) => format!("[{ip}]:{port}"),
            });
        }
        hosts.extend(allow_hosts.iter().map(|host| host.to_ascii_lowercase()));
        Self {
            secret,
            hosts,
            // Cookies are shared by all ports of a host; the name keeps two servers apart.
            cookie_name: format!("sayso_{port}"),
        }
    }

    pub(crate) fn is_token(&self, token: &str) -> bool {
        self.secret.is(token)
    }

    pub(crate) fn cookie(&self) -> String {
        let month = 30 * 24 * 60 * 60;
        format!(
            "{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={month}",
            self.cookie_name,
            self.secret.cookie()
        )
    }

    fn knows_host(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok());
        host.is_some_and(|host| self.hosts.contains(&host.to_ascii_lowercase()))
    }

    fn knows_origin(&self, origin: &HeaderValue) -> bool {
        let origin = origin.to_str().unwrap_or_default().to_ascii_lowercase();
        let host = origin
            .strip_prefix("http://")
            .or_else(|| origin.strip_prefix("https://"));
        host.is_some_and(|host| self.hosts.iter().any(|known| known == host))
    }

    fn credential(&self, headers: &HeaderMap) -> Option<Credential> {
        let bearer = headers
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.strip_prefix("Bearer "));
        if let Some(token) = bearer {
            return self.is_token(token.trim()).then_some(Credential::Bearer);
        }
        let cookies = headers
            .get_all(COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok());
        let ours = cookies
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .filter(|(name, _)| *name == self.cookie_name)
            .any(|(_, value)| self.secret.is_cookie(value));
        ours.then_some(Credential::Cookie)
    }
}

/// Every request: the host must be ours, and a page that asks must be ours.
pub(super) async fn check_host_and_origin(
    State(web): State<Web>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    if !web.gate.knows_host(headers) {
        return refuse(
            ErrorCode::Forbidden,
            "This name for the server is not known. Open it as localhost, or add the name to \
             `allow_hosts`.",
        );
    }
    if let Some(origin) = headers.get(ORIGIN)
        && !web.gate.knows_origin(origin)
    {
        return refuse(
            ErrorCode::Forbidden,
            "Requests from other sites are refused.",
        );
    }
    next.run(request).await
}

/// Everything under `/api`: a valid token or cookie.
pub(super) async fn require_credential(
    State(web): State<Web>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    let Some(credential) = web.gate.credential(headers) else {
        return refuse(
            ErrorCode::Unauthorized,
            "Show the token: open the link that `sayso` printed, or send `Authorization: Bearer TOKEN`.",
        );
    };
    if credential == Credential::Cookie && !is_own_page(&request) {
        return refuse(
            ErrorCode::Forbidden,
            "With a cookie, only Sayso's own pages may do this. Scripts use the token.",
        );
    }
    next.run(request).await
}

/// A browser sends cookies for any page that asks it to; so the page must say
/// that it is ours. Sockets and changes need an Origin, reads must not be
/// marked as coming from elsewhere.
fn is_own_page(request: &Request) -> bool {
    let headers = request.headers();
    let elsewhere = headers
        .get("sec-fetch-site")
        .is_some_and(|site| site != "same-origin" && site != "none");
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let upgrade = headers.contains_key("upgrade");
    // An Origin that is there has been checked before.
    !elsewhere && ((reads && !upgrade) || headers.contains_key(ORIGIN))
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
