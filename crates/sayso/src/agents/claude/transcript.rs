//! Claude's messages as transcript entries.

use sayso_claude::AgentEvent;
use sayso_claude::RawJson;
use sayso_claude::event::{
    AssistantMessage, BlockContent, ToolResult, ToolResultContent, TurnResult, UnknownReason,
    UserBlock, UserMessage,
};
use sayso_protocol::{ContentBlock, EntryBody, NoticeLevel, Tokens};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::agents::{AgentOutput, EndedTurn};

/// What is left after the adapter took what concerns requests and state.
pub(super) fn entries(event: AgentEvent) -> Vec<AgentOutput> {
    match event {
        AgentEvent::User(message) => user(*message),
        AgentEvent::PermissionDenied(denied) => {
            let reason = denied.reason.unwrap_or(denied.message);
            notice(
                NoticeLevel::Warning,
                format!("{} was refused without asking: {reason}", denied.tool_name),
            )
        }
        AgentEvent::ApiRetry(retry) => {
            let why = retry.error.unwrap_or_else(|| "no connection".to_owned());
            let status = retry
                .error_status
                .map_or(String::new(), |status| format!(" {status}"));
            notice(
                NoticeLevel::Warning,
                format!(
                    "The model's service did not answer ({why}{status}). Try {} of {}, next in {:.0} s.",
                    retry.attempt,
                    retry.max_retries,
                    (retry.retry_delay_ms / 1000.0).ceil()
                ),
            )
        }
        AgentEvent::Compacted(_) => notice(
            NoticeLevel::Info,
            "The conversation was compacted to make room.".to_owned(),
        ),
        AgentEvent::ConversationReset(_) => notice(
            NoticeLevel::Info,
            "The agent started a new conversation.".to_owned(),
        ),
        AgentEvent::Notice { level, text } => notice(
            match level {
                sayso_claude::event::NoticeLevel::Info => NoticeLevel::Info,
                sayso_claude::event::NoticeLevel::Warning => NoticeLevel::Warning,
                sayso_claude::event::NoticeLevel::Error => NoticeLevel::Error,
            },
            text,
        ),
        AgentEvent::ElicitationCompleted {
            mcp_server_name, ..
        } => notice(
            NoticeLevel::Info,
            format!("{mcp_server_name} has what it asked for."),
        ),
        AgentEvent::Noise(text) => notice(NoticeLevel::Info, text),
        AgentEvent::Unknown {
            reason: UnknownReason::NotModelled,
            ..
        } => Vec::new(),
        AgentEvent::Unknown {
            kind,
            subtype,
            raw: message,
            ..
        } => {
            let label = subtype.map_or(kind.clone(), |subtype| format!("{kind}/{subtype}"));
            let message = message.to_raw_value();
            vec![entry(None, EntryBody::Unknown { label, message })]
        }
        // Progress that is not part of the record.
        AgentEvent::BlockStarted { .. }
        | AgentEvent::Delta { .. }
        | AgentEvent::ToolProgress { .. }
        | AgentEvent::Status { .. } => Vec::new(),
        // Taken by the adapter before.
        AgentEvent::Initialized(_)
        | AgentEvent::Assistant(_)
        | AgentEvent::CommandLifecycle(_)
        | AgentEvent::Init(_)
        | AgentEvent::StateChanged(_)
        | AgentEvent::ModeChanged { .. }
        | AgentEvent::Asked(_)
        | AgentEvent::ToolStarting(_)
        | AgentEvent::ToolRan { .. }
        | AgentEvent::Elicited(_)
        | AgentEvent::OtherRequest { .. }
        | AgentEvent::Withdrawn { .. }
        | AgentEvent::TurnEnded(_)
        | AgentEvent::TaskUpdate(_)
        | AgentEvent::TitleChanged { .. }
        | AgentEvent::ControlDone { .. }
        | AgentEvent::Exited(_) => Vec::new(),
    }
}

pub(super) fn turn_ended(result: &TurnResult) -> AgentOutput {
    let text = if result.succeeded() {
        None
    } else {
        failure_text(result)
    };
    let usage = result.usage.unwrap_or_default();
    AgentOutput::TurnEnded(EndedTurn {
        is_error: !result.succeeded(),
        reason: result.terminal_reason.clone(),
        text,
        duration_ms: result.duration_ms.max(0.0) as u64,
        total_cost_usd: result.total_cost_usd,
        tokens: Tokens {
            input: usage.input_tokens,
            output: usage.output_tokens,
            cache_read: usage.cache_read_input_tokens,
            cache_write: usage.cache_creation_input_tokens,
        },
    })
}

/// What went wrong, in words for people. An interrupt is not news to the one who asked for it.
fn failure_text(result: &TurnResult) -> Option<String> {
    let interrupted = result
        .terminal_reason
        .as_deref()
        .is_some_and(|reason| reason.starts_with("aborted"));
    if interrupted {
        return None;
    }
    let errors: Vec<&str> = result
        .errors
        .iter()
        .map(String::as_str)
        .filter(|error| !error.starts_with("[ede_diagnostic]"))
        .collect();
    if errors.is_empty() {
        result.result.clone()
    } else {
        Some(errors.join("\n"))
    }
}

