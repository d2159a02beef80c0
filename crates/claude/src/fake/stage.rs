//! Plays the steps of a script.

use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt, join_all};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::player::{Player, Stop, Subagent};
use super::report::ToolReport;
use super::script::{Step, Stream, SubagentStep, ToolStep};
use super::world::Reply;
use super::{FakeEnd, complain};

impl Player {
    pub(super) fn play_steps<'a>(&'a self, steps: &'a [Step]) -> BoxFuture<'a, Result<(), Stop>> {
        async move {
            for step in steps {
                self.play_step(step).await?;
            }
            Ok(())
        }
        .boxed()
    }

    async fn play_step(&self, step: &Step) -> Result<(), Stop> {
        match step {
            Step::Say(text) => self.say(text).await,
            Step::Think(text) => self.think(text).await,
            Step::Stream(Stream::Chunks(chunks)) => self.stream(chunks, Duration::ZERO).await?,
            Step::Stream(Stream::Paced { chunks, delay_ms }) => {
                self.stream(chunks, Duration::from_millis(*delay_ms))
                    .await?;
            }
            Step::Tool(tool) => {
                self.call_tool(tool).await?;
                self.close_message().await;
            }
            Step::Together(steps) => self.play_together(steps).await?,
            Step::Subagent(subagent) => {
                self.play_subagent(subagent).await?;
                self.close_message().await;
            }
            Step::Question(input) => {
                self.call_tool(&ToolStep::new("AskUserQuestion", input.clone()))
                    .await?;
                self.close_message().await;
            }
            Step::Plan(plan) => {
                self.call_tool(&plan_step(plan)).await?;
                self.close_message().await;
            }
            Step::Elicit(request) => self.elicit(request).await?,
            Step::Retry(fields) => self.retry(fields).await,
            Step::Result(fields) => self.override_result(fields.clone()),
            Step::Withdraw { tool, after_ms } => {
                self.ask_and_withdraw(tool, Duration::from_millis(*after_ms))
                    .await?;
                self.close_message().await;
            }
            Step::SleepMs(milliseconds) => {
                self.pause(Duration::from_millis(*milliseconds)).await?;
            }
            Step::Stderr(text) => complain(text).await,
            Step::Exit { code } => return Err(Stop::Process(FakeEnd::Exit(*code))),
            Step::Crash => return Err(Stop::Process(FakeEnd::Crash)),
            Step::IgnoreStdin => self.world.ignore_input(),
            Step::Raw { .. }
            | Step::RawBytes(_)
            | Step::HugeLine { .. }
            | Step::InvalidUtf8
            | Step::HalfLine
            | Step::RepeatRequestId
            | Step::Deep { .. }
            | Step::CancelUnknown => self.disturb(step).await?,
        }
        Ok(())
    }

    /// Everything is played to its end even if one part stops the turn, because each tool use owes a result;
    /// only the end of the process waits for nobody.
    async fn play_together(&self, steps: &[Step]) -> Result<(), Stop> {
        let (exits, mut exit) = mpsc::channel(1);
        let parts = steps.iter().map(|step| async {
            let end = self.play_part(step).await;
            if let Err(Stop::Process(process_end)) = end {
                let _ = exits.try_send(process_end);
            }
            end
        });
        let ends = tokio::select! {
            ends = join_all(parts) => ends,
            Some(end) = exit.recv() => return Err(Stop::Process(end)),
        };
        self.close_message().await;
        ends.into_iter().collect()
    }

    /// As [`Self::play_step`], but the message stays open: its other blocks may still come.
    fn play_part<'a>(&'a self, step: &'a Step) -> BoxFuture<'a, Result<(), Stop>> {
        async move {
            match step {
                Step::Tool(tool) => self.call_tool(tool).await.map(drop),
                Step::Subagent(subagent) => self.play_subagent(subagent).await,
                Step::Question(input) => {
                    let tool = ToolStep::new("AskUserQuestion", input.clone());
                    self.call_tool(&tool).await.map(drop)
                }
                step => self.play_step(step).await,
            }
        }
        .boxed()
    }

    pub(super) async fn play_subagent(&self, step: &SubagentStep) -> Result<(), Stop> {
        let tool_use_id = self.world.new_id("toolu");
        let agent_id = self.world.new_id("agent");
        let input = json!({
            "description": step.name, "prompt": step.name, "subagent_type": "general-purpose",
            "run_in_background": false,
        });
        let Value::Object(input) = input else {
            return Ok(());
        };
        self.tool_use(&tool_use_id, "Agent", &input).await;
        let task = |subtype: &str| {
            json!({
                "type": "system", "subtype": subtype, "task_id": agent_id,
                "tool_use_id": tool_use_id,
            })
        };
        let mut started = task("task_started");
        started["description"] = json!(step.name);
        started["subagent_type"] = json!("general-purpose");
        started["task_type"] = json!("local_agent");
        started["is_backgrounded"] = json!(false);
        started["prompt"] = json!(step.name);
        self.world.emit_message(started).await;
        let player = self.for_subagent(Subagent {
            agent_id: agent_id.clone(),
            tool_use_id: tool_use_id.clone(),
            name: step.name.clone(),
        });
        player.user_text(&step.name).await;
        let played = player.play_steps(&step.steps).await;
        let (status, report) = match played {
            Ok(()) => {
                let text = player.last_text();
                let structured = json!({
                    "status": "completed", "agentId": agent_id,
                    "content": [{"type": "text", "text": text}],
                });
                ("completed", ToolReport::ok(text, structured))
            }
            Err(_) => ("stopped", ToolReport::error("The subagent was stopped.")),
        };
        let mut ended = task("task_notification");
        ended["status"] = json!(status);
        ended["summary"] = json!(player.last_text());
        self.world.emit_message(ended).await;
        self.tool_result(&tool_use_id, report).await;
        played
    }

    async fn elicit(&self, request: &Map<String, Value>) -> Result<(), Stop> {
        let mut line = json!({
            "subtype": "elicitation", "mcp_server_name": "demo", "mode": "form",
            "message": "Which environment?",
        });
        for (name, value) in request {
            line[name] = value.clone();
        }
        let (_, answer) = self.world.open(line).await;
        let text = match answer.await {
            Ok(Reply::Answered(answer)) => format!("The form came back: {answer}"),
            Ok(Reply::Error(_)) => r#"The form came back: {"action":"cancel"}"#.to_owned(),
            Ok(Reply::InputClosed) => "The form was never answered.".to_owned(),
            Ok(Reply::Withdrawn) | Err(_) => return Err(Stop::InterruptedTools),
        };
        self.say(&text).await;
        Ok(())
    }

    async fn retry(&self, fields: &Map<String, Value>) {
        let mut line = json!({
            "type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 10,
            "retry_delay_ms": 500, "error_status": 529, "error": "overloaded",
        });
        for (name, value) in fields {
            line[name] = value.clone();
        }
        self.world.emit_message(line).await;
    }
}

pub(super) fn plan_step(plan: &str) -> ToolStep {
    let input = json!({"plan": plan, "planFilePath": "plan.md"});
    ToolStep::new("ExitPlanMode", input)
}
