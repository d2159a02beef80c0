//! One tool call: the tool use, the question whether it may run, the run, the result.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::answers::{self, Verdict};
use super::player::{Player, Stop};
use super::report::ToolReport;
use super::script::ToolStep;
use super::world::Reply;
use super::{files, shell};
use crate::mode::PermissionMode;

const REJECTED: &str =
    "The user does not want to go on with this tool use. It was rejected and nothing was run.";

/// How a call went, for a scene that reacts to it.
#[derive(Debug, Clone)]
pub(super) enum Called {
    Ran {
        report: ToolReport,
        input: Map<String, Value>,
    },
    Denied {
        message: String,
    },
}

impl Player {
    pub(super) async fn call_tool(&self, step: &ToolStep) -> Result<Called, Stop> {
        let id = self.tool_use_id(step);
        self.tool_use(&id, &step.name, &step.input).await;
        let verdict = {
            let state = self.world.state();
            answers::verdict(&step.name, &step.input, &state.mode, &state.rules)
        };
        match verdict {
            Verdict::Deny => self.refuse_by_mode(&id, step).await,
            Verdict::Allow => {
                self.run_allowed(&id, step, step.input.clone(), "config")
                    .await
            }
            Verdict::Ask if !step.ask => {
                self.run_allowed(&id, step, step.input.clone(), "config")
                    .await
            }
            Verdict::Ask => {
                let (_, answer) = self.world.open(self.ask(&id, step)).await;
                let reply = answer.await.unwrap_or(Reply::Withdrawn);
                self.take_reply(&id, step, reply).await
            }
        }
    }

    pub(super) async fn ask_and_withdraw(
        &self,
        step: &ToolStep,
        after: Duration,
    ) -> Result<(), Stop> {
        let id = self.tool_use_id(step);
        self.tool_use(&id, &step.name, &step.input).await;
        let (request_id, mut answer) = self.world.open(self.ask(&id, step)).await;
        let reply = tokio::select! {
            biased;
            reply = &mut answer => reply,
            () = tokio::time::sleep(after) => {
                self.world.withdraw(&request_id).await;
                let _ = answer.await;
                self.reject(&id).await;
                return Ok(());
            }
        };
        self.take_reply(&id, step, reply.unwrap_or(Reply::Withdrawn))
            .await
            .map(drop)
    }

    fn tool_use_id(&self, step: &ToolStep) -> String {
        step.id
            .clone()
            .unwrap_or_else(|| self.world.new_id("toolu"))
    }

    pub(super) fn ask(&self, tool_use_id: &str, step: &ToolStep) -> Value {
        let mode = self.world.state().mode.clone();
        let mut request = json!({
            "subtype": "can_use_tool", "tool_name": step.name, "display_name": step.name,
            "input": step.input, "tool_use_id": tool_use_id,
            "permission_suggestions": answers::suggestions(&step.name, &step.input, &mode),
        });
        let description = match step.name.as_str() {
            "Bash" => step.input.get("description"),
            "Write" | "Edit" | "Read" => step.input.get("file_path"),
            "AskUserQuestion" | "ExitPlanMode" => {
                request["requires_user_interaction"] = json!(true);
                None
            }
            _ => None,
        };
        if let Some(description) = description {
            request["description"] = description.clone();
        }
        if mode == PermissionMode::Plan && matches!(step.name.as_str(), "Write" | "Edit") {
            request["decision_reason_type"] = json!("mode");
            request["decision_reason"] = json!("The session is in plan mode");
        }
        if let Some(subagent) = &self.subagent {
            request["agent_id"] = json!(subagent.agent_id);
        }
        for (name, value) in &step.request {
            request[name] = value.clone();
        }
        request
    }

    async fn take_reply(&self, id: &str, step: &ToolStep, reply: Reply) -> Result<Called, Stop> {
        match reply {
            Reply::Answered(answer) => self.take_answer(id, step, &answer).await,
            Reply::Error(error) => {
                let text = format!("Tool permission request failed: Error: {error}");
                self.fail(id, text).await
            }
            Reply::InputClosed => {
                let text = "Tool permission stream closed before response received";
                self.fail(id, text.to_owned()).await
            }
            Reply::Withdrawn => {
                self.reject(id).await;
                Err(Stop::InterruptedTools)
            }
        }
    }

