//! What handlers take from a request, beside its address.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequest, FromRequestParts, Request};
use axum::http::header::{CONTENT_TYPE, USER_AGENT};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};
use axum::response::{IntoResponse, Response};
use sayso_protocol::{ErrorCode, ParseError, parse_body};
use serde::de::DeserializeOwned;

use super::label;
use super::refused::Refused;
use crate::access::Pass;

/// A body that was sent as JSON: a form of another site cannot send one without asking first.
#[derive(Debug)]
pub(super) struct Sent(String);

impl Sent {
    /// Reads the body; `name` is what errors call it.
    pub(super) fn read<T: DeserializeOwned>(&self, name: &str) -> Result<T, ParseError> {
        parse_body(name, &self.0)
    }
}

impl<S: Send + Sync> FromRequest<S> for Sent {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        if !is_json(request.headers()) {
            let text = "Send JSON with `Content-Type: application/json`.";
            return Err(Refused::new(ErrorCode::InvalidMessage, text).into_response());
        }
        let text = String::from_request(request, state).await;
        text.map(Self).map_err(IntoResponse::into_response)
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default();
    kind.trim() == "application/json"
}

/// The guard has put it there; without it there is nobody.
impl<S: Sync> FromRequestParts<S> for Pass {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Response> {
        let pass = parts.extensions.get::<Self>().cloned();
        let nobody = || Refused::new(ErrorCode::Unauthorized, "Nobody is let in here.");
        pass.ok_or_else(|| nobody().into_response())
    }
}

/// Where the request comes from, and what its browser says of itself.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    pub(super) address: IpAddr,
    pub(super) label: String,
}

impl Sender {
    pub(super) fn of(headers: &HeaderMap, extensions: &Extensions) -> Self {
        let agent = headers.get(USER_AGENT);
        Self {
            address: address(extensions),
            label: label::label(agent.and_then(|agent| agent.to_str().ok())),
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Sender {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(
        parts: &mut Parts,
        _: &S,
    ) -> Result<Self, std::convert::Infallible> {
        Ok(Self::of(&parts.headers, &parts.extensions))
    }
}

/// All whose address is not known are one.
fn address(extensions: &Extensions) -> IpAddr {
    let info = extensions.get::<ConnectInfo<SocketAddr>>();
    info.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |info| info.0.ip())
}
