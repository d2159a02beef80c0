//! The bytes of one connection, at a bounded pace. Holds the connection's
//! place, also when the connection has become a WebSocket.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::bucket::Bucket;
use super::lobby::Place;

/// What one connection may send at once, and per second after that.
const BURST: u32 = 32 * 1024 * 1024;
const PER_SECOND: u32 = 8 * 1024 * 1024;
/// After so many bytes in a row others have their turn.
const TURN: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct Stream<S> {
    inner: S,
    pace: Bucket,
    pause: Option<Pin<Box<Sleep>>>,
    read_in_turn: usize,
    _place: Arc<Place>,
}

impl<S> Stream<S> {
    pub(super) fn new(inner: S, place: Arc<Place>) -> Self {
        Self {
            inner,
            pace: Bucket::new(BURST, PER_SECOND, Instant::now()),
            pause: None,
            read_in_turn: 0,
            _place: place,
        }
    }

    fn poll_turn(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let Some(pause) = &mut self.pause {
            ready!(pause.as_mut().poll(context));
            self.pause = None;
        }
        if self.read_in_turn >= TURN {
            self.read_in_turn = 0;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    }

    fn has_read(&mut self, bytes: usize) {
        self.read_in_turn += bytes;
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let wait = self.pace.take(bytes, Instant::now());
        if !wait.is_zero() {
            self.pause = Some(Box::pin(tokio::time::sleep(wait)));
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.poll_turn(context));
        let before = buffer.filled().len();
        match Pin::new(&mut self.inner).poll_read(context, buffer) {
            Poll::Pending => {
                self.read_in_turn = 0;
                Poll::Pending
            }
            Poll::Ready(result) => {
                self.has_read(buffer.filled().len() - before);
                Poll::Ready(result)
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
