//! The host's control requests.

use serde_json::{Value, json};

use super::{Agent, FakeEnd};
use crate::mode::PermissionMode;

impl Agent {
    pub(super) async fn take_control(&mut self, line: &Value) -> Option<FakeEnd> {
        let request_id = line["request_id"].as_str().unwrap_or_default().to_owned();
        let request = &line["request"];
        let answer = match request["subtype"].as_str().unwrap_or_default() {
            "initialize" => {
                self.answer_initialize(&request_id).await;
                return None;
            }
            "interrupt" => {
                let cancel_queued = request["cancel_queued"] == json!(true);
                self.interrupt(&request_id, cancel_queued).await;
                return None;
            }
            "set_permission_mode" => self.set_mode(&request["mode"]).await,
            "set_model" => {
                let model = request["model"]
                    .as_str()
                    .unwrap_or(super::options::DEFAULT_MODEL);
                self.world.state().model = model.to_owned();
                Ok(json!({"model": model}))
            }
            "set_max_thinking_tokens" | "stop_task" => Ok(json!({})),
            "get_context_usage" => Ok(json!({
                "categories": [], "totalTokens": 0, "maxTokens": 200_000, "percentage": 0,
                "model": self.world.state().model.clone(),
            })),
            "list_models" => Ok(json!({"models": models()})),
            "mcp_status" => Ok(json!({"mcpServers": []})),
            "file_suggestions" => {
                Ok(json!({"suggestions": [], "cwd": self.world.options.cwd.to_string_lossy()}))
            }
            "list_permission_rules" => Ok(self.list_rules()),
            "apply_flag_settings" => {
                let denied = request["settings"]["permissions"]["deny"].as_array();
                let texts = denied.into_iter().flatten().filter_map(Value::as_str);
                self.world.state().denied = texts.map(str::to_owned).collect();
                Ok(json!({}))
            }
            "get_binary_version" => Ok(json!({"version": env!("CARGO_PKG_VERSION")})),
            "get_settings" => Ok(json!({"effective": {}, "sources": [], "applied": {}})),
            "rename_session" => {
                self.world
                    .emit_message(json!({
                        "type": "system", "subtype": "session_title_changed",
                        "title": request["title"],
                    }))
                    .await;
                Ok(json!({}))
            }
            "cancel_async_message" => {
                let cancelled = self.cancel_queued(&request["message_uuid"]).await;
                Ok(json!({"cancelled": cancelled}))
            }
            "end_session" => {
                self.answer(&request_id, Ok(json!({}))).await;
                return Some(FakeEnd::Exit(0));
            }
            other => Err((
                format!("Unsupported control request subtype: {other}"),
                "unsupported_request",
            )),
        };
        self.answer(&request_id, answer).await;
        None
    }

    fn list_rules(&self) -> Value {
        let state = self.world.state();
        let allowed = state.rules.iter().map(|(tool, content)| {
            let rule = match content {
                Some(content) => format!("{tool}({content})"),
                None => tool.clone(),
            };
            json!({"behavior": "allow", "source": "session", "rule": rule})
        });
        let given = state
            .denied
            .iter()
            .map(|rule| json!({"behavior": "deny", "source": "flagSettings", "rule": rule}));
        let rules: Vec<Value> = allowed.chain(given).collect();
        json!({"state": {"rules": rules}})
    }

    async fn answer(&self, request_id: &str, answer: Result<Value, (String, &str)>) {
        let response = match answer {
            Ok(response) => {
                json!({"subtype": "success", "request_id": request_id, "response": response})
            }
            Err((error, code)) => json!({
                "subtype": "error", "request_id": request_id, "error": error, "error_code": code,
            }),
        };
        self.world
            .emit(&json!({"type": "control_response", "response": response}))
            .await;
    }

    async fn answer_initialize(&self, request_id: &str) {
        let line = {
            let state = self.world.state();
            let open: Vec<&Value> = state.open.values().map(|request| &request.line).collect();
            let session_state = match (self.turn.is_some(), open.is_empty()) {
                (_, false) => "requires_action",
                (true, true) => "running",
                (false, true) => "idle",
            };
            json!({"type": "control_response", "response": {
                "subtype": "success", "request_id": request_id,
                "response": {
                    "commands": [{
                        "name": "clear", "description": "Start a new conversation",
                        "argumentHint": "", "builtin": true,
                    }],
                    "agents": [], "models": models(), "output_style": "default",
                    "account": {"tokenSource": "none", "apiKeySource": "none needed"},
                    "pid": std::process::id(), "claude_code_version": env!("CARGO_PKG_VERSION"),
                    "current_permission_mode": state.mode, "session_state": session_state,
                },
                "pending_permission_requests": open, "pending_user_dialog_requests": [],
            }})
        };
        self.world.emit(&line).await;
    }

    /// The order of the lines is the CLI's: withdrawals, receipt, state; then the turn tells its own end.
    async fn interrupt(&mut self, request_id: &str, cancel_queued: bool) {
        let withdrawn = self.world.withdraw_all().await;
        let mut receipt = json!({});
        let queued: Vec<String> = self
            .waiting
            .iter()
            .filter_map(|prompt| prompt.uuid.clone())
            .collect();
        if cancel_queued {
            self.waiting.clear();
            for uuid in &queued {
                self.world.emit_lifecycle(Some(uuid), "cancelled").await;
            }
            receipt["cancelled"] = json!(queued);
            receipt["still_queued"] = json!([]);
        } else {
            receipt["still_queued"] = json!(queued);
        }
        self.answer(request_id, Ok(receipt)).await;
        if !withdrawn.is_empty() {
            self.world.emit_state("running").await;
        }
        withdrawn.tell_turn();
        if let Some(turn) = &self.turn {
            turn.interrupt.send_replace(true);
        }
    }

    async fn set_mode(&self, mode: &Value) -> Result<Value, (String, &'static str)> {
        let name = mode.as_str().unwrap_or_default();
        let mode = PermissionMode::from_wire(name);
        match mode {
            PermissionMode::Other(_) => {
                Err((format!("Invalid permission mode: {name}"), "invalid_mode"))
            }
            PermissionMode::BypassPermissions if !self.world.options.may_bypass => Err((
                "Cannot set permission mode to bypassPermissions: the session was not launched with it"
                    .to_owned(),
                "bypass_not_launched",
            )),
            mode => {
                self.world.set_mode(mode.clone()).await;
                Ok(json!({"mode": mode}))
            }
        }
    }

    async fn cancel_queued(&mut self, message_uuid: &Value) -> bool {
        let before = self.waiting.len();
        let wanted = message_uuid.as_str();
        self.waiting
            .retain(|prompt| prompt.uuid.as_deref() != wanted);
        let cancelled = self.waiting.len() < before;
        if cancelled {
            self.world.emit_lifecycle(wanted, "cancelled").await;
        }
        cancelled
    }
}

fn models() -> Value {
    json!([{
        "value": super::options::DEFAULT_MODEL, "displayName": "Demo agent",
        "description": "Plays a fixed scene; there is no model behind it",
    }])
}
