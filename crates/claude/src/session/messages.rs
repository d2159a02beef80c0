use std::borrow::Cow;

use serde::Deserialize;

use crate::event::{
    AgentEvent, AssistantMessage, Block, BlockContent, BlockKind, DeltaKind, NoticeLevel,
    ToolResult, ToolResultContent, UnknownReason, UserBlock, UserMessage,
};
use crate::raw::RawJson;
use crate::recent::RecentIds;
use crate::wire::{
    AssistantLine, ContentBlockStart, Inbound, RawBlock, StreamDelta, StreamEvent, StreamLine,
    UserLine,
};

/// Turns messages into events. It remembers how many blocks each recent message had, because the agent sends
/// one line per block without saying which one it is, and the main thread and its subagents take turns.
#[derive(Debug, Default)]
pub(crate) struct MessageTracker {
    blocks_seen: RecentIds<u64>,
    streaming: Option<String>,
}

impl MessageTracker {
    pub(crate) fn translate(&mut self, inbound: Inbound<'_>, line: &str) -> Vec<AgentEvent> {
        let event = match inbound {
            // The session deals with these three itself.
            Inbound::Request(_) | Inbound::Response(_) | Inbound::Cancel { .. } => {
                return Vec::new();
            }
            Inbound::Assistant(assistant) => self.assistant(assistant),
            Inbound::User(user) => user_message(user),
            Inbound::Stream(stream) => return self.stream(stream, line).into_iter().collect(),
            Inbound::Result(result) => AgentEvent::TurnEnded(Box::new(result)),
            Inbound::Init(init) => AgentEvent::Init(Box::new(init)),
            Inbound::Status(status) => {
                if let Some(mode) = status.permission_mode {
                    return vec![AgentEvent::ModeChanged { mode }];
                }
                AgentEvent::Status {
                    text: status.status.unwrap_or_default(),
                }
            }
            Inbound::State(changed) => AgentEvent::StateChanged(changed.state),
            Inbound::PermissionDenied(denied) => AgentEvent::PermissionDenied(Box::new(denied)),
            Inbound::ApiRetry(retry) => AgentEvent::ApiRetry(Box::new(retry)),
            Inbound::Task(update) => AgentEvent::TaskUpdate(Box::new(update)),
            Inbound::ToolProgress(progress) => AgentEvent::ToolProgress {
                // A heartbeat has an id of its own and names the tool use as its parent.
                tool_use_id: match progress.parent_tool_use_id {
                    Some(parent) if progress.heartbeat => parent,
                    _ => progress.tool_use_id,
                },
                tool_name: progress.tool_name,
                elapsed_seconds: progress.elapsed_time_seconds,
            },
            Inbound::CommandLifecycle(lifecycle) => AgentEvent::CommandLifecycle(lifecycle),
            Inbound::Compacted(compacted) => AgentEvent::Compacted(Box::new(compacted)),
            Inbound::ConversationReset(reset) => AgentEvent::ConversationReset(Box::new(reset)),
            Inbound::Title(changed) => AgentEvent::TitleChanged {
                title: changed.title,
            },
            Inbound::Informational(notice) => AgentEvent::Notice {
                level: notice_level(notice.level.as_deref()),
                text: notice.content,
            },
            Inbound::Notification(notification) => AgentEvent::Notice {
                level: NoticeLevel::Info,
                text: notification.text,
            },
            Inbound::ElicitationComplete(complete) => AgentEvent::ElicitationCompleted {
                mcp_server_name: complete.mcp_server_name,
                elicitation_id: complete.elicitation_id,
            },
            Inbound::Unknown {
                kind,
                subtype,
                reason,
                raw,
            } => AgentEvent::Unknown {
                kind,
                subtype,
                reason,
                raw,
            },
        };
        vec![event]
    }

    fn assistant(&mut self, line: AssistantLine<'_>) -> AgentEvent {
        let message_id = line.message.id;
        let first = self.count_blocks(&message_id, line.message.content.len());
        let blocks = (first..)
            .zip(line.message.content)
            .map(|(index, block)| Block {
                index,
                content: block_content(block),
            })
            .collect();
        AgentEvent::Assistant(Box::new(AssistantMessage {
            message_id,
            model: line.message.model,
            usage: line.message.usage,
            blocks,
            parent_tool_use_id: line.parent_tool_use_id,
            agent_id: line.agent_id,
            subagent_type: line.subagent_type,
            error: line.error,
            is_api_error: line.is_api_error_message,
            aborted: line.aborted,
            uuid: line.uuid,
        }))
    }

    pub(super) fn restore(&mut self, message_id: &str, count: u64) {
        self.blocks_seen.insert(message_id, count);
    }

    /// Returns the index of the first of the new blocks.
    fn count_blocks(&mut self, message_id: &str, added: usize) -> u64 {
        let added = added as u64;
        if let Some(seen) = self.blocks_seen.get_mut(message_id) {
            let first = *seen;
            *seen += added;
            return first;
        }
        self.blocks_seen.insert(message_id, added);
        0
    }

