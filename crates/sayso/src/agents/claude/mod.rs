//! Claude Code in Sayso's terms.

mod answer;
mod ask;
mod file;
mod form;
mod history;
mod interned;
mod own_rules;
mod reading;
mod transcript;
pub mod trust;
mod unasked;

use sayso_broker::{AgentActivity, EndReason, Json, Mode};
use sayso_claude::event::{
    AssistantMessage, CommandLifecycle, Exited, Initialized, SessionState, TaskUpdate,
};
use sayso_claude::{AgentEvent, AgentFault, RawJson};
use sayso_protocol::{Capabilities, CommandInfo, Delta, DeltaKind, ModelInfo, PermissionModeInfo};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use crate::rules::Call;

use super::{AgentOutput, AskedTool, Danger, MessageProgress, Starting, mode};

pub use answer::{control, input_for, message_input};
pub use ask::{detail_json, refusable, restored};
pub use file::changed_file;
pub use history::{OldConversation, conversation, conversations, home};
pub use own_rules::{hand_over, read as read_rules};
pub use reading::is_destructive;
pub use unasked::{explained, may_have_to_ask, must_ask};

pub fn capabilities() -> Capabilities {
    Capabilities {
        edit_input: true,
        deny_message: true,
        interrupt: true,
        set_permission_mode: true,
        set_model: true,
        resume: true,
        images: true,
    }
}

/// Older front ends have names of their own for some modes.
pub fn current_mode_name(mode: &str) -> &str {
    match mode {
        "skip" => "bypassPermissions",
        "delegate" => "default",
        current => current,
    }
}

pub fn permission_modes() -> Vec<PermissionModeInfo> {
    vec![
        mode(
            "default",
            "Ask",
            "Asks before edits and commands.",
            Danger::Asks,
        ),
        mode(
            "acceptEdits",
            "Accept edits",
            "Edits files in the folder without asking; asks before commands.",
            Danger::Asks,
        ),
        mode(
            "plan",
            "Plan",
            "Reads and plans; asks you to approve the plan.",
            Danger::Asks,
        ),
        mode(
            "auto",
            "Auto",
            "A check by the model's maker decides what runs unasked; what it doubts is refused.",
            Danger::AsksNothing,
        ),
        mode(
            "dontAsk",
            "Don't ask",
            "Refuses whatever would need your permission.",
            Danger::Asks,
        ),
        mode(
            "bypassPermissions",
            "Bypass",
            "Asks nothing and runs everything. Only for machines you can lose.",
            Danger::AsksNothing,
        ),
    ]
}

/// Turns one agent's events into Sayso's. Lives as long as the agent's process.
#[derive(Debug)]
pub struct Adapter {
    cwd: PathBuf,
    /// Subagents by id, for people: their names rather than their numbers.
    subagents: HashMap<String, String>,
    /// The agent reports its state; otherwise it is read off its turns.
    reports_state: bool,
    /// What an earlier server has on record, by the agent's own ids: it is not looked into again.
    asked_before: HashSet<String>,
}

impl Adapter {
    /// `cwd` is the folder that the agent works in, by its real path if that can be told: rules are written for
    /// that, and an agent stays where it was started.
    pub fn new(cwd: PathBuf) -> Self {
        Self {
            cwd: cwd.canonicalize().unwrap_or(cwd),
            subagents: HashMap::new(),
            reports_state: false,
            asked_before: HashSet::new(),
        }
    }

    /// Of an agent that asked these before, whose lines may come again.
    pub fn after(self, asked: impl IntoIterator<Item = String>) -> Self {
        Self {
            asked_before: asked.into_iter().collect(),
            ..self
        }
    }

