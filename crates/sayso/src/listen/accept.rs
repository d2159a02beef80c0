//! The loop that takes connections in. It ends with the server and with nothing else.

use std::io;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::TaskTracker;

use super::connection::{self, Offer};
use super::lobby::Lobby;

/// Nothing is lost while we wait for files to become free: connections wait in the system's queue.
const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(1);

const REFUSAL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\
    content-type: application/json\r\ncontent-length: 78\r\nretry-after: 5\r\nconnection: close\r\n\r\n\
    {\"code\":\"overloaded\",\"message\":\"Too many connections. Try again in a moment.\"}";

pub(super) async fn run(listener: &TcpListener, lobby: &std::sync::Arc<Lobby>, offer: &Offer) {
    let connections = TaskTracker::new();
    let mut wait = FIRST_WAIT;
    loop {
        let accepted = tokio::select! {
            () = offer.shutdown.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, address)) => {
                wait = FIRST_WAIT;
                let place = tokio::select! {
                    () = offer.shutdown.cancelled() => break,
                    place = lobby.enter(address.ip()) => place,
                };
                match place {
                    Some(place) => {
                        let serve = connection::serve(offer.clone(), stream, address, place);
                        connections.spawn(serve);
                    }
                    None => refuse(&stream, offer),
                }
            }
            Err(error) if is_about_one_connection(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "no connection can be taken now");
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(LONGEST_WAIT);
            }
        }
    }
    connections.close();
    connections.wait().await;
}

/// Says why, if the other side would understand it.
fn refuse(stream: &TcpStream, offer: &Offer) {
    tracing::warn!("a connection was refused: all places are taken");
    if offer.tls.is_none() {
        // It fits into an empty buffer, or the other side has gone.
        let _ = stream.try_write(REFUSAL);
    }
}

fn is_about_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_refusal_says_how_long_it_is() {
        let text = std::str::from_utf8(REFUSAL).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(
            head.contains(&format!("content-length: {}\r\n", body.len())),
            "{}",
            body.len()
        );
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["code"], "overloaded");
    }
}
