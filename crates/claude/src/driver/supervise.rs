//! The life of one connection, from the first line to the last event.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::traffic::{ReadEnd, Reading, write_lines};
use super::{EndedAgent, Limits, Wanted};
use crate::event::{AgentEvent, Exited};
use crate::process::{AgentProcess, Ending};
use crate::session::ControlSession;

pub(super) struct Connection<R, W> {
    pub(super) reader: R,
    pub(super) writer: W,
    pub(super) first_line: String,
    pub(super) queue: mpsc::Receiver<String>,
    pub(super) replies: mpsc::WeakSender<String>,
    pub(super) session: Arc<Mutex<ControlSession>>,
    pub(super) events: mpsc::Sender<AgentEvent>,
    pub(super) limits: Limits,
}

/// Owns the process and both tasks, and sends the last event when all three are over.
pub(super) struct Supervisor {
    session: Arc<Mutex<ControlSession>>,
    process: Option<AgentProcess>,
    reader: JoinHandle<ReadEnd>,
    writer: JoinHandle<()>,
    close: Option<oneshot::Sender<String>>,
    wanted: watch::Receiver<Wanted>,
    events: mpsc::Sender<AgentEvent>,
    limits: Limits,
}

/// What happened first.
enum Happening {
    ReadEnded(ReadEnd),
    Wanted(Wanted),
    ProcessEnded,
}

impl Supervisor {
    pub(super) fn start<R, W>(
        connection: Connection<R, W>,
        process: Option<AgentProcess>,
        wanted: watch::Receiver<Wanted>,
    ) -> Self
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (close, closed) = oneshot::channel();
        let reading = Reading {
            session: Arc::clone(&connection.session),
            replies: connection.replies,
            events: connection.events.clone(),
            limits: connection.limits,
        };
        let writing = write_lines(
            connection.writer,
            connection.first_line,
            connection.queue,
            closed,
        );
        Self {
            session: connection.session,
            process,
            reader: tokio::spawn(reading.run(connection.reader)),
            writer: tokio::spawn(writing),
            close: Some(close),
            wanted,
            events: connection.events,
            limits: connection.limits,
        }
    }

    pub(super) async fn run(mut self) {
        let mut read_end = None;
        let mut asked_to_end = false;
        match self.next_happening().await {
            Happening::ReadEnded(end) => read_end = Some(end),
            Happening::ProcessEnded => {}
            Happening::Wanted(Wanted::Running) => {}
            Happening::Wanted(Wanted::Stopped) => {
                asked_to_end = true;
                read_end = self.stop_in_order().await;
            }
            Happening::Wanted(Wanted::Killed) => asked_to_end = true,
        }
        let agent_left = matches!(read_end, None | Some(ReadEnd::Eof)) && !asked_to_end;
        if agent_left {
            self.wait_until_ended().await;
        }
        let ending = self.end_process().await;
        let read_end = self.finish_reading(read_end).await;
        self.writer.abort();
        // Only when the writer is gone is every further input refused.
        let _ = (&mut self.writer).await;
        let exited = self.exited(ending, read_end, asked_to_end).await;
        let _ = self.events.send(AgentEvent::Exited(Box::new(exited))).await;
    }

    async fn next_happening(&mut self) -> Happening {
        let process = self.process.as_mut();
        tokio::select! {
            end = &mut self.reader => Happening::ReadEnded(end.unwrap_or(ReadEnd::Unheard)),
            () = ended(process) => Happening::ProcessEnded,
            wanted = wanted_beyond(&mut self.wanted, Wanted::Running) => Happening::Wanted(wanted),
        }
    }

    /// Interrupt and close the input, wait, ask to end, wait. The reader goes on meanwhile, so that nothing
    /// the agent still says is lost. Whoever wants it killed need not wait.
    async fn stop_in_order(&mut self) -> Option<ReadEnd> {
        let interrupt = self
            .session
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .interrupt();
        if let Some(close) = self.close.take() {
            let _ = close.send(interrupt);
        }
        let mut read_end = None;
        if self.wait_or_killed(&mut read_end).await {
            return read_end;
        }
        // An agent that does not read holds the writer up; without it the input is closed at last.
        self.writer.abort();
        if let Some(process) = &self.process {
            process.terminate();
            self.wait_or_killed(&mut read_end).await;
        }
        read_end
    }

    /// True when there is nothing left to wait for.
    async fn wait_or_killed(&mut self, read_end: &mut Option<ReadEnd>) -> bool {
        let process = self.process.as_mut();
        let has_process = process.is_some();
        let reader = &mut self.reader;
        let finished = async {
            if has_process {
                ended(process).await;
            } else if read_end.is_none() {
                *read_end = Some(reader.await.unwrap_or(ReadEnd::Unheard));
            }
        };
        tokio::select! {
            result = timeout(self.limits.until_ended, finished) => result.is_ok(),
            _ = wanted_beyond(&mut self.wanted, Wanted::Stopped) => true,
        }
    }

    /// The agent closed its output or is gone already; a process that stays without output is of no use.
    async fn wait_until_ended(&mut self) {
        let process = self.process.as_mut();
        if process.is_some() {
            let _ = timeout(self.limits.until_ended, ended(process)).await;
        }
    }

    /// The whole group goes, whatever is left of it.
    async fn end_process(&mut self) -> Ending {
        let Some(process) = self.process.as_mut() else {
            return Ending::default();
        };
        process.kill();
        process.wait().await.unwrap_or_default()
    }

    /// What the agent wrote before its end is still delivered. A stranger that inherited the pipe and left
    /// the group could hold it open for ever, so there is a limit.
    async fn finish_reading(&mut self, read_end: Option<ReadEnd>) -> ReadEnd {
        if let Some(end) = read_end {
            return end;
        }
        if self.process.is_none() {
            self.reader.abort();
        }
        let end = timeout(self.limits.until_ended, &mut self.reader).await;
        self.reader.abort();
        match end {
            Ok(Ok(end)) => end,
            Ok(Err(_)) | Err(_) => ReadEnd::Eof,
        }
    }

    async fn exited(&mut self, ending: Ending, read_end: ReadEnd, asked_to_end: bool) -> Exited {
        let mut stderr_tail = String::new();
        if let Some(process) = self.process.as_mut() {
            let _ = timeout(self.limits.until_ended, process.stderr_reader()).await;
            stderr_tail = process.stderr_tail();
        }
        let initializing = self
            .session
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_initializing();
        EndedAgent {
            code: ending.code,
            signal: ending.signal,
            stderr_tail,
            asked_to_end,
            initializing,
            fault: match read_end {
                ReadEnd::Fault(fault) => Some(fault),
                ReadEnd::Eof | ReadEnd::Unheard => None,
            },
        }
        .exited()
    }
}

async fn ended(process: Option<&mut AgentProcess>) {
    match process {
        Some(process) => {
            let _ = process.wait().await;
        }
        None => std::future::pending().await,
    }
}

/// A dropped sender means that no handle is left: nobody can want anything but an end.
async fn wanted_beyond(wanted: &mut watch::Receiver<Wanted>, level: Wanted) -> Wanted {
    let beyond = wanted.wait_for(|current| *current > level).await;
    match beyond.map(|current| *current) {
        Ok(current) => current,
        Err(_) if level == Wanted::Running => Wanted::Stopped,
        Err(_) => std::future::pending().await,
    }
}
