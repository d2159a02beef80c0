//! HTTP and WebSocket: who may come in, and what they get.

mod assets;
mod baseline;
mod compat;
mod devices;
mod extension;
mod folders;
pub mod frames;
mod gate;
mod guard;
mod history;
mod incoming;
pub(crate) mod label;
mod notifications;
mod outside;
mod pages;
mod pairing;
mod preview;
mod refused;
mod rest;
mod routes;
mod rules;
mod socket;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::{HOST, STRICT_TRANSPORT_SECURITY};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use sayso_protocol::ErrorCode;
use sayso_store::Store;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::limit::RequestBodyLimitLayer;

use crate::access::Access;
use crate::compat::{Attending, Names};
use crate::hub::HubHandle;
use crate::listen::Visitor;
use crate::notify::Notifications;
use refused::Refused;

pub use gate::Site;
pub use routes::{Need, Route, table};

/// The largest message or body that is read and answered; larger ones are refused.
pub(crate) const MAXIMUM_MESSAGE: usize = 8 * 1024 * 1024;

/// Of somebody who has shown nothing yet, and how long it may take to say it.
const LARGEST_GREETING: usize = 16 * 1024;
const LONGEST_GREETING: Duration = Duration::from_secs(10);

/// What every handler may use. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Web {
    hub: HubHandle,
    store: Store,
    access: Access,
    gate: Arc<gate::Gate>,
    attending: Attending,
    names: Names,
    notifications: Notifications,
}

/// The whole server as a router.
pub fn router(
    hub: HubHandle,
    store: Store,
    access: Access,
    notifications: Notifications,
    site: &Site,
) -> Router {
    let web = Web {
        hub,
        store,
        access,
        gate: Arc::new(gate::Gate::new(site)),
        attending: Attending::default(),
        names: Names::default(),
        notifications,
    };
    let (open, guarded, beside) = routes::routers();
    // A stranger is refused before its body is looked at.
    let guard = |router: Router<Web>| {
        router
            .layer(RequestBodyLimitLayer::new(MAXIMUM_MESSAGE))
            .layer(middleware::from_fn(note_credential))
            .layer(middleware::from_fn_with_state(
                web.clone(),
                guard::require_credential,
            ))
    };
    let guarded = guard(guarded.fallback(rest::not_found));
    let beside = guard(beside).layer(middleware::from_fn(rest::as_json));
    let open = open
        .layer(middleware::from_fn(hear_out))
        .layer(RequestBodyLimitLayer::new(LARGEST_GREETING));
    let api = guarded
        .merge(open)
        .layer(middleware::from_fn(rest::as_json));
    let router = Router::new()
        .route("/healthz", get(rest::health))
        .nest("/api", api)
        .merge(beside)
        .fallback(pages::page)
        .layer(middleware::from_fn_with_state(
            web.clone(),
            guard::check_host_and_origin,
        ))
        .layer(CatchPanicLayer::custom(rest::failed))
        .layer(middleware::from_fn(extension::answer_its_origin))
        .layer(middleware::from_fn(guard::set_headers))
        .with_state(web);
    if site.secure {
        return router.layer(middleware::from_fn(stay_encrypted));
    }
    router
}

/// Browsers shall not try without TLS again. Not on `localhost`, whose other ports are none of ours.
async fn stay_encrypted(request: Request, next: Next) -> Response {
    let host = request.headers().get(HOST).map(HeaderValue::as_bytes);
    let local = host.is_none_or(|host| host.to_ascii_lowercase().starts_with(b"localhost"));
    let mut response = next.run(request).await;
    if !local {
        let year = HeaderValue::from_static("max-age=31536000");
        response
            .headers_mut()
            .insert(STRICT_TRANSPORT_SECURITY, year);
    }
    response
}

/// Takes the whole body of a stranger before it is looked at. Only this waits for the stranger.
async fn hear_out(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let heard = axum::body::to_bytes(body, LARGEST_GREETING);
    let refused = |code, text: &str| Refused::new(code, text).into_response();
    match tokio::time::timeout(LONGEST_GREETING, heard).await {
        Ok(Ok(body)) => next.run(Request::from_parts(parts, body.into())).await,
        Ok(Err(_)) => refused(
            ErrorCode::MessageTooLarge,
            "The body is too large, or ended before its end.",
        ),
        Err(_) => refused(ErrorCode::InvalidMessage, "The body took too long to come."),
    }
}

/// Stands behind the check of the credential: whoever gets here has shown one.
async fn note_credential(request: Request, next: Next) -> Response {
    if let Some(visitor) = request.extensions().get::<Visitor>() {
        visitor.prove();
    }
    next.run(request).await
}
