//! What an agent asked and what it heard, line by line in a file of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

pub(crate) struct Ledger {
    path: PathBuf,
}

impl Ledger {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    pub(crate) fn note(&self, what: &str, ask: &str) {
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&self.path)
            .unwrap();
        file.write_all(format!("{what} {ask}\n").as_bytes())
            .unwrap();
    }
}

/// The ledgers of all agents, read back as they grow.
#[derive(Debug, Default)]
pub(crate) struct Account {
    /// How far each was read.
    read: BTreeMap<PathBuf, u64>,
    pub(crate) asked: BTreeSet<String>,
    /// What was asked and not heard yet.
    pub(crate) open: BTreeSet<String>,
    /// What each ask heard.
    pub(crate) heard: BTreeMap<String, String>,
    pub(crate) doubled: Vec<String>,
}

impl Account {
    /// Reads what is new.
    pub(crate) fn read(&mut self, folder: &Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let mut file = File::open(&path).unwrap();
            let before = self.read.entry(path).or_default();
            file.seek(SeekFrom::Start(*before)).unwrap();
            let mut text = String::new();
            file.read_to_string(&mut text).unwrap();
            // A line that is being written is not there yet.
            let whole = text.rfind('\n').map_or(0, |end| end + 1);
            *before += u64::try_from(whole).unwrap();
            for line in text[..whole].lines() {
                self.note(line);
            }
        }
    }

    fn note(&mut self, line: &str) {
        let (what, ask) = line.split_once(' ').unwrap();
        match what {
            "asked" => {
                self.asked.insert(ask.to_owned());
                self.open.insert(ask.to_owned());
            }
            "doubled" => self.doubled.push(ask.to_owned()),
            heard => {
                self.heard.insert(ask.to_owned(), heard.to_owned());
                self.open.remove(ask);
            }
        }
    }
}
