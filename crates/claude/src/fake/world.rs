//! What the reading loop and a playing turn share.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc, oneshot};
use uuid::{Builder, Uuid};

use super::options::Options;
use crate::mode::PermissionMode;

#[derive(Debug)]
pub(super) struct World {
    pub(super) options: Options,
    output: mpsc::Sender<Vec<u8>>,
    ignore_input: Notify,
    state: Mutex<State>,
}

#[derive(Debug)]
pub(super) struct State {
    counter: u64,
    pub(super) session_id: Uuid,
    pub(super) mode: PermissionMode,
    pub(super) model: String,
    pub(super) open: IndexMap<String, OpenRequest>,
    pub(super) rules: Vec<(String, Option<String>)>,
    /// Denials that the host gave. They are listed only: the host denies before the agent could.
    pub(super) denied: Vec<String>,
    pub(super) denials: Vec<Value>,
    pub(super) results: u64,
    pub(super) last_result_failed: bool,
    known_messages: HashSet<String>,
    input_closed: bool,
}

#[derive(Debug)]
pub(super) struct OpenRequest {
    pub(super) line: Value,
    reply: oneshot::Sender<Reply>,
}

/// How an open request ended.
#[derive(Debug)]
pub(super) enum Reply {
    Answered(Value),
    Error(String),
    Withdrawn,
    InputClosed,
}

