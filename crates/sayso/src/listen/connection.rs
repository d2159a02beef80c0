//! One connection: TLS if there is any, then HTTP/1.1 until it ends or
//! becomes a WebSocket.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::lobby::Place;
use super::stream::Stream;
use super::tls::Tls;

/// For a handshake, for the head of a request, and between two requests.
const PATIENCE: Duration = Duration::from_secs(10);
const LARGEST_HEAD: usize = 32 * 1024;
const LARGEST_BUFFER: usize = 64 * 1024;
/// What a connection gets for its last answer when the server ends.
const LAST_WORDS: Duration = Duration::from_secs(20);
const LAST_WORDS_OF_STRANGERS: Duration = Duration::from_secs(1);

/// The far end of a connection, as handlers see it.
#[derive(Clone, Debug)]
pub(crate) struct Visitor(Arc<Place>);

impl Visitor {
    /// A credential was shown: this connection is not closed for the sake of others any more.
    pub(crate) fn prove(&self) {
        self.0.prove();
    }
}

/// What all connections have in common. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    pub(super) router: Router,
    pub(super) tls: Option<Tls>,
    pub(super) shutdown: CancellationToken,
}

/// Ends when the connection does, or when its place is needed for somebody else.
pub(super) async fn serve(offer: Offer, stream: TcpStream, address: SocketAddr, place: Place) {
    // Without it a small frame can wait for the acknowledgement of the one before.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection may be slow");
    }
    let place = Arc::new(place);
    let speak = async {
        match &offer.tls {
            None => answer(&offer, stream, address, &place).await,
            Some(tls) => {
                let handshake = tls.acceptor.accept(stream);
                match tokio::time::timeout(PATIENCE, handshake).await {
                    Ok(Ok(stream)) => answer(&offer, stream, address, &place).await,
                    Ok(Err(error)) => tracing::debug!(%error, "a handshake failed"),
                    Err(_) => tracing::debug!("a handshake took too long"),
                }
            }
        }
    };
    tokio::select! {
        () = place.closed() => tracing::debug!("a connection made room for another"),
        () = speak => {}
    }
}

async fn answer<S>(offer: &Offer, stream: S, address: SocketAddr, place: &Arc<Place>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let stream = TokioIo::new(Stream::new(stream, Arc::clone(place)));
    let router = TowerToHyperService::new(offer.router.clone());
    let visitor = Visitor(Arc::clone(place));
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        let extensions = request.extensions_mut();
        extensions.insert(ConnectInfo(address));
        extensions.insert(visitor.clone());
        router.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_header_size(LARGEST_HEAD)
        .max_buf_size(LARGEST_BUFFER)
        .serve_connection(stream, service)
        .with_upgrades();
    let mut connection = pin!(connection);
    let result = tokio::select! {
        result = connection.as_mut() => result,
        () = offer.shutdown.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let patience = if place.is_proven() { LAST_WORDS } else { LAST_WORDS_OF_STRANGERS };
            tokio::time::timeout(patience, connection).await.unwrap_or(Ok(()))
        }
    };
    if let Err(error) = result {
        tracing::debug!(%error, "a connection ended with a fault");
    }
}
