//! The agents that sessions can run: where their programs are, what they can
//! express, and how their events become Sayso's own.

pub mod claude;
pub mod link;

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use sayso_broker::{AgentActivity, Ask, EndReason, Json, Mode};
use sayso_claude::{LaunchOptions, ToolStart};
use sayso_protocol::{
    AgentInfo, Capabilities, CommandInfo, Delta, EntryBody, ModelInfo, PermissionModeInfo,
    RequestDetail, Tokens,
};
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::config::Config;
use crate::rules::Call;

pub const CLAUDE: &str = "claude";
pub const DEMO: &str = "demo";

const INSTALL_HINT: &str = "Claude Code was not found. Install it with \
    `npm install -g @anthropic-ai/claude-code`, or name the program with --claude. \
    The demo agent works without it.";

/// What an agent does, in Sayso's terms. Made by an adapter, read by the hub.
#[derive(Debug)]
pub enum AgentOutput {
    /// What follows comes from this line of the agent's.
    Line(u64),
    /// What was sent under this id is with the agent.
    Written(Uuid),
    NotWritten(Uuid),
    Input(Reading),
    Ready,
    Entry {
        parent_tool_use_id: Option<String>,
        body: EntryBody,
    },
    Delta(Delta),
    /// Something that is no tool call: no rule may answer it.
    Asked(Box<Ask>),
    ToolAsked(Box<AskedTool>),
    /// A request that an earlier server has on record, by the agent's own id.
    AskedBefore(Json),
    /// A tool is about to run and waits for a word.
    ToolStarting(Starting),
    ToolRan {
        tool_use_id: String,
    },
    Withdrawn(Json),
    Activity(AgentActivity),
    Mode(Mode),
    /// The agent's own name for the conversation, needed to resume it.
    AgentSession(String),
    Model(String),
    Title(String),
    /// What the agent offers to a human who writes to it.
    Features {
        commands: Vec<CommandInfo>,
        models: Vec<ModelInfo>,
    },
    /// Tokens that the model read last.
    ContextUsed(u64),
    ContextWindow(u64),
    Message {
        id: Uuid,
        progress: MessageProgress,
    },
    TurnEnded(EndedTurn),
    ControlDone {
        token: u64,
        result: Result<Option<Arc<RawValue>>, String>,
    },
    Ended(EndReason),
}

/// Whether an agent reads what it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    GoesOn,
    /// Something has waited for it for a moment.
    Stuck,
}

/// A tool call that is asked about.
#[derive(Debug)]
pub struct AskedTool {
    /// Without its detail.
    pub ask: Ask,
    pub detail: RequestDetail,
    /// What rules look at.
    pub call: Call,
}

/// A tool that is about to run, with what rules look at.
#[derive(Debug)]
pub struct Starting {
    pub start: Box<ToolStart>,
    pub call: Box<Call>,
}

/// What became of a message that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageProgress {
    Read,
    /// The agent will not read it.
    Dropped,
}

#[derive(Debug)]
pub struct EndedTurn {
    pub is_error: bool,
    pub reason: Option<String>,
    pub text: Option<String>,
    pub duration_ms: u64,
    /// The running total, not the turn's own.
    pub total_cost_usd: f64,
    pub tokens: Tokens,
}

/// A program that speaks an agent's protocol, and its leading arguments.
#[derive(Clone, Debug)]
pub struct Program {
    pub path: PathBuf,
    pub leading_arguments: Vec<OsString>,
}

/// Which agents there are. Looked up once at the start.
#[derive(Clone, Debug)]
pub struct Agents {
    claude: Option<PathBuf>,
    claude_version: Option<String>,
    /// What each agent offered when it last ran.
    models: HashMap<String, Vec<ModelInfo>>,
    own_program: PathBuf,
}

impl Agents {
    pub fn find(config: &Config, own_program: PathBuf) -> Self {
        let claude = match &config.claude {
            Some(path) => path.is_file().then(|| path.clone()),
            None => which::which("claude").ok(),
        };
        Self {
            claude,
            claude_version: None,
            models: HashMap::new(),
            own_program,
        }
    }

    pub fn own_program(&self) -> &Path {
        &self.own_program
    }

    pub fn claude_path(&self) -> Option<&Path> {
        self.claude.as_deref()
    }

    pub fn set_claude_version(&mut self, version: String) {
        self.claude_version = Some(version);
    }

    /// True when this is news.
    pub fn set_models(&mut self, agent: &str, models: Vec<ModelInfo>) -> bool {
        if models.is_empty() || self.models.get(agent) == Some(&models) {
            return false;
        }
        self.models.insert(agent.to_owned(), models);
        true
    }

    fn models(&self, agent: &str) -> Vec<ModelInfo> {
        self.models.get(agent).cloned().unwrap_or_default()
    }

    pub fn infos(&self) -> Vec<AgentInfo> {
        vec![self.claude_info(), self.demo_info()]
    }

    pub fn info(&self, agent: &str) -> Option<AgentInfo> {
        self.infos().into_iter().find(|info| info.agent == agent)
    }

    /// `None` when the agent is unknown or its program is not there.
    pub fn program(&self, agent: &str) -> Option<Program> {
        match agent {
            CLAUDE => self.claude.clone().map(|path| Program {
                path,
                leading_arguments: Vec::new(),
            }),
            DEMO => Some(Program {
                path: self.own_program.clone(),
                leading_arguments: vec!["fake-claude".into(), "--".into()],
            }),
            _ => None,
        }
    }

    fn claude_info(&self) -> AgentInfo {
        let available = self.claude.is_some();
        AgentInfo {
            agent: CLAUDE.to_owned(),
            label: "Claude Code".to_owned(),
            available,
            version: self.claude_version.clone(),
            problem: (!available).then(|| INSTALL_HINT.to_owned()),
            permission_modes: claude::permission_modes(),
            models: self.models(CLAUDE),
            capabilities: claude::capabilities(),
        }
    }

    fn demo_info(&self) -> AgentInfo {
        AgentInfo {
            agent: DEMO.to_owned(),
            label: "Demo agent".to_owned(),
            available: true,
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            problem: None,
            permission_modes: claude::permission_modes(),
            models: self.models(DEMO),
            capabilities: Capabilities {
                set_model: false,
                images: false,
                ..claude::capabilities()
            },
        }
    }
}

/// Asks the program for its version; `None` when it does not say within ten seconds.
pub async fn version_of(program: &Path) -> Option<String> {
    let mut command = tokio::process::Command::new(program);
    command
        .arg("--version")
        // Not where Sayso was started: a folder may bring settings of its own.
        .current_dir("/")
        .env_clear()
        .envs(LaunchOptions::new(program, "/").environment(std::env::vars_os()))
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let output = tokio::time::timeout(Duration::from_secs(10), command.output());
    let output = output.await.ok()?.ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let first = text.split_whitespace().next()?;
    first
        .starts_with(|first: char| first.is_ascii_digit())
        .then(|| first.to_owned())
}

fn mode(name: &str, label: &str, description: &str, dangerous: Danger) -> PermissionModeInfo {
    PermissionModeInfo {
        mode: name.to_owned(),
        label: label.to_owned(),
        description: description.to_owned(),
        dangerous: dangerous == Danger::AsksNothing,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Danger {
    Asks,
    AsksNothing,
}
