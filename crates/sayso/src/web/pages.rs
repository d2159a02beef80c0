//! The web app: its files, and the link that lets a browser in.

use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LOCATION, SET_COOKIE};
use axum::http::{HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use sayso_protocol::ErrorCode;

use super::rest::refuse;
use super::{Web, assets};

/// Hashed file names never change their content.
const FOR_EVER: &str = "public, max-age=31536000, immutable";

pub(super) async fn page(State(web): State<Web>, request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return refuse(ErrorCode::NotFound, "There is nothing at this address.");
    }
    if let Some(token) = token(request.uri()) {
        return let_in(&web, request.uri(), token);
    }
    let path = request.uri().path().trim_start_matches('/');
    let known = request.headers().get(IF_NONE_MATCH);
    match assets::file(path) {
        Some(file) => answer(file, known),
        // Addresses of the app have no dot; a missing file is missing.
        None if !path.contains('.') && !path.starts_with("compat/") => {
            match assets::file("index.html") {
                Some(file) => answer(file, known),
                None => refuse(
                    ErrorCode::NotFound,
                    "This Sayso was built without its web app.",
                ),
            }
        }
        None => refuse(ErrorCode::NotFound, "There is nothing at this address."),
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

/// Takes the token out of the address at once and leaves a cookie in its place.
fn let_in(web: &Web, uri: &Uri, token: &str) -> Response {
    // One leading slash: two would name another host.
    let path = uri.path().trim_start_matches(['/', '\\']);
    let location = [(LOCATION, format!("/{path}"))];
    if web.gate.is_token(token) {
        let cookie = [(SET_COOKIE, web.gate.cookie())];
        (StatusCode::SEE_OTHER, location, cookie).into_response()
    } else {
        (StatusCode::SEE_OTHER, location).into_response()
    }
}

fn token(uri: &Uri) -> Option<&str> {
    let pairs = uri
        .query()?
        .split('&')
        .filter_map(|pair| pair.split_once('='));
    pairs
        .into_iter()
        .find(|(name, _)| *name == "token")
        .map(|(_, value)| value)
}
