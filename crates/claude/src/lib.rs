//! Claude Code's stdio control protocol for a host that keeps a human in the loop.
//!
//! The modules follow the way of the data: [`launch`] and [`process`] start the agent, [`mod@line`] cuts its
//! output into lines, [`wire`] reads a line, [`session`] turns it into [`AgentEvent`]s and turns
//! [`AgentInput`]s into lines, and [`driver`] moves both through the process. [`fake`] is the other side: a
//! deterministic agent that speaks the same protocol without a model. [`history`] reads the conversations that
//! the agent kept in its own files.

pub mod ask;
pub mod driver;
pub mod event;
pub mod history;
pub mod input;
pub mod launch;
pub mod line;
pub mod mode;
pub mod process;
pub mod raw;
pub mod recent;
pub mod session;
pub mod wire;

pub mod fake;

pub use ask::{
    Elicitation, ElicitationForm, ModeEffect, PermissionUpdate, Suggestion, ToolAsk, ToolStart,
};
pub use driver::{AgentFault, AgentHandle, EndedAgent, connect, spawn};
pub use event::AgentEvent;
pub use input::{
    AgentInput, AnswerValue, BeforeTool, ContentBlock, ControlRequest, ElicitationAnswer,
    PermissionAnswer, Priority, SendError, answer_id,
};
pub use launch::{LaunchOptions, PassedVariables};
pub use mode::PermissionMode;
pub use process::LaunchError;
pub use raw::RawJson;
pub use recent::RecentIds;
pub use session::{ControlSession, ProtocolError, Reception, Reply};
