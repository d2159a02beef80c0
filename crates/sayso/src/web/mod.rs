//! HTTP and WebSocket: who may come in, and what they get.

mod assets;
mod auth;
mod baseline;
mod folders;
mod guard;
mod history;
mod label;
mod pages;
mod preview;
mod rest;
mod rules;
mod socket;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::middleware;
use axum::routing::get;
use sayso_store::Store;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::limit::RequestBodyLimitLayer;

use crate::hub::HubHandle;

pub use auth::{Secret, SecretError};

/// The largest message or body that is read and answered; larger ones are refused.
pub(crate) const MAXIMUM_MESSAGE: usize = 8 * 1024 * 1024;

/// What every handler may use. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Web {
    hub: HubHandle,
    store: Store,
    gate: Arc<guard::Gate>,
}

/// The whole server as a router.
pub fn router(
    hub: HubHandle,
    store: Store,
    secret: Secret,
    address: SocketAddr,
    allow_hosts: &[String],
) -> Router {
    let web = Web {
        hub,
        store,
        gate: Arc::new(guard::Gate::new(secret, address, allow_hosts)),
    };
    let api = Router::new()
        .route("/ws", get(socket::upgrade))
        .merge(rest::routes())
        .merge(folders::routes())
        .merge(rules::routes())
        .merge(history::routes())
        .fallback(rest::not_found)
        .layer(RequestBodyLimitLayer::new(MAXIMUM_MESSAGE))
        .layer(middleware::from_fn(rest::as_json))
        .layer(middleware::from_fn_with_state(
            web.clone(),
            guard::require_credential,
        ));
    Router::new()
        .route("/healthz", get(rest::health))
        .nest("/api", api)
        .fallback(pages::page)
        .layer(middleware::from_fn_with_state(
            web.clone(),
            guard::check_host_and_origin,
        ))
        .layer(CatchPanicLayer::custom(rest::failed))
        .layer(middleware::from_fn(guard::set_headers))
        .with_state(web)
}
