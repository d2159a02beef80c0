//! gobby.

use super::{Desk, Dialect, Entry, News};

pub(crate) const ENTRY: Entry = Entry {
    name: "gobby",
    example: "{}",
    open: |_| Box::new(Gobby),
};

struct Gobby;

impl Dialect for Gobby {
    fn hear(&mut self, _text: &str, _desk: &mut Desk) {}

    fn tell(&mut self, _news: &News, _desk: &mut Desk) {}
}