    pub fn translate(&mut self, event: AgentEvent) -> Vec<AgentOutput> {
        match event {
            AgentEvent::Initialized(initialized) => {
                vec![features(*initialized), AgentOutput::Ready]
            }
            AgentEvent::Init(init) => {
                let mut outputs = vec![AgentOutput::AgentSession(init.agent_session_id)];
                outputs.extend(init.model.map(AgentOutput::Model));
                outputs.push(AgentOutput::Mode(Mode::new(init.permission_mode.as_str())));
                outputs
            }
            AgentEvent::StateChanged(state) => {
                self.reports_state = true;
                vec![AgentOutput::Activity(match state {
                    SessionState::Running | SessionState::RequiresAction => AgentActivity::Working,
                    SessionState::Idle => AgentActivity::Idle,
                })]
            }
            AgentEvent::ModeChanged { mode } => {
                vec![AgentOutput::Mode(Mode::new(mode.as_str()))]
            }
            AgentEvent::Asked(asked)
                if !self.asked_before.is_empty()
                    && self
                        .asked_before
                        .remove(native_id(&asked.request_id).as_str()) =>
            {
                vec![AgentOutput::AskedBefore(native_id(&asked.request_id))]
            }
            AgentEvent::Asked(asked) => {
                let label = asked
                    .agent_id
                    .as_ref()
                    .and_then(|id| self.subagents.get(id).cloned());
                let input = asked.input.to_value().unwrap_or_default();
                let call = Call::new(&asked.tool_name, input, &self.cwd).with_links_from_here();
                let (ask, detail) = ask::tool(*asked, label, &call);
                vec![AgentOutput::ToolAsked(Box::new(AskedTool {
                    ask,
                    detail,
                    call,
                }))]
            }
            AgentEvent::ToolStarting(start) => {
                let input = start.input.to_value().unwrap_or_default();
                let call = Call::new(&start.tool_name, input, &self.cwd).with_links_from_here();
                let call = Box::new(call);
                vec![AgentOutput::ToolStarting(Starting { start, call })]
            }
            AgentEvent::ToolRan { tool_use_id } => vec![AgentOutput::ToolRan { tool_use_id }],
            AgentEvent::Elicited(elicitation) => {
                let ask = Box::new(ask::elicitation(*elicitation));
                vec![AgentOutput::Asked(ask)]
            }
            AgentEvent::OtherRequest {
                request_id,
                subtype,
                answered: false,
                raw,
                ..
            } => {
                let ask = Box::new(ask::other(&request_id, subtype, &raw));
                vec![AgentOutput::Asked(ask)]
            }
            AgentEvent::OtherRequest { answered: true, .. } => Vec::new(),
            AgentEvent::Withdrawn { request_id, .. } => {
                vec![AgentOutput::Withdrawn(native_id(&request_id))]
            }
            AgentEvent::TurnEnded(result) => self.turn_ended(&result),
            AgentEvent::CommandLifecycle(lifecycle) => message_progress(&lifecycle),
            AgentEvent::Assistant(message) => {
                let used = context_used(&message);
                let mut outputs = transcript::assistant(*message);
                outputs.extend(used.map(AgentOutput::ContextUsed));
                outputs
            }
            AgentEvent::Delta {
                message_id,
                index,
                kind,
                text,
                parent_tool_use_id: None,
            } => vec![AgentOutput::Delta(Delta {
                message_id,
                index: transcript::index(index),
                kind: match kind {
                    sayso_claude::event::DeltaKind::Text => DeltaKind::Text,
                    sayso_claude::event::DeltaKind::Thinking => DeltaKind::Thinking,
                    sayso_claude::event::DeltaKind::ToolInput => DeltaKind::ToolInput,
                },
                text,
                restart: false,
            })],
            AgentEvent::TaskUpdate(task) => {
                self.note_subagent(&task);
                Vec::new()
            }
            AgentEvent::TitleChanged { title } => vec![AgentOutput::Title(title)],
            AgentEvent::ControlDone { token, result } => vec![AgentOutput::ControlDone {
                token,
                result: result
                    .map(|data| data.as_ref().map(RawJson::to_raw_value))
                    .map_err(|error| error.message),
            }],
            AgentEvent::Exited(exited) => vec![AgentOutput::Ended(end_reason(&exited))],
            other => transcript::entries(other),
        }
    }

    fn turn_ended(&self, result: &sayso_claude::event::TurnResult) -> Vec<AgentOutput> {
        let windows = result.model_usage.values();
        let window = windows.filter_map(|usage| usage.context_window).max();
        let mut outputs: Vec<AgentOutput> =
            window.map(AgentOutput::ContextWindow).into_iter().collect();
        outputs.push(transcript::turn_ended(result));
        if !self.reports_state {
            outputs.push(AgentOutput::Activity(AgentActivity::Idle));
        }
        outputs
    }

    fn note_subagent(&mut self, task: &TaskUpdate) {
        let name = match (&task.subagent_type, &task.description) {
            (Some(kind), Some(description)) => format!("{kind}: {description}"),
            (Some(one), None) | (None, Some(one)) => one.clone(),
            (None, None) => return,
        };
        self.subagents.entry(task.task_id.clone()).or_insert(name);
    }
}

fn features(initialized: Initialized) -> AgentOutput {
    let commands = initialized.commands.into_iter().map(|command| CommandInfo {
        name: command.name,
        description: command.description,
        argument_hint: command.argument_hint,
    });
    let models = initialized.models.into_iter().map(|model| ModelInfo {
        label: match model.display_name.is_empty() {
            true => model.value.clone(),
            false => model.display_name,
        },
        value: model.value,
        description: Some(model.description).filter(|text| !text.is_empty()),
    });
    AgentOutput::Features {
        commands: commands.collect(),
        models: models.collect(),
    }
}

/// Only the main thread fills the context that the human sees.
fn context_used(message: &AssistantMessage) -> Option<u64> {
    if message.parent_tool_use_id.is_some() || message.is_api_error {
        return None;
    }
    message
        .usage
        .map(|usage| usage.read())
        .filter(|used| *used > 0)
}

fn message_progress(lifecycle: &CommandLifecycle) -> Vec<AgentOutput> {
    let progress = match lifecycle.state.as_str() {
        "started" | "completed" => MessageProgress::Read,
        "cancelled" => MessageProgress::Dropped,
        _ => return Vec::new(),
    };
    match lifecycle.message_uuid.parse() {
        Ok(id) => vec![AgentOutput::Message { id, progress }],
        Err(_) => Vec::new(),
    }
}

fn end_reason(exited: &Exited) -> EndReason {
    let Some(fault) = &exited.error else {
        return EndReason::Finished;
    };
    let mut text = fault.to_string();
    let stderr = exited.stderr_tail.trim();
    if !stderr.is_empty() && !text.contains(stderr) {
        let tail: Vec<&str> = stderr.lines().rev().take(8).collect();
        let tail: Vec<&str> = tail.into_iter().rev().collect();
        text = format!("{text}\n{}", tail.join("\n"));
    }
    match fault {
        AgentFault::Lost(_) | AgentFault::Unclaimed => EndReason::Lost(text),
        AgentFault::StartRefused(_)
        | AgentFault::EndedBeforeReady(_)
        | AgentFault::NotReadyInTime(_)
        | AgentFault::Protocol(_)
        | AgentFault::Output(_)
        | AgentFault::InputStalled
        | AgentFault::Crashed(_) => EndReason::Failed(text),
    }
}

/// The agent's request id as the broker keeps it.
pub fn native_id(request_id: &str) -> Json {
    // A text is always JSON.
    Json::new(&serde_json::to_string(request_id).unwrap_or_default())
}
