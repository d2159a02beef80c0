use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::lenient;
use crate::raw::RawJson;

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct AssistantLine {
    pub message: MessageBody,
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
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct UserLine {
    pub message: MessageBody,
    /// The agent's files spell it differently from its output.
    #[serde(
        default,
        alias = "toolUseResult",
        deserialize_with = "lenient::or_default"
    )]
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
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct MessageBody {
    #[serde(default)]
    pub id: String,
    #[serde(default, deserialize_with = "lenient::text")]
    pub model: Option<String>,
    #[serde(default, deserialize_with = "blocks")]
    pub content: Vec<RawBlock>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub usage: Option<TokenUsage>,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
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

/// One content block: the fields of all known kinds, and the whole of it.
#[derive(Debug, Clone, PartialEq)]
pub struct RawBlock {
    pub fields: BlockFields,
    pub raw: RawJson,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub struct BlockFields {
    #[serde(rename = "type", default)]
    pub kind: String,
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
    #[serde(default)]
    pub content: Option<RawJson>,
}

/// Content is a list of blocks, or plain text that stands for one text block.
fn blocks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<RawBlock>, D::Error> {
    use serde::de::Error;

    let raw = RawJson::deserialize(deserializer)?;
    if let Ok(text) = raw.parse::<String>() {
        let fields = BlockFields {
            kind: "text".to_owned(),
            text: Some(text),
            ..BlockFields::default()
        };
        return Ok(vec![RawBlock { fields, raw }]);
    }
    let items: Vec<RawJson> = raw.parse().map_err(D::Error::custom)?;
    Ok(items
        .into_iter()
        .map(|raw| RawBlock {
            // A block that does not fit has no kind and is passed on whole.
            fields: raw.parse().unwrap_or_default(),
            raw,
        })
        .collect())
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
