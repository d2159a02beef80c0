//! The messages of one conversation, with those of its subagents.

use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;
use uuid::Uuid;

use super::History;
use super::records::{self, Record};
use crate::event::{AgentEvent, AssistantMessage, UserBlock, UserMessage};
use crate::session::MessageTracker;
use crate::wire::{AssistantLine, Inbound, UserLine};

/// How much of one file is read.
const READ_BYTES: u64 = 512 * 1024 * 1024;
/// How many messages are kept; the oldest go first.
const KEPT: usize = 50_000;

/// One message as it stands in the files.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// RFC 3339, as it was written.
    pub timestamp: Option<String>,
    /// The tool call that started the subagent who wrote this.
    pub parent_tool_use_id: Option<String>,
    pub kind: MessageKind,
}

#[derive(Debug, Clone, PartialEq)]
pub enum MessageKind {
    /// What the human wrote.
    Prompt(UserMessage),
    /// Tool results, and notes of the program.
    User(UserMessage),
    Assistant(AssistantMessage),
}

/// Everything that was said, in the order of time.
pub fn read(history: &History, conversation: Uuid) -> io::Result<Vec<Message>> {
    let mut messages = Vec::new();
    read_file(&history.file(conversation), None, &mut messages)?;
    let subagents = history.subagents(conversation);
    for (file, parent) in subagent_files(&subagents) {
        // A subagent's file that has gone leaves the conversation readable.
        let _ = read_file(&file, Some(&parent), &mut messages);
    }
    // Stable, so that messages without a time stay behind the one before them.
    let mut last = None;
    let mut timed: Vec<(Option<String>, Message)> = messages
        .into_iter()
        .map(|message| {
            last = message.timestamp.clone().or_else(|| last.take());
            (last.clone(), message)
        })
        .collect();
    timed.sort_by(|one, other| one.0.cmp(&other.0));
    let skipped = timed.len().saturating_sub(KEPT);
    Ok(timed
        .into_iter()
        .skip(skipped)
        .map(|(_, message)| message)
        .collect())
}

fn read_file(path: &Path, parent: Option<&str>, messages: &mut Vec<Message>) -> io::Result<()> {
    let mut tracker = MessageTracker::default();
    records::for_each(path, READ_BYTES, |record, line| {
        let wanted = record.is_message() && (parent.is_some() || !record.is_sidechain);
        if wanted && let Some(message) = message(&mut tracker, record, line, parent) {
            messages.push(message);
        }
    })
}

fn message(
    tracker: &mut MessageTracker,
    record: Record,
    line: &str,
    parent: Option<&str>,
) -> Option<Message> {
    let inbound = if record.kind == "assistant" {
        Inbound::Assistant(serde_json::from_str::<AssistantLine<'_>>(line).ok()?)
    } else {
        Inbound::User(serde_json::from_str::<UserLine<'_>>(line).ok()?)
    };
    let event = tracker.translate(inbound, line).into_iter().next()?;
    let kind = match event {
        AgentEvent::Assistant(message) => MessageKind::Assistant(*message),
        AgentEvent::User(message) if parent.is_none() && is_prompt(&message) => {
            MessageKind::Prompt(*message)
        }
        AgentEvent::User(message) => MessageKind::User(*message),
        _ => return None,
    };
    Some(Message {
        timestamp: record.timestamp,
        parent_tool_use_id: parent.map(str::to_owned),
        kind,
    })
}

/// The human's words, or their pictures; not results, and not what the program wrote in their name.
fn is_prompt(message: &UserMessage) -> bool {
    let by_program = message.synthetic || message.blocks.is_empty();
    !by_program
        && message.blocks.iter().all(|block| match block {
            UserBlock::ToolResult(_) => false,
            UserBlock::Text { text } => !is_program_text(text),
            UserBlock::Other { .. } => true,
        })
}

/// The program writes commands and their output as messages of the human, between tags.
fn is_program_text(text: &str) -> bool {
    const TAGS: [&str; 6] = [
        "<command-name>",
        "<command-message>",
        "<local-command-",
        "<bash-",
        "<system-reminder>",
        "[Request interrupted by user",
    ];
    let text = text.trim_start();
    TAGS.iter().any(|tag| text.starts_with(tag))
}

/// The text of a record, when it is a message that the human wrote.
pub(super) fn prompt_of(line: &str) -> Option<String> {
    let user = serde_json::from_str::<UserLine<'_>>(line).ok()?;
    let events = MessageTracker::default().translate(Inbound::User(user), line);
    let Some(AgentEvent::User(message)) = events.into_iter().next() else {
        return None;
    };
    if !is_prompt(&message) {
        return None;
    }
    let texts = message.blocks.into_iter().filter_map(|block| match block {
        UserBlock::Text { text } => Some(text),
        UserBlock::ToolResult(_) | UserBlock::Other { .. } => None,
    });
    Some(texts.collect::<Vec<_>>().join("\n"))
}

/// The first line that says something, for a title.
pub(super) fn words(text: &str) -> String {
    const LENGTH: usize = 80;
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    let mut words: String = line.unwrap_or("…").chars().take(LENGTH).collect();
    if line.is_some_and(|line| line.chars().nth(LENGTH).is_some()) {
        words.push('…');
    }
    words
}

/// The files of subagents, each with the tool call that started it.
fn subagent_files(folder: &Path) -> Vec<(std::path::PathBuf, String)> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Meta {
        tool_use_id: String,
    }
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let files = entries.filter_map(Result::ok).filter_map(|entry| {
        let path = entry.path();
        if path.extension()? != "jsonl" {
            return None;
        }
        let meta = fs::read_to_string(path.with_extension("meta.json")).ok()?;
        let meta: Meta = serde_json::from_str(&meta).ok()?;
        Some((path, meta.tool_use_id))
    });
    let mut files: Vec<_> = files.collect();
    files.sort();
    files
}
