//! What an agent asked and what it heard, line by line in a file of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::Write;
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

/// The ledgers of all agents, read back.
#[derive(Debug, Default)]
pub(crate) struct Account {
    pub(crate) asked: BTreeSet<String>,
    /// What each ask heard.
    pub(crate) heard: BTreeMap<String, String>,
    pub(crate) doubled: Vec<String>,
}

impl Account {
    pub(crate) fn read(folder: &Path) -> Self {
        let mut account = Self::default();
        for entry in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            // A line that is being written is not there yet.
            let whole = text.rfind('\n').map_or("", |end| &text[..end]);
            for line in whole.lines() {
                let (what, ask) = line.split_once(' ').unwrap();
                match what {
                    "asked" => drop(account.asked.insert(ask.to_owned())),
                    "doubled" => account.doubled.push(ask.to_owned()),
                    heard => drop(account.heard.insert(ask.to_owned(), heard.to_owned())),
                }
            }
        }
        account
    }

    pub(crate) fn open(&self) -> BTreeSet<String> {
        let open = |ask: &&String| !self.heard.contains_key(*ask);
        self.asked.iter().filter(open).cloned().collect()
    }
}
