//! What a script can tell the agent to do. A script is a user message with the text `{"steps": [...]}`.

use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    pub steps: Vec<Step>,
}

/// One step, written as `{"say": "text"}`; a step without a value is a bare string such as `"crash"`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// A text block at once.
    Say(String),
    Think(String),
    /// A text block in pieces.
    Stream(Stream),
    Tool(ToolStep),
    /// All at the same time.
    Together(Vec<Step>),
    Subagent(SubagentStep),
    /// AskUserQuestion with this input.
    Question(Value),
    /// ExitPlanMode with this plan.
    Plan(String),
    Elicit(Map<String, Value>),
    /// A retry of the API, with these fields over the usual ones.
    Retry(Map<String, Value>),
    /// Fields that replace those of the turn's result.
    Result(Map<String, Value>),
    /// Asks for the tool and takes the request back after a while.
    Withdraw {
        tool: ToolStep,
        #[serde(default)]
        after_ms: u64,
    },
    SleepMs(u64),
    Stderr(String),
    Exit {
        code: u8,
    },
    Crash,
    /// A line as it stands.
    Raw {
        text: String,
    },
    RawBytes(Vec<u8>),
    /// A JSON line of at least so many bytes.
    HugeLine {
        bytes: usize,
    },
    InvalidUtf8,
    /// Half a line, then the end.
    HalfLine,
    RepeatRequestId,
    Deep {
        levels: usize,
    },
    /// Withdraws a request that was never made.
    CancelUnknown,
    IgnoreStdin,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Stream {
    Chunks(Vec<String>),
    Paced { chunks: Vec<String>, delay_ms: u64 },
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolStep {
    pub name: String,
    #[serde(default)]
    pub input: Map<String, Value>,
    /// False runs the tool as if it were pre-allowed.
    #[serde(default = "yes")]
    pub ask: bool,
    /// The tool use id, if it matters.
    #[serde(default)]
    pub id: Option<String>,
    /// Fields that replace those of the request, such as `decision_reason`.
    #[serde(default)]
    pub request: Map<String, Value>,
    /// What a tool gives that the agent cannot run itself.
    #[serde(default)]
    pub result: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubagentStep {
    pub name: String,
    #[serde(default)]
    pub steps: Vec<Step>,
}

fn yes() -> bool {
    true
}

impl ToolStep {
    pub fn new(name: &str, input: Value) -> Self {
        let input = match input {
            Value::Object(input) => input,
            _ => Map::new(),
        };
        Self {
            name: name.to_owned(),
            input,
            ask: true,
            id: None,
            request: Map::new(),
            result: None,
        }
    }
}
