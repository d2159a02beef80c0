//! The web app: its files, and the link that lets a browser in.

use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LOCATION, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use sayso_protocol::ErrorCode;

use super::incoming::Sender;
use super::refused::Refused;
use super::{Web, assets, guard};
use crate::access::{Credential, Guess, Identity};

/// Hashed file names never change their content.
const FOR_EVER: &str = "public, max-age=31536000, immutable";

pub(super) async fn page(State(web): State<Web>, request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return nothing();
    }
    if let Some(token) = token(request.uri()) {
        let token = token.to_owned();
        let (parts, _) = request.into_parts();
        return let_in(&web, &parts, &token).await;
    }
    let path = request.uri().path().trim_start_matches('/');
    let known = request.headers().get(IF_NONE_MATCH);
    match assets::file(path) {
        Some(file) => answer(file, known),
        // Addresses of the app have no dot; a missing file is missing.
        None if !path.contains('.') && !path.starts_with("compat/") => {
            match assets::file("index.html") {
                Some(file) => answer(file, known),
                None => {
                    let text = "This Sayso was built without its web app.";
                    Refused::new(ErrorCode::NotFound, text).into_response()
                }
            }
        }
        None => nothing(),
    }
}

fn answer(file: assets::File, known: Option<&HeaderValue>) -> Response {
    let cache = if file.hashed { FOR_EVER } else { "no-cache" };
    if known.is_some_and(|known| known.as_bytes() == file.etag.as_bytes()) {
        return (StatusCode::NOT_MODIFIED, [(CACHE_CONTROL, cache)]).into_response();
    }
    let headers = [
        (CONTENT_TYPE, file.media_type),
        (CACHE_CONTROL, cache.to_owned()),
        (ETAG, file.etag),
    ];
    (headers, file.content).into_response()
}

fn nothing() -> Response {
    let text = "There is nothing at this address.";
    Refused::new(ErrorCode::NotFound, text).into_response()
}

/// Takes the token out of the address at once and leaves a cookie in its place.
async fn let_in(web: &Web, parts: &Parts, token: &str) -> Response {
    // One leading slash: two would name another host.
    let path = parts.uri.path().trim_start_matches(['/', '\\']);
    let away = (StatusCode::SEE_OTHER, [(LOCATION, format!("/{path}"))]);
    // Any page can make a browser come here, with a picture even. Its tries count for nothing.
    if guard::is_from_elsewhere(&parts.headers) {
        return away.into_response();
    }
    let sender = Sender::of(&parts.headers, &parts.extensions);
    if web.access.identify(Credential::Bearer(token)) != Some(Identity::Owner) {
        return match web.access.count_wrong(sender.address, Guess::Secret) {
            Ok(()) => away.into_response(),
            Err(error) => Refused::from(error).into_response(),
        };
    }
    let mut cookies = web.gate.cookies(&parts.headers);
    if cookies.any(|value| web.access.identify(Credential::Cookie(value)).is_some()) {
        return away.into_response();
    }
    match web.access.let_owner_in(&sender.label).await {
        Ok(credential) => {
            let cookie = [(SET_COOKIE, web.gate.cookie(&credential))];
            (cookie, away).into_response()
        }
        Err(error) => Refused::from(error).into_response(),
    }
}

pub(super) fn token(uri: &Uri) -> Option<&str> {
    let pairs = uri
        .query()?
        .split('&')
        .filter_map(|pair| pair.split_once('='));
    pairs
        .into_iter()
        .find(|(name, _)| *name == "token")
        .map(|(_, value)| value)
}
