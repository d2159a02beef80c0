//! WebSocket frames: how large they may be, and what a client hears that breaks their rules.

use axum::extract::ws::{CloseCode, CloseFrame, WebSocketUpgrade, close_code};
use tungstenite::error::{Error, ProtocolError};

use super::MAXIMUM_MESSAGE;

/// Messages up to here are read to be refused by name; a larger one ends the connection.
const MAXIMUM_FRAME: usize = 2 * MAXIMUM_MESSAGE;
/// What an idle socket costs; larger messages take memory only while they are read or written.
const READ_BUFFER: usize = 4 * 1024;
const WRITE_BUFFER: usize = 8 * 1024;

pub fn bounded(upgrade: WebSocketUpgrade) -> WebSocketUpgrade {
    upgrade
        .max_message_size(MAXIMUM_FRAME)
        .max_frame_size(MAXIMUM_FRAME)
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(WRITE_BUFFER)
}

/// What to say to a client before the connection is dropped, if it still listens.
pub fn close_for(error: axum::Error) -> Option<CloseFrame> {
    let error = error.into_inner().downcast::<Error>().ok()?;
    let close = |code: CloseCode, reason: &'static str| {
        Some(CloseFrame {
            code,
            reason: reason.into(),
        })
    };
    match *error {
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => None,
        Error::Protocol(_) => close(close_code::PROTOCOL, "This breaks the WebSocket protocol."),
        Error::Utf8(_) => close(close_code::INVALID, "Text must be UTF-8."),
        Error::Capacity(_) => close(close_code::SIZE, "This message is too large."),
        _ => None,
    }
}