    fn stream(&mut self, line: StreamLine, text: &str) -> Option<AgentEvent> {
        if let StreamEvent::MessageStart { message } = &line.event {
            self.streaming = Some(message.id.clone());
        }
        let message_id = line
            .api_message_id
            .or_else(|| self.streaming.clone())
            .unwrap_or_default();
        let parent_tool_use_id = line.parent_tool_use_id;
        match line.event {
            StreamEvent::MessageStart { .. }
            | StreamEvent::ContentBlockStop {}
            | StreamEvent::MessageDelta {}
            | StreamEvent::MessageStop {} => None,
            StreamEvent::ContentBlockStart {
                index,
                content_block,
            } => Some(AgentEvent::BlockStarted {
                message_id,
                index,
                kind: block_kind(content_block),
                parent_tool_use_id,
            }),
            StreamEvent::ContentBlockDelta { index, delta } => {
                let (kind, text) = match delta {
                    StreamDelta::TextDelta { text } => (DeltaKind::Text, text),
                    StreamDelta::ThinkingDelta { thinking } => (DeltaKind::Thinking, thinking),
                    StreamDelta::InputJsonDelta { partial_json } => {
                        (DeltaKind::ToolInput, partial_json)
                    }
                    StreamDelta::SignatureDelta {} => return None,
                    StreamDelta::Other => return unknown_stream_event(text),
                };
                Some(AgentEvent::Delta {
                    message_id,
                    index,
                    kind,
                    text,
                    parent_tool_use_id,
                })
            }
            StreamEvent::Other => unknown_stream_event(text),
        }
    }
}

fn unknown_stream_event(line: &str) -> Option<AgentEvent> {
    let raw = RawJson::parse_text(line.to_owned()).ok()?;
    Some(AgentEvent::Unknown {
        kind: "stream_event".to_owned(),
        subtype: None,
        reason: UnknownReason::NewKind,
        raw,
    })
}

fn block_kind(block: ContentBlockStart) -> BlockKind {
    match (block.kind.as_str(), block.id, block.name) {
        ("text", _, _) => BlockKind::Text,
        ("thinking", _, _) => BlockKind::Thinking,
        ("tool_use", Some(id), Some(name)) => BlockKind::ToolUse { id, name },
        _ => BlockKind::Other(block.kind),
    }
}

fn block_content(block: RawBlock<'_>) -> BlockContent {
    let (fields, raw) = match block {
        RawBlock::Text(text) => return BlockContent::Text { text },
        RawBlock::Object { fields, raw } => (fields, raw),
    };
    let other = |kind: Cow<'_, str>| BlockContent::Other {
        kind: kind.into_owned(),
        raw: RawJson::from(raw),
    };
    match (&*fields.kind, fields.text, fields.thinking) {
        ("text", Some(text), _) => BlockContent::Text { text },
        ("thinking", _, Some(text)) => BlockContent::Thinking { text },
        ("tool_use", _, _) => match (fields.id, fields.name, fields.input) {
            (Some(id), Some(name), Some(input)) => BlockContent::ToolUse { id, name, input },
            _ => other(fields.kind),
        },
        _ => other(fields.kind),
    }
}

fn user_message(line: UserLine<'_>) -> AgentEvent {
    let results = line
        .message
        .content
        .iter()
        .filter(|block| match block {
            RawBlock::Text(_) => false,
            RawBlock::Object { fields, .. } => fields.tool_use_id.is_some(),
        })
        .count();
    // The structured result has no id: with several results in one line nobody knows whose it is.
    let structured = line.tool_use_result.filter(|_| results == 1);
    let meta = line.tool_result_meta;
    let blocks = line
        .message
        .content
        .into_iter()
        .map(|block| user_block(block, structured.as_ref(), &meta))
        .collect();
    AgentEvent::User(Box::new(UserMessage {
        blocks,
        parent_tool_use_id: line.parent_tool_use_id,
        agent_id: line.agent_id,
        subagent_type: line.subagent_type,
        synthetic: line.is_synthetic,
        replay: line.is_replay,
        uuid: line.uuid,
    }))
}

fn user_block(block: RawBlock<'_>, structured: Option<&RawJson>, meta: &[RawJson]) -> UserBlock {
    let (fields, raw) = match block {
        RawBlock::Text(text) => return UserBlock::Text { text },
        RawBlock::Object { fields, raw } => (fields, raw),
    };
    match (&*fields.kind, fields.text, fields.tool_use_id) {
        ("text", Some(text), _) => UserBlock::Text { text },
        ("tool_result", _, Some(tool_use_id)) => UserBlock::ToolResult(ToolResult {
            is_error: fields.is_error,
            content: match fields.content {
                None => ToolResultContent::Empty,
                Some(content) => match serde_json::from_str(content.get()) {
                    Ok(text) => ToolResultContent::Text(text),
                    Err(_) => ToolResultContent::Blocks(RawJson::from(content)),
                },
            },
            structured: structured.cloned(),
            meta: meta
                .iter()
                .find(|entry| is_about(entry, &tool_use_id))
                .cloned(),
            tool_use_id,
        }),
        _ => UserBlock::Other {
            kind: fields.kind.into_owned(),
            raw: RawJson::from(raw),
        },
    }
}

fn is_about(entry: &RawJson, tool_use_id: &str) -> bool {
    #[derive(Deserialize)]
    struct About<'a> {
        #[serde(borrow)]
        id: Cow<'a, str>,
    }
    let about = serde_json::from_str::<About<'_>>(entry.as_str());
    about.is_ok_and(|about| about.id == tool_use_id)
}

fn notice_level(level: Option<&str>) -> NoticeLevel {
    match level {
        Some("error") => NoticeLevel::Error,
        Some("warning" | "warn") => NoticeLevel::Warning,
        _ => NoticeLevel::Info,
    }
}
