//! Which conversations there are.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use serde::Deserialize;
use uuid::Uuid;

use super::History;
use super::messages::{prompt_of, words};
use super::records::{self, Record};

/// How many are looked into, newest first.
const LOOKED_INTO: usize = 50;
/// How much of each file is read for its title and its count.
const READ_BYTES: u64 = 32 * 1024 * 1024;

/// One conversation, for a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    pub conversation: Uuid,
    /// The name somebody gave it, or the first words of the human.
    pub title: String,
    pub updated_at: SystemTime,
    /// Messages of the human.
    pub messages: u32,
    /// What it has cost, as the agent last noted.
    pub cost_usd: f64,
}

/// Newest first. Conversations without a word of the human are left out, and so is what cannot be read.
pub fn summaries(history: &History) -> Vec<Summary> {
    let Ok(entries) = fs::read_dir(&history.folder) else {
        return Vec::new();
    };
    let mut files: Vec<(SystemTime, Uuid)> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let name = entry.file_name();
            let conversation = name.to_str()?.strip_suffix(".jsonl")?.parse().ok()?;
            Some((entry.metadata().ok()?.modified().ok()?, conversation))
        })
        .collect();
    files.sort_by(|one, other| other.cmp(one));
    files
        .into_iter()
        .take(LOOKED_INTO)
        .filter_map(|(updated_at, conversation)| summary(history, conversation, updated_at))
        .collect()
}

/// The name and the number of messages; `None` when nobody said anything.
fn summary(history: &History, conversation: Uuid, updated_at: SystemTime) -> Option<Summary> {
    let mut first = None;
    let mut given = None;
    let mut messages = 0;
    let mut cost_usd = 0.0;
    let noted = |record: Record, line: &str| {
        if let Some(cost) = record.total_cost_usd {
            cost_usd = cost;
        }
        if let Some(title) = record.title() {
            given = Some(title.to_owned());
        } else if record.kind == "user"
            && record.is_message()
            && !record.is_sidechain
            && let Some(prompt) = prompt_of(line)
        {
            messages += 1;
            if first.is_none() {
                first = Some(words(&prompt));
            }
        }
    };
    records::for_each(&history.file(conversation), READ_BYTES, noted).ok()?;
    let named = custom_title(&history.folder.join(conversation.to_string()));
    let title = named.or(given).or(first)?;
    (messages > 0).then_some(Summary {
        conversation,
        title,
        updated_at,
        messages,
        cost_usd,
    })
}

fn custom_title(folder: &Path) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Title {
        #[serde(alias = "title")]
        custom_title: String,
    }
    let text = fs::read_to_string(folder.join("custom-title.json")).ok()?;
    serde_json::from_str::<Title>(&text)
        .ok()
        .map(|title| title.custom_title)
}