impl World {
    pub(super) fn new(options: Options, output: mpsc::Sender<Vec<u8>>) -> Self {
        let state = State {
            counter: 0,
            session_id: options.session_id,
            mode: options.mode.clone(),
            model: options.model.clone(),
            open: IndexMap::new(),
            rules: Vec::new(),
            denied: Vec::new(),
            denials: Vec::new(),
            results: 0,
            last_result_failed: false,
            known_messages: HashSet::new(),
            input_closed: false,
        };
        Self {
            options,
            output,
            ignore_input: Notify::new(),
            state: Mutex::new(state),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self) -> u64 {
        let mut state = self.state();
        state.counter += 1;
        state.counter
    }

    pub(super) fn new_uuid(&self) -> Uuid {
        // An odd factor spreads the counter without ever giving the same id twice.
        let spread =
            u128::from(self.count()).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        let bits = self.options.session_id.as_u128().wrapping_add(spread);
        Builder::from_random_bytes(bits.to_be_bytes()).into_uuid()
    }

    /// For ids that are not UUIDs: messages, tool uses, subagents.
    pub(super) fn new_id(&self, prefix: &str) -> String {
        format!("{prefix}_{}", self.new_uuid().simple())
    }

    /// From now on the agent is deaf: it neither reads nor notices the end of its input.
    pub(super) fn ignore_input(&self) {
        self.ignore_input.notify_one();
    }

    pub(super) async fn input_ignored(&self) {
        self.ignore_input.notified().await;
    }

    pub(super) async fn emit_bytes(&self, bytes: Vec<u8>) {
        let _ = self.output.send(bytes).await;
    }

    pub(super) async fn emit(&self, line: &Value) {
        self.emit_bytes(format!("{line}\n").into_bytes()).await;
    }

    /// A line that belongs to the conversation.
    pub(super) async fn emit_message(&self, mut line: Value) {
        line["uuid"] = json!(self.new_uuid());
        line["session_id"] = json!(self.state().session_id);
        self.emit(&line).await;
    }

    pub(super) async fn emit_state(&self, state: &str) {
        self.emit_message(
            json!({"type": "system", "subtype": "session_state_changed", "state": state}),
        )
        .await;
    }

    pub(super) async fn emit_lifecycle(&self, message_uuid: Option<&str>, state: &str) {
        if let Some(uuid) = message_uuid {
            self.emit_message(
                json!({"type": "command_lifecycle", "command_uuid": uuid, "state": state}),
            )
            .await;
        }
    }

    pub(super) fn is_new_message(&self, uuid: Option<&str>) -> bool {
        uuid.is_none_or(|uuid| self.state().known_messages.insert(uuid.to_owned()))
    }

    pub(super) fn exit_code(&self) -> u8 {
        u8::from(self.state().last_result_failed)
    }

    pub(super) async fn set_mode(&self, mode: PermissionMode) {
        self.state().mode = mode.clone();
        self.emit_message(json!({
            "type": "system", "subtype": "status", "status": null, "permissionMode": mode,
        }))
        .await;
    }

    /// Sends a request to the host and gives the place where its answer will be.
    pub(super) async fn open(&self, request: Value) -> (String, oneshot::Receiver<Reply>) {
        let request_id = self.new_uuid().to_string();
        let line = json!({"type": "control_request", "request_id": request_id, "request": request});
        let (reply, answer) = oneshot::channel();
        let closed = self.state().input_closed;
        if closed {
            let _ = reply.send(Reply::InputClosed);
            return (request_id, answer);
        }
        self.emit_state("requires_action").await;
        let open = OpenRequest {
            line: line.clone(),
            reply,
        };
        self.state().open.insert(request_id.clone(), open);
        self.emit(&line).await;
        (request_id, answer)
    }

    /// An answer to a request that is not open is ignored, as the CLI does.
    pub(super) async fn take_answer(&self, response: &Value) {
        let request_id = response["request_id"].as_str().unwrap_or_default();
        let closed = self.state().open.shift_remove(request_id);
        let Some(request) = closed else {
            return;
        };
        self.emit_running_if_none_open().await;
        let reply = match response["subtype"].as_str() {
            Some("success") => Reply::Answered(response["response"].clone()),
            _ => Reply::Error(response["error"].as_str().unwrap_or_default().to_owned()),
        };
        let _ = request.reply.send(reply);
    }

    async fn emit_running_if_none_open(&self) {
        let none_open = self.state().open.is_empty();
        if none_open {
            self.emit_state("running").await;
        }
    }

    /// Tells the host first and the waiting turn afterwards, so that the order of the lines is the CLI's.
    pub(super) async fn withdraw(&self, request_id: &str) {
        let withdrawn = self.state().open.shift_remove(request_id);
        if let Some(request) = withdrawn {
            self.emit(&json!({"type": "control_cancel_request", "request_id": request_id}))
                .await;
            self.emit_running_if_none_open().await;
            let _ = request.reply.send(Reply::Withdrawn);
        }
    }

    /// Takes back every open request; the caller says what else happens before the turn hears of it.
    pub(super) async fn withdraw_all(&self) -> Withdrawn {
        let open: Vec<(String, OpenRequest)> = self.state().open.drain(..).collect();
        for (request_id, _) in &open {
            self.emit(&json!({"type": "control_cancel_request", "request_id": request_id}))
                .await;
        }
        Withdrawn(open.into_iter().map(|(_, request)| request).collect())
    }

    pub(super) fn fail_open_requests(&self) {
        let mut state = self.state();
        state.input_closed = true;
        for (_, request) in state.open.drain(..) {
            let _ = request.reply.send(Reply::InputClosed);
        }
    }
}

/// Requests that the host knows to be withdrawn, while the turn does not know it yet.
#[derive(Debug)]
pub(super) struct Withdrawn(Vec<OpenRequest>);

impl Withdrawn {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn tell_turn(self) {
        for request in self.0 {
            let _ = request.reply.send(Reply::Withdrawn);
        }
    }
}

pub(super) fn start_refused(reason: &str) -> Vec<u8> {
    let line = json!({
        "type": "result", "subtype": "error_during_execution", "is_error": true, "num_turns": 0,
        "duration_ms": 0, "total_cost_usd": 0, "errors": [reason], "permission_denials": [],
        "startup_failure_reason": "invalid_arguments",
    });
    format!("{line}\n").into_bytes()
}
