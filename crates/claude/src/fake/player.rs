//! The voice of one thread of the agent: the main one or a subagent's.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::watch;

use super::FakeEnd;
use super::report::ToolReport;
use super::voice::Ending;
use super::world::World;

/// Why a turn ends before its steps do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    InterruptedTools,
    InterruptedText,
    Process(FakeEnd),
}

pub(super) struct Player {
    pub(super) world: Arc<World>,
    pub(super) interrupt: Arc<watch::Sender<bool>>,
    interrupted: watch::Receiver<bool>,
    pub(super) subagent: Option<Subagent>,
    progress: Mutex<Progress>,
}

#[derive(Debug, Clone)]
pub(super) struct Subagent {
    pub(super) agent_id: String,
    pub(super) tool_use_id: String,
    pub(super) name: String,
}

#[derive(Debug, Default)]
pub(super) struct Progress {
    pub(super) message_id: Option<String>,
    pub(super) blocks: u64,
    pub(super) messages: u64,
    last_text: String,
    result: Map<String, Value>,
}

/// The place of a block in the conversation.
pub(super) struct Place {
    pub(super) message_id: String,
    pub(super) index: u64,
}

impl Player {
    pub(super) fn new(
        world: Arc<World>,
        interrupt: Arc<watch::Sender<bool>>,
        interrupted: watch::Receiver<bool>,
    ) -> Self {
        Self {
            world,
            interrupt,
            interrupted,
            subagent: None,
            progress: Mutex::default(),
        }
    }

    pub(super) fn for_subagent(&self, subagent: Subagent) -> Self {
        Self {
            subagent: Some(subagent),
            ..Self::new(
                Arc::clone(&self.world),
                Arc::clone(&self.interrupt),
                self.interrupted.clone(),
            )
        }
    }

    pub(super) fn progress(&self) -> std::sync::MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn override_result(&self, fields: Map<String, Value>) {
        self.progress().result.extend(fields);
    }

    pub(super) fn last_text(&self) -> String {
        self.progress().last_text.clone()
    }

    pub(super) fn result(&self) -> Value {
        let progress = self.progress();
        let mut result = json!({
            "type": "result", "subtype": "success", "is_error": false,
            "terminal_reason": "completed", "stop_reason": "end_turn",
            "result": progress.last_text, "num_turns": progress.messages, "duration_ms": 0,
            "duration_api_ms": 0, "total_cost_usd": 0,
            "usage": {"input_tokens": 0, "output_tokens": 0}, "modelUsage": {},
            "permission_denials": [], "api_error_status": null,
        });
        for (name, value) in &progress.result {
            result[name] = value.clone();
        }
        result
    }

    /// Never returns unless the turn is interrupted.
    pub(super) async fn interruption(&self) {
        let mut interrupted = self.interrupted.clone();
        if interrupted
            .wait_for(|interrupted| *interrupted)
            .await
            .is_err()
        {
            std::future::pending::<()>().await;
        }
    }

    pub(super) async fn pause(&self, duration: Duration) -> Result<(), Stop> {
        tokio::select! {
            biased;
            () = self.interruption() => Err(Stop::InterruptedText),
            () = tokio::time::sleep(duration) => Ok(()),
        }
    }

    pub(super) async fn say(&self, text: &str) {
        let place = self.next_place().await;
        self.block_start(&place, json!({"type": "text", "text": ""}))
            .await;
        self.delta(&place, json!({"type": "text_delta", "text": text}))
            .await;
        self.finish_text(&place, text, Ending::Whole).await;
    }

    pub(super) async fn think(&self, text: &str) {
        let place = self.next_place().await;
        self.block_start(&place, json!({"type": "thinking", "thinking": ""}))
            .await;
        self.delta(&place, json!({"type": "thinking_delta", "thinking": text}))
            .await;
        let block = json!({"type": "thinking", "thinking": text, "signature": ""});
        self.assistant(&place, block, Ending::Whole).await;
        self.block_stop(&place).await;
    }

    pub(super) async fn stream(&self, chunks: &[String], delay: Duration) -> Result<(), Stop> {
        let place = self.next_place().await;
        self.block_start(&place, json!({"type": "text", "text": ""}))
            .await;
        let mut text = String::new();
        for chunk in chunks {
            if !delay.is_zero()
                && let Err(stop) = self.pause(delay).await
            {
                self.finish_text(&place, &text, Ending::Aborted).await;
                return Err(stop);
            }
            text.push_str(chunk);
            self.delta(&place, json!({"type": "text_delta", "text": chunk}))
                .await;
        }
        self.finish_text(&place, &text, Ending::Whole).await;
        Ok(())
    }

    async fn finish_text(&self, place: &Place, text: &str, ending: Ending) {
        self.progress().last_text = text.to_owned();
        self.assistant(place, json!({"type": "text", "text": text}), ending)
            .await;
        self.block_stop(place).await;
    }

    pub(super) async fn tool_use(&self, id: &str, name: &str, input: &Map<String, Value>) {
        let place = self.next_place().await;
        let start = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
        self.block_start(&place, start).await;
        let partial = Value::Object(input.clone()).to_string();
        self.delta(
            &place,
            json!({"type": "input_json_delta", "partial_json": partial}),
        )
        .await;
        let block = json!({"type": "tool_use", "id": id, "name": name, "input": input});
        self.assistant(&place, block, Ending::Whole).await;
        self.block_stop(&place).await;
    }

    pub(super) async fn tool_result(&self, id: &str, result: ToolReport) {
        let mut line = json!({
            "type": "user",
            "message": {"role": "user", "content": [{
                "type": "tool_result", "tool_use_id": id, "content": result.text,
                "is_error": result.is_error,
            }]},
            "tool_use_result": result.structured,
        });
        if let Some(mut meta) = result.meta {
            meta["id"] = json!(id);
            line["tool_result_meta"] = json!([meta]);
        }
        self.emit(line).await;
    }

    pub(super) async fn user_text(&self, text: &str) {
        self.emit(json!({
            "type": "user",
            "message": {"role": "user", "content": [{"type": "text", "text": text}]},
        }))
        .await;
    }

    /// The message ends when its tools have run, and with the turn.
    pub(super) async fn close_message(&self) {
        let Some(message_id) = self.progress().message_id.take() else {
            return;
        };
        let delta = json!({"stop_reason": "end_turn", "stop_sequence": null});
        self.stream_event(
            &message_id,
            json!({"type": "message_delta", "delta": delta}),
        )
        .await;
        self.stream_event(&message_id, json!({"type": "message_stop"}))
            .await;
    }
}
