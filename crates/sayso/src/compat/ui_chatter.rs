//! ui-chatter.

use super::{Desk, Dialect, Entry, News};

pub(crate) const ENTRY: Entry = Entry {
    name: "ui-chatter",
    example: "{}",
    open: |_| Box::new(UiChatter),
};

struct UiChatter;

impl Dialect for UiChatter {
    fn hear(&mut self, _text: &str, _desk: &mut Desk) {}

    fn tell(&mut self, _news: &News, _desk: &mut Desk) {}
}
