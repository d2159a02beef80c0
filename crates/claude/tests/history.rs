//! Conversations from the agent's own files.

#![expect(clippy::unwrap_used, reason = "a failure in a helper fails the test")]

use std::fs;
use std::path::Path;

use pretty_assertions::assert_eq;
use sayso_claude::event::{BlockContent, ToolResultContent, UserBlock};
use sayso_claude::history::{History, Message, MessageKind, read, summaries};
use uuid::Uuid;

const CONVERSATION: &str = "32519010-75a0-4d8a-99a8-e00bca141825";

fn recorded() -> (History, Uuid) {
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/history");
    let history = History::of(&config, Path::new("/srv/demo"));
    (history, CONVERSATION.parse().unwrap())
}

/// `who: what`, with the subagent's call before it.
fn sketch(messages: &[Message]) -> Vec<String> {
    messages
        .iter()
        .map(|message| {
            let parent = message.parent_tool_use_id.as_deref();
            let parent = parent.map_or(String::new(), |parent| format!("[{parent}] "));
            let what = match &message.kind {
                MessageKind::Prompt(message) => format!("human: {}", blocks(&message.blocks)),
                MessageKind::User(message) => format!("user: {}", blocks(&message.blocks)),
                MessageKind::Assistant(message) => {
                    let contents = message.blocks.iter().map(|block| match &block.content {
                        BlockContent::Text { text } => text.clone(),
                        BlockContent::Thinking { text } => format!("thinks {text}"),
                        BlockContent::ToolUse { id, name, .. } => format!("{name} as {id}"),
                        BlockContent::Other { kind, .. } => kind.clone(),
                    });
                    format!("agent: {}", contents.collect::<Vec<_>>().join(", "))
                }
            };
            format!("{parent}{what}")
        })
        .collect()
}

fn blocks(blocks: &[UserBlock]) -> String {
    let words = blocks.iter().map(|block| match block {
        UserBlock::Text { text } => text.clone(),
        UserBlock::ToolResult(result) => {
            let content = match &result.content {
                ToolResultContent::Text(text) => text.as_str(),
                ToolResultContent::Blocks(_) => "blocks",
                ToolResultContent::Empty => "nothing",
            };
            let structured = if result.structured.is_some() { "+" } else { "" };
            format!("{} gave {content}{structured}", result.tool_use_id)
        }
        UserBlock::Other { kind, .. } => kind.clone(),
    });
    words.collect::<Vec<_>>().join(", ")
}

#[test]
fn a_real_conversation_is_read_with_its_subagent() {
    let (history, conversation) = recorded();
    let messages = read(&history, conversation).unwrap();
    assert_eq!(
        sketch(&messages),
        [
            "human: Make the file",
            "agent: Bash as call",
            "user: call gave (Bash completed with no output)+",
            "agent: Agent as first",
            "[first] user: MARK-ONE go",
            "[first] agent: Bash as one",
            "[first] user: one gave a.txt",
            "[first] agent: One is done.",
            "user: first gave blocks+",
            "agent: Done **now**.",
        ]
    );
    assert!(messages.iter().all(|message| message.timestamp.is_some()));
}

#[test]
fn a_real_conversation_is_listed_by_its_first_words() {
    let (history, conversation) = recorded();
    let found: Vec<_> = summaries(&history)
        .into_iter()
        .map(|summary| (summary.conversation, summary.title, summary.messages))
        .collect();
    assert_eq!(found, [(conversation, "Make the file".to_owned(), 1)]);
}

/// A folder of conversations with these lines in one of them.
fn with_lines(lines: &[&str]) -> (tempfile::TempDir, History, Uuid) {
    let config = tempfile::tempdir().unwrap();
    let folder = config.path().join("projects/-srv");
    fs::create_dir_all(&folder).unwrap();
    let conversation = Uuid::from_u128(7);
    let file = folder.join(format!("{conversation}.jsonl"));
    fs::write(file, lines.join("\n")).unwrap();
    let history = History::of(config.path(), Path::new("/srv"));
    (config, history, conversation)
}

#[test]
fn what_is_no_message_is_passed_over() {
    let (_config, history, conversation) = with_lines(&[
        "not json",
        "[1]",
        r#"{"type":"user"}"#,
        r#"{"type":"user","message":17}"#,
        r#"{"type":"from-the-future","message":{"content":"x"}}"#,
        r#"{"type":"user","isMeta":true,"message":{"content":"for the model"}}"#,
        r#"{"type":"user","isSidechain":true,"message":{"content":"a subagent's"}}"#,
        r#"{"type":"user","message":{"content":"<command-name>/clear</command-name>"}}"#,
        r#"{"type":"user","message":{"content":"Grüße \ud800"},"timestamp":"2026-01-02T03:04:05Z"}"#,
        r#"{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"Hello"}]}}"#,
        r#"{"type":"user","message":{"content":[{"type":"image","source":{}},{"type":"text","text":"look"}]}}"#,
        r#"{"type":"user","message":{"content":"cut off"#,
    ]);
    let messages = read(&history, conversation).unwrap();
    assert_eq!(
        sketch(&messages),
        [
            "user: <command-name>/clear</command-name>",
            "human: Grüße \u{fffd}",
            "agent: Hello",
            "human: image, look"
        ]
    );
    let found = summaries(&history);
    assert_eq!(found.len(), 1);
    let summary = found.first().unwrap();
    assert_eq!(
        (summary.title.as_str(), summary.messages),
        ("Grüße \u{fffd}", 2)
    );
}

#[test]
fn a_name_that_somebody_gave_wins() {
    let named = r#"{"type":"custom-title","customTitle":"Login bug"}"#;
    let said = r#"{"type":"user","message":{"content":"Fix it"}}"#;
    let (_config, history, _) = with_lines(&[said, named]);
    let titles: Vec<_> = summaries(&history)
        .into_iter()
        .map(|summary| summary.title)
        .collect();
    assert_eq!(titles, ["Login bug"]);
}

#[test]
fn a_folder_without_conversations_is_not_an_error() {
    let (history, _) = (
        History::of(Path::new("/nowhere"), Path::new("/srv")),
        CONVERSATION,
    );
    assert_eq!(summaries(&history), []);
    assert!(read(&history, Uuid::from_u128(1)).is_err());
}
