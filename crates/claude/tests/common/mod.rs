//! One running agent and a few words to talk to it.
#![allow(dead_code, reason = "each test file uses its own part of the words")]

use std::ffi::OsString;
use std::time::Duration;

use sayso_claude::driver::{Limits, spawn_with};
use sayso_claude::event::{Exited, TurnResult};
use sayso_claude::{
    AgentEvent, AgentHandle, AgentInput, ContentBlock, ControlRequest, ControlSession,
    LaunchOptions, PermissionAnswer, RawJson, SendError, ToolAsk, connect,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::mpsc;
use uuid::Uuid;

/// Only stops a test that hangs; nothing is measured with it.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Agent {
    pub(crate) handle: AgentHandle,
    pub(crate) events: mpsc::Receiver<AgentEvent>,
    pub(crate) folder: TempDir,
    /// Kinds of all events so far, in order.
    pub(crate) kinds: Vec<&'static str>,
    messages: u128,
}

impl Agent {
    /// The fake agent as a process of its own.
    pub(crate) fn process() -> Self {
        Self::process_with(|_| {}, Limits::default())
    }

    pub(crate) fn process_with(change: impl FnOnce(&mut LaunchOptions), limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut options = LaunchOptions::new(env!("CARGO_BIN_EXE_fake-claude"), folder.path());
        change(&mut options);
        let (sender, events) = mpsc::channel(16);
        let handle = spawn_with(&options, sender, limits).unwrap();
        Self::new(handle, events, folder)
    }

    /// The fake agent inside this process, over pipes in memory.
    pub(crate) fn in_process(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        arguments.push("--include-partial-messages".into());
        let mut cwd = OsString::from("--cwd=");
        cwd.push(folder.path());
        arguments.push(cwd);
        let (host_reads, agent_writes) = tokio::io::duplex(4096);
        let (agent_reads, host_writes) = tokio::io::duplex(4096);
        tokio::spawn(sayso_claude::fake::run(
            arguments,
            agent_reads,
            agent_writes,
        ));
        let (sender, events) = mpsc::channel(16);
        let session = ControlSession::new();
        let handle = connect(host_reads, host_writes, sender, Limits::default(), session);
        Self::new(handle, events, folder)
    }

    fn new(handle: AgentHandle, events: mpsc::Receiver<AgentEvent>, folder: TempDir) -> Self {
        Self {
            handle,
            events,
            folder,
            kinds: Vec::new(),
            messages: 0,
        }
    }

    pub(crate) fn say(&mut self, text: &str) -> Uuid {
        self.messages += 1;
        let uuid = Uuid::from_u128(self.messages);
        self.handle.try_send(message(uuid, text)).unwrap();
        uuid
    }

    pub(crate) fn script(&mut self, steps: Value) {
        self.say(&format!(r#"{{"steps":{steps}}}"#));
    }

    pub(crate) fn control(&self, token: u64, request: ControlRequest) {
        self.handle
            .try_send(AgentInput::Control { token, request })
            .unwrap();
    }

    pub(crate) fn answer(&self, ask: &ToolAsk, answer: PermissionAnswer) -> Result<(), SendError> {
        self.handle.try_send(AgentInput::Answer {
            request_id: ask.request_id.clone(),
            answer,
        })
    }

    pub(crate) fn allow(&self, ask: &ToolAsk) {
        self.answer(ask, allow(None, Vec::new())).unwrap();
    }

    pub(crate) fn deny(&self, ask: &ToolAsk, message: &str) {
        let message = message.to_owned();
        let interrupt = false;
        self.answer(ask, PermissionAnswer::Deny { message, interrupt })
            .unwrap();
    }

    pub(crate) async fn next(&mut self) -> AgentEvent {
        let event = tokio::time::timeout(PATIENCE, self.events.recv())
            .await
            .unwrap_or_else(|_| panic!("nothing more came after {:?}", self.kinds))
            .unwrap_or_else(|| panic!("the events ended after {:?}", self.kinds));
        self.kinds.push(event.kind());
        event
    }

    pub(crate) async fn until<T>(&mut self, mut found: impl FnMut(AgentEvent) -> Option<T>) -> T {
        loop {
            if let Some(value) = found(self.next().await) {
                return value;
            }
        }
    }

    pub(crate) async fn until_kind(&mut self, kind: &str) -> AgentEvent {
        self.until(|event| (event.kind() == kind).then_some(event))
            .await
    }

    pub(crate) async fn ask(&mut self) -> ToolAsk {
        self.until(|event| match event {
            AgentEvent::Asked(ask) => Some(*ask),
            _ => None,
        })
        .await
    }

    pub(crate) async fn turn_end(&mut self) -> TurnResult {
        self.until(|event| match event {
            AgentEvent::TurnEnded(result) => Some(*result),
            _ => None,
        })
        .await
    }

    pub(crate) async fn control_done(&mut self, wanted: u64) -> Result<Option<RawJson>, String> {
        self.until(|event| match event {
            AgentEvent::ControlDone { token, result } if token == wanted => {
                Some(result.map_err(|error| error.code.unwrap_or(error.message)))
            }
            _ => None,
        })
        .await
    }

    /// The end, which must be the last event.
    pub(crate) async fn exited(&mut self) -> Exited {
        let exited = self
            .until(|event| match event {
                AgentEvent::Exited(exited) => Some(*exited),
                _ => None,
            })
            .await;
        assert_eq!(self.events.recv().await, None, "Exited is the last event");
        exited
    }

    pub(crate) fn file(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.folder.path().join(name)).ok()
    }
}

pub(crate) fn message(uuid: Uuid, text: &str) -> AgentInput {
    AgentInput::UserMessage {
        uuid,
        content: vec![ContentBlock::Text {
            text: text.to_owned(),
        }],
        should_query: true,
        priority: None,
    }
}

pub(crate) fn allow(
    updated_input: Option<Value>,
    updated_permissions: Vec<RawJson>,
) -> PermissionAnswer {
    PermissionAnswer::Allow {
        updated_input: updated_input.map(RawJson::from),
        updated_permissions,
        permanent: false,
    }
}

pub(crate) fn bash(command: &str) -> Value {
    json!({"tool": {"name": "Bash", "input": {"command": command}}})
}

/// Living processes of a group. One that was killed but not yet collected by its new parent is not living.
pub(crate) fn living_in_group(group: u32) -> Vec<String> {
    let mut living = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        // The name stands in parentheses and may hold anything, so the fields are counted from its end.
        let fields: Vec<&str> = stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .collect();
        if fields.get(2) == Some(&group.to_string().as_str()) && fields.first() != Some(&"Z") {
            living.push(stat);
        }
    }
    living
}

/// A killed process needs a moment to be gone.
pub(crate) async fn wait_until_group_is_empty(group: u32) {
    let gone = async {
        while !living_in_group(group).is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, gone)
        .await
        .unwrap_or_else(|_| {
            panic!("still alive: {:?}", living_in_group(group));
        });
}
