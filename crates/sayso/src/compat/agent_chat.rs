//! agent-chat.

use super::{Desk, Dialect, Entry, News};

pub(crate) const ENTRY: Entry = Entry {
    name: "agent-chat",
    example: "{}",
    open: |_| Box::new(AgentChat),
};

struct AgentChat;

impl Dialect for AgentChat {
    fn hear(&mut self, _text: &str, _desk: &mut Desk) {}

    fn tell(&mut self, _news: &News, _desk: &mut Desk) {}
}
