//! The lines that make up a message: streamed pieces and finished blocks.

use serde_json::{Value, json};

use super::player::{Place, Player};

impl Player {
    pub(super) async fn next_place(&self) -> Place {
        let fresh_id = self.world.new_id("msg");
        let (place, is_new) = {
            let mut progress = self.progress();
            let is_new = progress.message_id.is_none();
            if is_new {
                progress.message_id = Some(fresh_id.clone());
                progress.blocks = 0;
                progress.messages += 1;
            }
            let index = progress.blocks;
            progress.blocks += 1;
            let message_id = progress.message_id.clone().unwrap_or(fresh_id);
            (Place { message_id, index }, is_new)
        };
        if is_new {
            let message = json!({
                "id": place.message_id, "type": "message", "role": "assistant",
                "model": self.model(), "content": [], "stop_reason": null,
            });
            self.stream_event(
                &place.message_id,
                json!({"type": "message_start", "message": message}),
            )
            .await;
        }
        place
    }

    fn model(&self) -> String {
        self.world.state().model.clone()
    }

    pub(super) async fn block_start(&self, place: &Place, block: Value) {
        let event =
            json!({"type": "content_block_start", "index": place.index, "content_block": block});
        self.stream_event(&place.message_id, event).await;
    }

    pub(super) async fn delta(&self, place: &Place, delta: Value) {
        let event = json!({"type": "content_block_delta", "index": place.index, "delta": delta});
        self.stream_event(&place.message_id, event).await;
    }

    pub(super) async fn block_stop(&self, place: &Place) {
        let event = json!({"type": "content_block_stop", "index": place.index});
        self.stream_event(&place.message_id, event).await;
    }

    /// Only the main thread streams.
    pub(super) async fn stream_event(&self, message_id: &str, event: Value) {
        if self.world.options.partial_messages && self.subagent.is_none() {
            self.emit(json!({
                "type": "stream_event", "event": event, "api_message_id": message_id,
            }))
            .await;
        }
    }

    pub(super) async fn assistant(&self, place: &Place, block: Value, ending: Ending) {
        let mut line = json!({
            "type": "assistant",
            "message": {
                "id": place.message_id, "type": "message", "role": "assistant",
                "model": self.model(), "content": [block], "stop_reason": null,
                "usage": {"input_tokens": 0, "output_tokens": 0},
            },
        });
        match ending {
            Ending::Whole => {}
            Ending::Aborted => line["aborted"] = json!(true),
        }
        self.emit(line).await;
    }

    pub(super) async fn emit(&self, mut line: Value) {
        line["parent_tool_use_id"] = Value::Null;
        if let Some(subagent) = &self.subagent {
            line["parent_tool_use_id"] = json!(subagent.tool_use_id);
            line["agent_id"] = json!(subagent.agent_id);
            line["subagent_type"] = json!("general-purpose");
            line["task_description"] = json!(subagent.name);
        }
        self.world.emit_message(line).await;
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Ending {
    Whole,
    Aborted,
}
