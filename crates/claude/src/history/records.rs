//! Lines of a conversation's file.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use serde::Deserialize;

use crate::line::Line;

/// Longer lines are passed over: no message of a conversation comes near.
const MAX_LINE_BYTES: u64 = 16 * 1024 * 1024;

/// The part of a record that says whether it is a message, and whose.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Record {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) timestamp: Option<String>,
    /// Written by the program, for the model alone.
    pub(super) is_meta: bool,
    /// Work of a subagent; older versions wrote it between the main messages.
    pub(super) is_sidechain: bool,
    pub(super) is_compact_summary: bool,
    pub(super) is_visible_in_transcript_only: bool,
    pub(super) custom_title: Option<String>,
    pub(super) ai_title: Option<String>,
    pub(super) summary: Option<String>,
    #[serde(rename = "totalCostUSD")]
    pub(super) total_cost_usd: Option<f64>,
}

impl Record {
    pub(super) fn is_message(&self) -> bool {
        matches!(self.kind.as_str(), "user" | "assistant")
            && !self.is_meta
            && !self.is_compact_summary
            && !self.is_visible_in_transcript_only
    }

    /// A name for the whole conversation, given by the human or by the program.
    pub(super) fn title(&self) -> Option<&str> {
        let titles = [&self.custom_title, &self.ai_title, &self.summary];
        titles.into_iter().find_map(Option::as_deref)
    }
}

/// Calls `each` with every readable record, up to `limit` bytes of the file.
pub(super) fn for_each(
    path: &Path,
    limit: u64,
    mut each: impl FnMut(Record, &str),
) -> io::Result<()> {
    let mut file = BufReader::new(File::open(path)?.take(limit));
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let count = (&mut file)
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', &mut bytes)?;
        if count == 0 {
            return Ok(());
        }
        if bytes.last() != Some(&b'\n') && count as u64 == MAX_LINE_BYTES {
            skip_line(&mut file)?;
            continue;
        }
        if let Some((record, line)) = read_record(&bytes) {
            each(record, &line);
        }
    }
}

fn read_record(bytes: &[u8]) -> Option<(Record, String)> {
    let text = std::str::from_utf8(bytes).ok()?.trim_end().to_owned();
    // The program's own logs are most of the file; they need not be read to be passed over.
    if text.starts_with(r#"{"type":"api-request"#) {
        return None;
    }
    let line = Line::check(text).ok()?;
    let record: Record = serde_json::from_str(&line.text).ok()?;
    // Its parts are kept as they stand. A number that is too large for any program is JSON all the same, and whoever
    // gets an entry with one in it could read nothing of it.
    if record.is_message() {
        serde_json::from_str::<serde_json::Value>(&line.text).ok()?;
    }
    Some((record, line.text))
}

fn skip_line(file: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = file.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        match buffer.iter().position(|byte| *byte == b'\n') {
            Some(end) => {
                file.consume(end + 1);
                return Ok(());
            }
            None => {
                let length = buffer.len();
                file.consume(length);
            }
        }
    }
}
