//! Bytes as they are: requests and WebSocket frames that no library would send.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::TOKEN;

/// Far beyond what anything here takes; a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const CONTINUATION: u8 = 0x0;
pub(crate) const TEXT: u8 = 0x1;
pub(crate) const BINARY: u8 = 0x2;
pub(crate) const CLOSE: u8 = 0x8;
pub(crate) const PING: u8 = 0x9;
pub(crate) const PONG: u8 = 0xa;
pub(crate) const FINAL: u8 = 0x80;

const MASK: [u8; 4] = [0x5a, 0x01, 0xfe, 0x33];

/// A frame as a client sends it: masked, its length in the shortest form.
pub(crate) fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = head(first, payload.len() as u64);
    let masked = payload.iter().zip(MASK.iter().cycle());
    bytes.extend(masked.map(|(byte, mask)| byte ^ mask));
    bytes
}

/// A frame without what it announces.
pub(crate) fn head(first: u8, length: u64) -> Vec<u8> {
    let mut bytes = vec![first];
    match (u8::try_from(length), u16::try_from(length)) {
        (Ok(short), _) if short < 126 => bytes.push(0x80 | short),
        (_, Ok(medium)) => {
            bytes.push(0x80 | 126);
            bytes.extend(medium.to_be_bytes());
        }
        (_, Err(_)) => {
            bytes.push(0x80 | 127);
            bytes.extend(length.to_be_bytes());
        }
    }
    bytes.extend(MASK);
    bytes
}

/// A frame of the server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) first: u8,
    pub(crate) masked: bool,
    pub(crate) payload: Vec<u8>,
}

impl Received {
    pub(crate) fn close_code(&self) -> Option<u16> {
        let code = self.payload.first_chunk::<2>()?;
        Some(u16::from_be_bytes(*code))
    }
}

pub(crate) struct Raw(pub(crate) TcpStream);

impl Raw {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        Self(TcpStream::connect(address).await.unwrap())
    }

    /// A WebSocket with the token, past its handshake.
    pub(crate) async fn upgraded(address: SocketAddr) -> Self {
        Self::try_upgrade(address)
            .await
            .unwrap_or_else(|head| panic!("{head}"))
    }

    /// The same, or what the server said instead.
    pub(crate) async fn try_upgrade(address: SocketAddr) -> Result<Self, String> {
        let mut raw = Self::connect(address).await;
        let request = format!(
            "GET /api/ws HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {TOKEN}\r\n\
             Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        );
        // A server that refuses need not read it.
        let _ = raw.send(request.as_bytes()).await;
        let head = raw.head().await;
        if head.starts_with("HTTP/1.1 101 ") {
            Ok(raw)
        } else {
            Err(head)
        }
    }

    pub(crate) async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let sent = tokio::time::timeout(PATIENCE, self.0.write_all(bytes)).await;
        sent.expect("the server reads")
    }

    /// The head of an answer, up to and with its empty line; empty when there is none.
    pub(crate) async fn head(&mut self) -> String {
        let mut head = Vec::new();
        let read = async {
            while !head.ends_with(b"\r\n\r\n") {
                match self.0.read_u8().await {
                    Ok(byte) => head.push(byte),
                    Err(_) => break,
                }
            }
        };
        tokio::time::timeout(PATIENCE, read)
            .await
            .expect("an answer or an end comes");
        String::from_utf8(head).unwrap()
    }

    /// All that comes until the server ends the connection.
    pub(crate) async fn rest(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let read = async {
            let mut piece = [0; 4096];
            // An end by force is an end, too.
            while let Ok(count @ 1..) = self.0.read(&mut piece).await {
                bytes.extend(&piece[..count]);
            }
        };
        tokio::time::timeout(PATIENCE, read)
            .await
            .expect("the connection ends");
        bytes
    }

    /// The next frame of the server. `None` at the end of the connection.
    pub(crate) async fn frame(&mut self) -> Option<Received> {
        tokio::time::timeout(PATIENCE, self.read_frame())
            .await
            .expect("a frame or an end comes")
            .ok()
    }

    async fn read_frame(&mut self) -> io::Result<Received> {
        let first = self.0.read_u8().await?;
        let second = self.0.read_u8().await?;
        let length = match second & 0x7f {
            126 => u64::from(self.0.read_u16().await?),
            127 => self.0.read_u64().await?,
            short => u64::from(short),
        };
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        self.0.read_exact(&mut payload).await?;
        Ok(Received {
            first,
            masked: second & 0x80 != 0,
            payload,
        })
    }
}