pub(super) fn assistant(message: AssistantMessage) -> Vec<AgentOutput> {
    // The turn's end says the same with its reason.
    if message.is_api_error && message.parent_tool_use_id.is_none() {
        return Vec::new();
    }
    let message_id = message.message_id;
    let parent = message.parent_tool_use_id;
    let bodies = message.blocks.into_iter().filter_map(|block| {
        let message_id = message_id.clone();
        let index = index(block.index);
        match block.content {
            BlockContent::Text { text } if text.is_empty() => None,
            BlockContent::Text { text } => Some(EntryBody::AssistantText {
                message_id,
                index,
                text,
            }),
            BlockContent::Thinking { text } => Some(EntryBody::Thinking {
                message_id,
                index,
                text,
            }),
            BlockContent::ToolUse { id, name, input } => Some(EntryBody::ToolUse {
                message_id,
                index,
                tool_use_id: id,
                tool_name: name,
                tool_input: input.to_raw_value(),
            }),
            BlockContent::Other { kind, raw } => Some(EntryBody::Unknown {
                label: format!("assistant/{kind}"),
                message: raw.to_raw_value(),
            }),
        }
    });
    bodies.map(|body| entry(parent.clone(), body)).collect()
}

pub(super) fn user(message: UserMessage) -> Vec<AgentOutput> {
    if message.replay {
        return Vec::new();
    }
    let parent = message.parent_tool_use_id;
    let bodies = message.blocks.into_iter().filter_map(|block| match block {
        UserBlock::ToolResult(result) => Some(tool_result(result)),
        // A subagent's prompt stands in its tool call already.
        UserBlock::Text { .. } if parent.is_some() => None,
        UserBlock::Text { text } => Some(EntryBody::Notice {
            level: NoticeLevel::Info,
            text,
        }),
        UserBlock::Other { kind, raw } => Some(EntryBody::Unknown {
            label: format!("user/{kind}"),
            message: raw.to_raw_value(),
        }),
    });
    let bodies: Vec<EntryBody> = bodies.collect();
    bodies
        .into_iter()
        .map(|body| entry(parent.clone(), body))
        .collect()
}

fn tool_result(result: ToolResult) -> EntryBody {
    let content = match result.content {
        ToolResultContent::Text(text) => vec![ContentBlock::Text { text }],
        ToolResultContent::Blocks(blocks) => content_blocks(&blocks),
        ToolResultContent::Empty => Vec::new(),
    };
    EntryBody::ToolResult {
        tool_use_id: result.tool_use_id,
        is_error: result.is_error,
        content,
        structured: result.structured.as_ref().map(RawJson::to_raw_value),
    }
}

fn content_blocks(blocks: &RawJson) -> Vec<ContentBlock> {
    match blocks.parse::<Vec<Box<RawValue>>>() {
        Ok(blocks) => blocks
            .iter()
            .map(|block| content_block(block.get()))
            .collect(),
        Err(_) => vec![ContentBlock::Text {
            text: blocks.as_str().to_owned(),
        }],
    }
}

/// Text, images and documents; anything else is shown as the JSON it is.
pub(super) fn content_block(block: &str) -> ContentBlock {
    #[derive(Deserialize)]
    struct Known {
        #[serde(rename = "type")]
        kind: String,
        text: Option<String>,
        title: Option<String>,
        source: Option<Source>,
    }
    #[derive(Deserialize)]
    struct Source {
        media_type: Option<String>,
        data: Option<String>,
    }
    let read = || {
        let known: Known = serde_json::from_str(block).ok()?;
        match (known.kind.as_str(), known.text, known.source) {
            ("text", Some(text), _) => Some(ContentBlock::Text { text }),
            (
                "image",
                _,
                Some(Source {
                    media_type: Some(media_type),
                    data: Some(data),
                }),
            ) => Some(ContentBlock::Image { media_type, data }),
            (
                "document",
                _,
                Some(Source {
                    media_type: Some(media_type),
                    data: Some(data),
                }),
            ) => Some(ContentBlock::Document {
                media_type,
                data,
                title: known.title,
            }),
            _ => None,
        }
    };
    read().unwrap_or_else(|| ContentBlock::Text {
        text: block.to_owned(),
    })
}

/// Places in a message are small numbers.
pub(super) fn index(index: u64) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn notice(level: NoticeLevel, text: String) -> Vec<AgentOutput> {
    vec![entry(None, EntryBody::Notice { level, text })]
}

fn entry(parent_tool_use_id: Option<String>, body: EntryBody) -> AgentOutput {
    AgentOutput::Entry {
        parent_tool_use_id,
        body,
    }
}
