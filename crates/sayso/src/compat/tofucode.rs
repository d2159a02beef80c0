//! tofucode.

use super::{Desk, Dialect, Entry, News};

pub(crate) const ENTRY: Entry = Entry {
    name: "tofucode",
    example: "{}",
    open: |_| Box::new(Tofucode),
};

struct Tofucode;

impl Dialect for Tofucode {
    fn hear(&mut self, _text: &str, _desk: &mut Desk) {}

    fn tell(&mut self, _news: &News, _desk: &mut Desk) {}
}
