//! The two tasks that move lines: one reads, one writes whole lines.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

use super::{AgentFault, Limits};
use crate::event::AgentEvent;
use crate::line::{LineReader, Received};
use crate::session::{ControlSession, Reply};

/// Why reading ended.
#[derive(Debug)]
pub(super) enum ReadEnd {
    Eof,
    Fault(AgentFault),
    /// Nobody takes the events any more.
    Unheard,
}

pub(super) struct Reading {
    pub(super) session: Arc<Mutex<ControlSession>>,
    pub(super) replies: mpsc::WeakSender<String>,
    pub(super) events: mpsc::Sender<AgentEvent>,
    pub(super) limits: Limits,
}

impl Reading {
    pub(super) async fn run<R: AsyncRead + Unpin>(self, reader: R) -> ReadEnd {
        let ready_by = Instant::now() + self.limits.until_ready;
        let mut lines = LineReader::with_limit(reader, self.limits.line_bytes);
        loop {
            let initializing = lock(&self.session).is_initializing();
            let next = if initializing {
                match timeout_at(ready_by, lines.next()).await {
                    Ok(next) => next,
                    Err(_) => {
                        let seconds = self.limits.until_ready.as_secs();
                        return ReadEnd::Fault(AgentFault::NotReadyInTime(seconds));
                    }
                }
            } else {
                lines.next().await
            };
            let events = match next {
                Err(error) => return ReadEnd::Fault(error.into()),
                Ok(None) => return ReadEnd::Eof,
                Ok(Some(Received::Noise(text))) => vec![AgentEvent::Noise(text)],
                Ok(Some(Received::Json(line))) => {
                    let received = lock(&self.session).receive(&line);
                    let reception = match received {
                        Ok(reception) => reception,
                        Err(error) => return ReadEnd::Fault(error.into()),
                    };
                    if !reception.replies.is_empty() && !self.reply(reception.replies) {
                        return ReadEnd::Fault(AgentFault::InputStalled);
                    }
                    reception.events
                }
            };
            for event in events {
                if self.events.send(event).await.is_err() {
                    return ReadEnd::Unheard;
                }
            }
        }
    }

    /// Must not wait: an agent that neither reads nor is read would stand still for ever.
    fn reply(&self, replies: Vec<Reply>) -> bool {
        // Without a sender the connection is closing and nothing is answered any more.
        let Some(sender) = self.replies.upgrade() else {
            return true;
        };
        replies.into_iter().all(|Reply { line, .. }| {
            !matches!(
                sender.try_send(line),
                Err(mpsc::error::TrySendError::Full(_))
            )
        })
    }
}

fn lock(session: &Mutex<ControlSession>) -> std::sync::MutexGuard<'_, ControlSession> {
    session.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes what is queued, one whole line after the other, until told to close; then what is left, the last
/// line, and the end of the stream.
pub(super) async fn write_lines<W: AsyncWrite + Unpin>(
    mut writer: W,
    first_line: String,
    mut queue: mpsc::Receiver<String>,
    close: oneshot::Receiver<String>,
) {
    if write_line(&mut writer, first_line).await.is_err() {
        return;
    }
    tokio::pin!(close);
    let mut last_line = None;
    let mut closing = false;
    loop {
        let line = tokio::select! {
            biased;
            line = &mut close, if !closing => {
                closing = true;
                last_line = line.ok();
                queue.close();
                continue;
            }
            line = queue.recv() => line,
        };
        let Some(line) = line else { break };
        // A failed write means that the agent is gone; the reader sees that, too, and tells.
        if write_line(&mut writer, line).await.is_err() {
            return;
        }
    }
    // No handle is left: the supervisor is about to close.
    if !closing {
        last_line = close.await.ok();
    }
    if let Some(line) = last_line
        && write_line(&mut writer, line).await.is_err()
    {
        return;
    }
    let _ = writer.shutdown().await;
}

async fn write_line<W: AsyncWrite + Unpin>(
    writer: &mut W,
    mut line: String,
) -> std::io::Result<()> {
    line.push('\n');
    writer.write_all(line.as_bytes()).await?;
    writer.flush().await
}
