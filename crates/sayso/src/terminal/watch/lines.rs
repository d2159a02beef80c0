//! `sayso watch --json`: what happens, as JSON lines, until it is ended.

use std::io::Write;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::super::arguments::ReachArguments;
use super::super::desk::{Desk, User};
use super::super::trouble::Trouble;
use super::super::visible;
use super::QUEUE;
use super::link::{self, Heard};

/// What a script is told of; the frames are the protocol's own.
const TOLD: [&str; 3] = ["request_opened", "request_updated", "request_closed"];

pub(super) async fn run(server: &ReachArguments) -> Result<(), Trouble> {
    let mut desk = Desk::open(server, User::Script)?;
    desk.knock().await?;
    let (_said, to_say) = mpsc::channel(1);
    let (hearing, mut heard) = mpsc::channel(QUEUE);
    let pass_on = |frame: &str| Some(Heard::Frame(frame.to_owned()));
    let link = tokio::spawn(link::run(desk, to_say, hearing, pass_on));
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut connected = false;
    let end = loop {
        tokio::select! {
            news = heard.recv() => match news {
                Some(Heard::Frame(frame)) => {
                    connected = true;
                    print(&frame)?;
                }
                Some(Heard::Over(trouble)) => break Err(trouble),
                // Told once, however often it is tried again.
                Some(Heard::Lost) if std::mem::take(&mut connected) => {
                    say(&json!({"type": "disconnected"}).to_string())?;
                }
                Some(_) => {}
                None => break Ok(()),
            },
            _ = terminate.recv() => break Ok(()),
            _ = interrupt.recv() => break Ok(()),
        }
    };
    link.abort();
    end
}

/// A snapshot is told as what is open now, so that a script need not know two forms of it.
fn print(frame: &str) -> Result<(), Trouble> {
    #[derive(Deserialize)]
    struct Frame {
        #[serde(rename = "type")]
        kind: String,
        server_version: Option<String>,
        pending_requests: Option<Vec<Box<RawValue>>>,
    }
    let read: Frame = serde_json::from_str(frame)?;
    if read.kind == "welcome" {
        let connected = json!({"type": "connected", "server_version": read.server_version});
        say(&connected.to_string())?;
        for request in read.pending_requests.unwrap_or_default() {
            let request = request.get();
            say(&format!(
                r#"{{"type":"request_opened","pending_request":{request}}}"#
            ))?;
        }
    } else if TOLD.contains(&read.kind.as_str()) {
        say(frame)?;
    }
    Ok(())
}

fn say(json: &str) -> Result<(), Trouble> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{}", visible::json(json))?;
    output.flush()?;
    Ok(())
}