    async fn take_answer(&self, id: &str, step: &ToolStep, answer: &Value) -> Result<Called, Stop> {
        match (answer["behavior"].as_str(), answer["message"].as_str()) {
            (Some("allow"), _) => {
                let (rules, mode) = answers::updates(answer);
                self.world.state().rules.extend(rules);
                if let Some(mode) = mode {
                    self.world.set_mode(mode).await;
                }
                let input = match &answer["updatedInput"] {
                    Value::Object(input) if input.is_empty() => step.input.clone(),
                    Value::Object(input) => input.clone(),
                    _ => {
                        let text = "The permission handler returned an invalid permission result.";
                        return self.fail(id, text.to_owned()).await;
                    }
                };
                let source = answer["decisionClassification"]
                    .as_str()
                    .unwrap_or("user_temporary");
                self.run_allowed(id, step, input, source).await
            }
            (Some("deny"), Some(message)) => {
                self.note_denial(id, step);
                if answer["interrupt"] == json!(true) {
                    self.world.withdraw_all().await.tell_turn();
                    self.interrupt.send_replace(true);
                    self.reject(id).await;
                    return Err(Stop::InterruptedTools);
                }
                let mut report = ToolReport::error(message);
                report.meta = Some(json!({
                    "permission_decision": {"decision": "reject", "source": "user_reject"},
                    "non_execution_kind": "permission-rule",
                }));
                self.tool_result(id, report).await;
                Ok(Called::Denied {
                    message: message.to_owned(),
                })
            }
            _ => {
                let text = "The permission handler returned an invalid permission result.";
                self.fail(id, text.to_owned()).await
            }
        }
    }

    async fn fail(&self, id: &str, text: String) -> Result<Called, Stop> {
        self.tool_result(id, ToolReport::error(text.as_str())).await;
        Ok(Called::Denied { message: text })
    }

    pub(super) async fn reject(&self, id: &str) {
        let mut report = ToolReport::error(REJECTED);
        report.structured = json!("User rejected tool use");
        report.meta = Some(json!({"non_execution_kind": "user-rejected"}));
        self.tool_result(id, report).await;
    }

    async fn refuse_by_mode(&self, id: &str, step: &ToolStep) -> Result<Called, Stop> {
        let message = format!(
            "Permission to use {} has been denied by the mode.",
            step.name
        );
        self.note_denial(id, step);
        self.world
            .emit_message(json!({
                "type": "system", "subtype": "permission_denied", "tool_name": step.name,
                "tool_use_id": id, "decision_reason_type": "mode", "message": message,
                "agent_id": self.subagent.as_ref().map(|subagent| &subagent.agent_id),
            }))
            .await;
        self.fail(id, message).await
    }

    fn note_denial(&self, id: &str, step: &ToolStep) {
        self.world.state().denials.push(json!({
            "tool_name": step.name, "tool_use_id": id, "tool_input": step.input,
        }));
    }

    async fn run_allowed(
        &self,
        id: &str,
        step: &ToolStep,
        input: Map<String, Value>,
        source: &str,
    ) -> Result<Called, Stop> {
        let ran = tokio::select! {
            biased;
            () = self.interruption() => None,
            report = self.run_tool(step, &input) => Some(report),
        };
        let Some(mut report) = ran else {
            self.reject(id).await;
            return Err(Stop::InterruptedTools);
        };
        report.meta = Some(json!({
            "permission_decision": {"decision": "accept", "source": source},
        }));
        self.tool_result(id, report.clone()).await;
        Ok(Called::Ran { report, input })
    }

    async fn run_tool(&self, step: &ToolStep, input: &Map<String, Value>) -> ToolReport {
        let cwd = self.world.options.cwd.as_path();
        match step.name.as_str() {
            "Bash" => shell::run(cwd, input).await,
            "Write" => files::write(cwd, input).await,
            "Edit" => files::edit(cwd, input).await,
            "Read" => files::read(cwd, input).await,
            "AskUserQuestion" => ToolReport::ok(
                answers::question_result(input),
                Value::Object(input.clone()),
            ),
            "ExitPlanMode" => {
                let planning = self.world.state().mode == PermissionMode::Plan;
                if planning {
                    self.world.set_mode(PermissionMode::Default).await;
                }
                let plan = input
                    .get("plan")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                ToolReport::ok(
                    format!("User has approved your plan.\n\n{plan}"),
                    json!({"plan": plan, "planWasEdited": *input != step.input}),
                )
            }
            _ => {
                let text = step.result.as_deref().unwrap_or("Done.");
                ToolReport::ok(text, json!([{"type": "text", "text": text}]))
            }
        }
    }
}
