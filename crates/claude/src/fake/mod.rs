//! A deterministic agent that speaks the protocol without a model: for tests, load and the demo.
//!
//! A user message that is JSON of the form `{"steps": [...]}` is a [`script`]; any other text plays the demo.
//! Ids are counted from the session id, so the same start gives the same ids. Tools really run.

mod answers;
mod control;
mod demo;
mod disturb;
mod files;
mod options;
mod player;
mod report;
pub mod script;
mod shell;
mod stage;
mod tool_call;
mod turn;
mod voice;
mod world;

use std::collections::VecDeque;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::line::{LineReader, Received};
use options::Options;
use turn::{Prompt, TurnEnd};
use world::World;

/// How the agent's life ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FakeEnd {
    Exit(u8),
    /// As if killed by a bug of its own; [`FakeEnd::end_process`] aborts.
    Crash,
}

impl FakeEnd {
    pub fn end_process(self) -> ExitCode {
        match self {
            Self::Exit(code) => ExitCode::from(code),
            Self::Crash => std::process::abort(),
        }
    }
}

/// Runs the agent until its input ends or a script ends it. `arguments` come without the program's name.
pub async fn run<R, W>(arguments: Vec<OsString>, input: R, output: W) -> FakeEnd
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (lines, queue) = mpsc::channel(64);
    let writer = tokio::spawn(write_output(output, queue));
    let end = match Options::read(&arguments) {
        Ok(options) => {
            let world = Arc::new(World::new(options, lines));
            let agent = Agent {
                world,
                waiting: VecDeque::new(),
                turn: None,
                input_open: true,
            };
            agent.live(LineReader::new(input)).await
        }
        Err(refusal) => {
            complain(&refusal).await;
            let _ = lines.send(world::start_refused(&refusal)).await;
            drop(lines);
            FakeEnd::Exit(1)
        }
    };
    let _ = writer.await;
    end
}

async fn write_output<W: AsyncWrite + Unpin>(mut output: W, mut queue: mpsc::Receiver<Vec<u8>>) {
    while let Some(bytes) = queue.recv().await {
        if output.write_all(&bytes).await.is_err() || output.flush().await.is_err() {
            return;
        }
    }
    let _ = output.shutdown().await;
}

async fn complain(text: &str) {
    let _ = tokio::io::stderr()
        .write_all(format!("{text}\n").as_bytes())
        .await;
}

/// The loop of the agent: it reads and answers while at most one turn plays.
struct Agent {
    world: Arc<World>,
    waiting: VecDeque<Prompt>,
    turn: Option<RunningTurn>,
    input_open: bool,
}

struct RunningTurn {
    task: JoinHandle<TurnEnd>,
    interrupt: Arc<watch::Sender<bool>>,
}

impl Drop for RunningTurn {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Agent {
    async fn live<R: AsyncRead + Unpin>(mut self, mut input: LineReader<R>) -> FakeEnd {
        let mut listening = true;
        loop {
            if self.turn.is_none() {
                match self.waiting.pop_front() {
                    Some(prompt) => self.start_turn(prompt),
                    None if !self.input_open => {
                        return FakeEnd::Exit(self.world.exit_code());
                    }
                    None => {}
                }
            }
            tokio::select! {
                biased;
                () = self.world.input_ignored() => listening = false,
                end = turn_end(&mut self.turn) => {
                    self.turn = None;
                    if let Some(end) = self.finish_turn(end).await {
                        return end;
                    }
                }
                line = input.next(), if listening && self.input_open => {
                    match line {
                        Ok(Some(Received::Json(line))) => {
                            let Ok(line) = serde_json::from_str(&line.text) else {
                                complain("Error parsing streaming input line").await;
                                return FakeEnd::Exit(1);
                            };
                            if let Some(end) = self.take(line).await {
                                return end;
                            }
                        }
                        Ok(None) => {
                            self.input_open = false;
                            self.world.fail_open_requests();
                        }
                        Ok(Some(Received::Noise(_))) | Err(_) => {
                            complain("Error parsing streaming input line").await;
                            return FakeEnd::Exit(1);
                        }
                    }
                }
            }
        }
    }

    async fn take(&mut self, line: Value) -> Option<FakeEnd> {
        match line["type"].as_str() {
            Some("user") => match Prompt::read(&line) {
                Some(prompt) => self.queue(prompt).await,
                None => {
                    complain("Error: Expected message role 'user'").await;
                    return Some(FakeEnd::Exit(1));
                }
            },
            Some("control_request") => return self.take_control(&line).await,
            Some("control_response") => self.world.take_answer(&line["response"]).await,
            _ => {}
        }
        None
    }

    async fn queue(&mut self, prompt: Prompt) {
        if !self.world.is_new_message(prompt.uuid.as_deref()) {
            return;
        }
        if self.turn.is_none() {
            self.world.emit_state("running").await;
        }
        self.world
            .emit_lifecycle(prompt.uuid.as_deref(), "queued")
            .await;
        self.waiting.push_back(prompt);
    }

    fn start_turn(&mut self, prompt: Prompt) {
        let (interrupt, interrupted) = watch::channel(false);
        let interrupt = Arc::new(interrupt);
        let turn = turn::play(
            Arc::clone(&self.world),
            prompt,
            Arc::clone(&interrupt),
            interrupted,
        );
        self.turn = Some(RunningTurn {
            task: tokio::spawn(turn),
            interrupt,
        });
    }

    async fn finish_turn(&mut self, end: TurnEnd) -> Option<FakeEnd> {
        match end {
            TurnEnd::Process(end) => Some(end),
            TurnEnd::Done => {
                if self.waiting.is_empty() {
                    self.world.emit_state("idle").await;
                }
                None
            }
        }
    }
}

async fn turn_end(turn: &mut Option<RunningTurn>) -> TurnEnd {
    match turn {
        Some(turn) => (&mut turn.task)
            .await
            .unwrap_or(TurnEnd::Process(FakeEnd::Crash)),
        None => std::future::pending().await,
    }
}
