//! `sayso watch`: a live list with keys.
//!
//! `link` hears the server, `state` knows what is shown and what a key means (pure: inputs in,
//! effects out), `draw` makes rows of it, `screen` brings them to the terminal.

mod draw;
mod guard;
mod hearing;
mod keys;
mod lines;
mod link;
mod pressing;
mod prompt;
mod screen;
mod state;

use std::time::{Duration, Instant};

use crossterm::event::{Event, EventStream};
use futures_util::StreamExt;
use jiff::Timestamp;
use sayso_protocol::Decision;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;
use uuid::Uuid;

use super::arguments::{ReachArguments, WatchArguments};
use super::console::Console;
use super::desk::{Desk, User};
use super::file_now;
use super::request::Request;
use super::trouble::{Exit, Trouble};
use link::Heard;
use screen::Screen;
use state::{Effect, Input, Now, State};

/// Clocks on the screen go by seconds.
const TICK: Duration = Duration::from_secs(1);
/// More than a human types or a server says before it is looked at.
const QUEUE: usize = 256;

pub(super) async fn run(arguments: &WatchArguments) -> Result<(), Trouble> {
    if arguments.json {
        return lines::run(&arguments.server).await;
    }
    if Console::new(false).user != User::Human {
        let message = "`sayso watch` needs a terminal. Scripts use `sayso watch --json`.";
        return Err(Trouble::new(Exit::Failed, "failed", message));
    }
    let mut desk = Desk::open(&arguments.server, User::Human)?;
    // A wrong address or token is told on the terminal as it is, before the list takes its place.
    desk.knock().await?;
    let address = desk.server().address().to_string();
    let (said, to_say) = mpsc::channel(QUEUE);
    let (hearing, mut heard) = mpsc::channel(QUEUE);
    let link = tokio::spawn(link::run(desk, to_say, hearing, link::read));
    let end = watch(&arguments.server, address, &said, &mut heard).await;
    link.abort();
    end
}

async fn watch(
    server: &ReachArguments,
    address: String,
    said: &mpsc::Sender<String>,
    heard: &mut mpsc::Receiver<Heard>,
) -> Result<(), Trouble> {
    let mut screen = Screen::take()?;
    let mut state = State::new(address, screen.size()?);
    let mut keys = EventStream::new();
    let (telling, mut told) = mpsc::channel(QUEUE);
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        screen.draw(&draw::rows(&mut state, now()))?;
        crate::faults::strike("watch");
        let input = tokio::select! {
            event = keys.next() => match event {
                Some(Ok(event)) => read_event(event),
                // The terminal is gone.
                Some(Err(_)) | None => return Ok(()),
            },
            heard = heard.recv() => match heard {
                Some(heard) => Some(Input::Heard(heard)),
                None => return Ok(()),
            },
            Some(input) = told.recv() => Some(input),
            _ = tick.tick() => Some(Input::Tick),
            _ = terminate.recv() => return Ok(()),
            _ = hang_up.recv() => return Ok(()),
        };
        let Some(input) = input else { continue };
        for effect in state.handle(now(), input) {
            match effect {
                Effect::Say(text) => {
                    // A full queue is that of a link that is down, which is told as such.
                    let _ = said.try_send(text);
                }
                Effect::Prove(password) => {
                    tokio::spawn(prove(server.clone(), password, telling.clone()));
                }
                Effect::LookAt(request) => {
                    tokio::spawn(look_at(server.clone(), request, telling.clone()));
                }
                Effect::Ring => screen.ring()?,
                Effect::Repaint => screen.forget()?,
                Effect::Leave(None) => return Ok(()),
                Effect::Leave(Some(trouble)) => return Err(trouble),
            }
        }
    }
}

fn now() -> Now {
    Now {
        instant: Instant::now(),
        wall: Timestamp::now(),
    }
}

fn read_event(event: Event) -> Option<Input> {
    match event {
        Event::Key(key) => keys::read(key).map(Input::Key),
        Event::Paste(text) => Some(Input::Pasted(text)),
        Event::Resize(columns, rows) => Some(Input::Resized {
            columns: usize::from(columns),
            rows: usize::from(rows),
        }),
        Event::FocusGained => Some(Input::Returned),
        Event::FocusLost | Event::Mouse(_) => None,
    }
}

/// The password goes over REST: the socket has no message for it.
async fn prove(server: ReachArguments, password: String, telling: mpsc::Sender<Input>) {
    let proven = match Desk::open(&server, User::Human) {
        Ok(mut desk) => desk.prove(&password).await,
        Err(trouble) => Err(trouble),
    };
    let proven = proven.map_err(|trouble| trouble.message().to_owned());
    // Nobody waits for it any more when the list was left.
    let _ = telling.send(Input::Proven(proven)).await;
}

async fn look_at(server: ReachArguments, request: Box<Request>, telling: mpsc::Sender<Input>) {
    let Ok(mut desk) = Desk::open(&server, User::Human) else {
        return;
    };
    let baseline = desk.baseline(request.id).await;
    if let Some(line) = baseline.and_then(|baseline| file_now::line(&request, &baseline)) {
        let request = request.id;
        let _ = telling.send(Input::File { request, line }).await;
    }
}

/// A decision that was sent, or waits for the password.
#[derive(Clone, Debug)]
struct Chosen {
    request: Uuid,
    /// Of what was shown.
    digest: String,
    decision: Decision,
}
