//! Conversations from Claude's own files, as transcripts.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use jiff::Timestamp;
use sayso_claude::event::{UserBlock, UserMessage};
use sayso_claude::history::{self, History, Message, MessageKind};
use sayso_protocol::{ContentBlock, EntryBody};
use uuid::Uuid;

use super::transcript;
use crate::agents::AgentOutput;

/// One entry of an old conversation, with the time it really has.
#[derive(Debug)]
pub struct OldEntry {
    pub at: Timestamp,
    pub parent_tool_use_id: Option<String>,
    pub body: EntryBody,
}

/// A conversation to be opened as a session.
#[derive(Debug)]
pub struct OldConversation {
    pub title: String,
    pub model: Option<String>,
    pub cost_usd: f64,
    pub entries: Vec<OldEntry>,
}

/// The conversations of a folder that Claude kept, newest first. Reads files.
pub fn conversations(cwd: &Path) -> Vec<history::Summary> {
    match config_folder() {
        Some(config) => history::summaries(&History::of(&config, cwd)),
        None => Vec::new(),
    }
}

/// `None` when there is no such conversation, or nothing in it. Reads files.
pub fn conversation(cwd: &Path, id: Uuid) -> Option<OldConversation> {
    kept_in(&History::of(&config_folder()?, cwd), id)
}

fn kept_in(history: &History, id: Uuid) -> Option<OldConversation> {
    let messages = history::read(history, id).ok()?;
    let summaries = history::summaries(history);
    let summary = summaries.into_iter().find(|one| one.conversation == id);
    let model = messages
        .iter()
        .rev()
        .find_map(|message| match &message.kind {
            MessageKind::Assistant(message) if message.parent_tool_use_id.is_none() => message
                .model
                .clone()
                .filter(|model| !model.starts_with('<')),
            MessageKind::Assistant(_) | MessageKind::Prompt(_) | MessageKind::User(_) => None,
        });
    let mut at = Timestamp::UNIX_EPOCH;
    let mut entries = Vec::new();
    for message in messages {
        at = message
            .timestamp
            .as_ref()
            .and_then(|time| time.parse().ok())
            .unwrap_or(at);
        entries.extend(translate(message, at));
    }
    let (title, cost_usd) = match summary {
        Some(summary) => (summary.title, summary.cost_usd),
        None => ("Conversation".to_owned(), 0.0),
    };
    (!entries.is_empty()).then_some(OldConversation {
        title,
        cost_usd,
        model,
        entries,
    })
}

/// Where Claude keeps its files, as the agent itself would find it.
fn config_folder() -> Option<PathBuf> {
    match std::env::var_os("CLAUDE_CONFIG_DIR") {
        Some(folder) if !folder.is_empty() => Some(PathBuf::from(folder)),
        Some(_) | None => Some(home()?.join(".claude")),
    }
}

pub fn home() -> Option<PathBuf> {
    // Looking for it reads a file, and every request wants to know.
    static HOME: LazyLock<Option<PathBuf>> =
        LazyLock::new(|| directories::UserDirs::new().map(|folders| folders.home_dir().to_owned()));
    HOME.clone()
}

fn translate(message: Message, at: Timestamp) -> Vec<OldEntry> {
    let parent = message.parent_tool_use_id;
    let outputs = match message.kind {
        MessageKind::Prompt(prompt) => vec![prompt_entry(prompt)],
        MessageKind::User(mut user) => {
            user.parent_tool_use_id.clone_from(&parent);
            transcript::user(user)
        }
        MessageKind::Assistant(mut assistant) => {
            assistant.parent_tool_use_id.clone_from(&parent);
            transcript::assistant(assistant)
        }
    };
    outputs
        .into_iter()
        .filter_map(|output| match output {
            AgentOutput::Entry {
                parent_tool_use_id,
                body,
            } => Some(OldEntry {
                at,
                parent_tool_use_id,
                body,
            }),
            _ => None,
        })
        .collect()
}

fn prompt_entry(prompt: UserMessage) -> AgentOutput {
    let content = prompt.blocks.into_iter().filter_map(|block| match block {
        UserBlock::Text { text } => Some(ContentBlock::Text { text }),
        UserBlock::Other { raw, .. } => Some(transcript::content_block(raw.as_str())),
        UserBlock::ToolResult(_) => None,
    });
    let message_id = prompt.uuid.and_then(|id| id.parse().ok());
    AgentOutput::Entry {
        parent_tool_use_id: None,
        body: EntryBody::UserMessage {
            message_id: message_id.unwrap_or_else(Uuid::new_v4),
            content: content.collect(),
            queued: false,
        },
    }
}

#[cfg(test)]
mod fuzz;
