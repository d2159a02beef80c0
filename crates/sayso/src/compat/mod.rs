//! The WebSocket dialects of other front ends, so that they can use Sayso as their backend.
//!
//! One file per dialect. Each is a pure translation: it hears the front end
//! and Sayso, and leaves steps on its [`Desk`]. To the rest of the server such
//! a front end is a client like every other, with the same rights and the same
//! first-decision-wins; nothing outside of this folder knows a dialect by name.

mod agent_chat;
mod attending;
mod chat;
mod desk;
mod gobby;
mod heard;
mod names;
mod native;
mod options;
mod stream;
mod tofucode;
mod told;
mod twicc;
mod ui_chatter;

use sayso_protocol::PolicyOverrides;
use uuid::Uuid;

pub(crate) use attending::{Attending, Seat};
pub(crate) use desk::{About, Desk, News, Step, Written, write};
pub(crate) use heard::Heard;
pub(crate) use names::Names;
pub(crate) use options::Options;

/// What one front end says and hears.
pub(crate) trait Dialect: Send {
    /// The front end has said something. What is wrong with it, if anything, goes to [`Self::complain`].
    fn hear(&mut self, heard: &Heard<'_>, desk: &mut Desk) -> Result<(), String>;

    /// What the front end is told of a message that is of no use; where that is nothing, it is in the log.
    fn complain(&self, problem: &str) -> Option<Written>;

    /// Sayso has said something, and the desk knows it already.
    fn tell(&mut self, news: &News, desk: &mut Desk);

    /// The front end has gone, and no other of this dialect attends the session.
    fn leave(&mut self, _session: Uuid, _desk: &mut Desk) {}
}

/// One dialect: its name in the address, and how a conversation in it begins.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// What it looks like for somebody who wants to try it.
    pub(crate) example: &'static str,
    /// Those of its own document, for the sessions that it starts.
    pub(crate) policies: fn(&Options) -> PolicyOverrides,
    pub(crate) open: fn() -> Box<dyn Dialect>,
}

pub(crate) const DIALECTS: [Entry; 5] = [
    twicc::ENTRY,
    tofucode::ENTRY,
    ui_chatter::ENTRY,
    gobby::ENTRY,
    agent_chat::ENTRY,
];

pub(crate) fn find(name: &str) -> Option<Entry> {
    DIALECTS.into_iter().find(|dialect| dialect.name == name)
}

/// Brings one text frame of the front end, as it came, to its dialect.
pub(crate) fn hear(dialect: &mut dyn Dialect, text: &str, desk: &mut Desk) {
    let heard = Heard::new(text).and_then(|heard| dialect.hear(&heard, desk));
    if let Err(problem) = heard {
        match dialect.complain(&problem) {
            Some(said) => desk.say(said),
            None => desk.ignore(&problem),
        }
    }
}

/// The endpoints with a line to try each.
pub fn endpoints(url: &str) -> String {
    let socket = url.replacen("http", "ws", 1);
    let mut text = String::new();
    for Entry { name, example, .. } in DIALECTS {
        text.push_str(&format!(
            "{name}\n  {socket}/compat/{name}/ws\n  echo '{example}' | websocat -n \"{socket}/compat/{name}/ws?token=$SAYSO_TOKEN&cwd=$PWD\"\n"
        ));
    }
    text
}
