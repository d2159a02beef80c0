//! One turn: from the user's message to its result.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::sync::watch;

use super::player::{Player, Stop};
use super::script::Script;
use super::world::World;
use super::{FakeEnd, demo};

/// A user message that waits for its turn.
#[derive(Debug, Clone)]
pub(super) struct Prompt {
    pub(super) uuid: Option<String>,
    text: String,
    should_query: bool,
}

impl Prompt {
    /// `None` for a message that the CLI would not take.
    pub(super) fn read(line: &Value) -> Option<Self> {
        let message = line["message"].as_object()?;
        if message.get("role") != Some(&json!("user")) {
            return None;
        }
        let text = match message.get("content")? {
            Value::String(text) => text.clone(),
            Value::Array(blocks) => blocks
                .iter()
                .filter_map(|block| block["text"].as_str())
                .collect::<Vec<_>>()
                .join("\n"),
            _ => return None,
        };
        Some(Self {
            uuid: line["uuid"].as_str().map(str::to_owned),
            text,
            should_query: line["shouldQuery"] != json!(false),
        })
    }
}

#[derive(Debug)]
pub(super) enum TurnEnd {
    Done,
    Process(FakeEnd),
}

pub(super) async fn play(
    world: Arc<World>,
    prompt: Prompt,
    interrupt: Arc<watch::Sender<bool>>,
    interrupted: watch::Receiver<bool>,
) -> TurnEnd {
    let uuid = prompt.uuid.as_deref();
    world.emit_lifecycle(uuid, "started").await;
    if prompt.text.trim() == "/clear" {
        clear(&world, uuid).await;
    } else if prompt.should_query {
        world.emit_message(init_line(&world)).await;
        let player = Player::new(Arc::clone(&world), interrupt, interrupted);
        let played = perform(&player, &prompt.text).await;
        player.close_message().await;
        let result = match played {
            Ok(()) => player.result(),
            Err(Stop::Process(end)) => return TurnEnd::Process(end),
            Err(Stop::InterruptedTools) => {
                let text = "[Request interrupted by user for tool use]";
                interrupted_result(&player, text, "aborted_tools").await
            }
            Err(Stop::InterruptedText) => {
                let text = "[Request interrupted by user]";
                interrupted_result(&player, text, "aborted_streaming").await
            }
        };
        let cancelled = result["terminal_reason"]
            .as_str()
            .is_some_and(|reason| reason.starts_with("aborted"));
        emit_result(&world, result).await;
        let state = if cancelled { "cancelled" } else { "completed" };
        world.emit_lifecycle(uuid, state).await;
        return TurnEnd::Done;
    } else {
        emit_result(&world, local_result("")).await;
    }
    world.emit_lifecycle(uuid, "completed").await;
    TurnEnd::Done
}

async fn perform(player: &Player, text: &str) -> Result<(), Stop> {
    // What looks like a script but is none must not end as a demo: the author would look for the fault there.
    if text.trim_start().starts_with(r#"{"steps""#) {
        return match serde_json::from_str::<Script>(text) {
            Ok(script) => player.play_steps(&script.steps).await,
            Err(error) => {
                player
                    .say(&format!("This script cannot be read: {error}"))
                    .await;
                player
                    .override_result(Map::from_iter([("is_error".to_owned(), Value::Bool(true))]));
                Ok(())
            }
        };
    }
    demo::play(player, text).await
}

async fn interrupted_result(player: &Player, text: &str, reason: &str) -> Value {
    player.user_text(text).await;
    let mut result = player.result();
    result["subtype"] = json!("error_during_execution");
    result["is_error"] = json!(true);
    result["terminal_reason"] = json!(reason);
    result["errors"] = json!(["the turn was interrupted"]);
    result
}

async fn clear(world: &World, uuid: Option<&str>) {
    let new_id = world.new_uuid();
    world
        .emit_message(json!({
            "type": "conversation_reset", "new_conversation_id": new_id, "trigger": "clear",
            "user_message_uuid": uuid,
        }))
        .await;
    world.state().session_id = new_id;
    world.emit_message(init_line(world)).await;
    emit_result(world, local_result("")).await;
}

fn local_result(text: &str) -> Value {
    json!({
        "type": "result", "subtype": "success", "is_error": false, "num_turns": 0,
        "duration_ms": 0, "duration_api_ms": 0, "result": text, "local_command": true,
        "total_cost_usd": 0, "usage": {}, "modelUsage": {}, "permission_denials": [],
    })
}

async fn emit_result(world: &World, mut result: Value) {
    {
        let mut state = world.state();
        result["result_index"] = json!(state.results);
        result["permission_denials"] = json!(std::mem::take(&mut state.denials));
        state.results += 1;
        state.last_result_failed = result["is_error"] == json!(true);
    }
    world.emit_message(result).await;
}

fn init_line(world: &World) -> Value {
    let state = world.state();
    json!({
        "type": "system", "subtype": "init", "cwd": world.options.cwd.to_string_lossy(),
        "tools": ["Task", "AskUserQuestion", "Bash", "Edit", "ExitPlanMode", "Read", "Write"],
        "mcp_servers": [], "model": state.model, "permissionMode": state.mode,
        "slash_commands": ["clear"], "apiKeySource": "none needed", "agents": [], "skills": [],
        "plugins": [], "capabilities": [], "output_style": "default",
        "claude_code_version": env!("CARGO_PKG_VERSION"),
    })
}
