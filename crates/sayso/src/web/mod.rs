//! HTTP and WebSocket: who may come in, and what they get.

mod assets;
mod baseline;
mod devices;
mod folders;
mod gate;
mod guard;
mod history;
mod incoming;
mod label;
mod outside;
mod pages;
mod pairing;
mod preview;
mod refused;
mod rest;
mod routes;
mod rules;
mod socket;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::middleware;
use axum::routing::get;
use sayso_store::Store;
use tower_http::limit::RequestBodyLimitLayer;

use crate::access::Access;
use crate::hub::HubHandle;

pub use gate::Reach;
pub use routes::{Need, Route, table};

/// The largest message or body that is read and answered; larger ones are refused.
pub(crate) const MAXIMUM_MESSAGE: usize = 8 * 1024 * 1024;

/// What every handler may use. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Web {
    hub: HubHandle,
    store: Store,
    access: Access,
    gate: Arc<gate::Gate>,
}

/// The whole server as a router.
pub fn router(
    hub: HubHandle,
    store: Store,
    access: Access,
    address: SocketAddr,
    reach: Reach,
) -> Router {
    let web = Web {
        hub,
        store,
        access,
        gate: Arc::new(gate::Gate::new(address, reach)),
    };
    let (open, guarded) = routes::routers();
    let guarded = guarded
        .fallback(rest::not_found)
        .layer(middleware::from_fn_with_state(
            web.clone(),
            guard::require_credential,
        ));
    let api = guarded
        .merge(open)
        .layer(RequestBodyLimitLayer::new(MAXIMUM_MESSAGE))
        .layer(middleware::from_fn(rest::as_json));
    Router::new()
        .route("/healthz", get(rest::health))
        .nest("/api", api)
        .fallback(pages::page)
        .layer(middleware::from_fn_with_state(
            web.clone(),
            guard::check_host_and_origin,
        ))
        .layer(middleware::from_fn(guard::set_headers))
        .with_state(web)
}
