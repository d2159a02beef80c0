use std::borrow::Cow;
use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::lenient;
use crate::raw::RawJson;

#[derive(Debug, Clone, Deserialize)]
pub struct AssistantLine<'a> {
    #[serde(borrow)]
    pub message: MessageBody<'a>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub parent_tool_use_id: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub agent_id: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub subagent_type: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub error: Option<String>,
    #[serde(default, deserialize_with = "lenient::flag")]
    pub is_api_error_message: bool,
    #[serde(default, deserialize_with = "lenient::flag")]
    pub aborted: bool,
    #[serde(default, deserialize_with = "lenient::text")]
    pub uuid: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct UserLine<'a> {
    #[serde(borrow)]
    pub message: MessageBody<'a>,
    /// The agent's files spell it differently from its output.
    #[serde(default, alias = "toolUseResult")]
    pub tool_use_result: Option<RawJson>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub tool_result_meta: Vec<RawJson>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub parent_tool_use_id: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub agent_id: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub subagent_type: Option<String>,
    #[serde(default, rename = "isSynthetic", deserialize_with = "lenient::flag")]
    pub is_synthetic: bool,
    #[serde(default, rename = "isReplay", deserialize_with = "lenient::flag")]
    pub is_replay: bool,
    #[serde(default, deserialize_with = "lenient::text")]
    pub uuid: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct MessageBody<'a> {
    #[serde(default)]
    pub id: String,
    #[serde(default, deserialize_with = "lenient::text")]
    pub model: Option<String>,
    #[serde(default, borrow, deserialize_with = "blocks")]
    pub content: Vec<RawBlock<'a>>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub usage: Option<TokenUsage>,
}

/// What one request to the model took in and gave out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct TokenUsage {
    #[serde(deserialize_with = "lenient::or_default")]
    pub input_tokens: u64,
    #[serde(deserialize_with = "lenient::or_default")]
    pub output_tokens: u64,
    #[serde(deserialize_with = "lenient::or_default")]
    pub cache_read_input_tokens: u64,
    #[serde(deserialize_with = "lenient::or_default")]
    pub cache_creation_input_tokens: u64,
}

impl TokenUsage {
    /// All that the model read: its context.
    pub fn read(&self) -> u64 {
        self.input_tokens + self.cache_read_input_tokens + self.cache_creation_input_tokens
    }
}

/// One content block.
#[derive(Debug, Clone)]
pub enum RawBlock<'a> {
    /// Content that is plain text stands for one text block.
    Text(String),
    /// The fields of all known kinds, and the whole of it.
    Object {
        fields: BlockFields<'a>,
        raw: &'a RawValue,
    },
}

#[derive(Debug, Clone, Default, Deserialize)]
pub struct BlockFields<'a> {
    #[serde(rename = "type", default, borrow)]
    pub kind: Cow<'a, str>,
    #[serde(default)]
    pub text: Option<String>,
    #[serde(default)]
    pub thinking: Option<String>,
    #[serde(default)]
    pub id: Option<String>,
    #[serde(default)]
    pub name: Option<String>,
    #[serde(default)]
    pub input: Option<RawJson>,
    #[serde(default)]
    pub tool_use_id: Option<String>,
    #[serde(default, deserialize_with = "lenient::flag")]
    pub is_error: bool,
    #[serde(default, borrow)]
    pub content: Option<&'a RawValue>,
}

/// Content is a list of blocks, or plain text.
fn blocks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<RawBlock<'de>>, D::Error> {
    deserializer.deserialize_any(Blocks)
}

struct Blocks;

impl<'de> Visitor<'de> for Blocks {
    type Value = Vec<RawBlock<'de>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("text or a list of blocks")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(vec![RawBlock::Text(text.to_owned())])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut blocks = Vec::new();
        while let Some(raw) = items.next_element::<&'de RawValue>()? {
            // A block that does not fit has no kind and is passed on whole.
            let fields = serde_json::from_str(raw.get()).unwrap_or_default();
            blocks.push(RawBlock::Object { fields, raw });
        }
        Ok(blocks)
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct StreamLine {
    pub event: StreamEvent,
    #[serde(default, deserialize_with = "lenient::text")]
    pub api_message_id: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub parent_tool_use_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum StreamEvent {
    MessageStart {
        message: StreamMessage,
    },
    ContentBlockStart {
        index: u64,
        content_block: ContentBlockStart,
    },
    ContentBlockDelta {
        index: u64,
        delta: StreamDelta,
    },
    ContentBlockStop {},
    MessageDelta {},
    MessageStop {},
    #[serde(other)]
    Other,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct StreamMessage {
    pub id: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ContentBlockStart {
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default)]
    pub id: Option<String>,
    #[serde(default)]
    pub name: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum StreamDelta {
    TextDelta {
        text: String,
    },
    ThinkingDelta {
        thinking: String,
    },
    InputJsonDelta {
        partial_json: String,
    },
    SignatureDelta {},
    #[serde(other)]
    Other,
}
