//! A server that sends back what it gets, over Sayso's own listener and with
//! its limits: what a WebSocket conformance suite wants to talk to.
//! `cargo xtask autobahn` starts it.

use axum::Router;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use axum::routing::get;
use sayso::listen::Listen;
use sayso::web::frames;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let address = std::env::args().nth(1);
    let listener = TcpListener::bind(address.as_deref().unwrap_or("127.0.0.1:0")).await?;
    let listen = Listen::plain(listener)?;
    {
        use std::io::Write;
        writeln!(std::io::stdout(), "ws://{}", listen.address())?;
    }
    let router = Router::new().route("/", get(upgrade));
    listen.serve(router, CancellationToken::new()).await;
    Ok(())
}

async fn upgrade(upgrade: WebSocketUpgrade) -> Response {
    frames::bounded(upgrade).on_upgrade(echo)
}

async fn echo(mut socket: WebSocket) {
    while let Some(message) = socket.recv().await {
        let sent = match message {
            Ok(message @ (Message::Text(_) | Message::Binary(_))) => socket.send(message).await,
            Ok(Message::Ping(_) | Message::Pong(_) | Message::Close(_)) => Ok(()),
            Err(error) => {
                if let Some(close) = frames::close_for(error) {
                    // The client may have gone already.
                    let _ = socket.send(Message::Close(Some(close))).await;
                }
                return;
            }
        };
        if sent.is_err() {
            return;
        }
    }
}
