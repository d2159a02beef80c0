//! The agent reports every tool call before and after it runs, also those that it does not ask about. Before,
//! it waits for the host's word.

use serde_json::{Value, json};

use super::ledger::{Closed, OpenRequest};
use super::{ControlSession, Reception, Reply, outgoing};
use crate::ask::ToolStart;
use crate::event::AgentEvent;
use crate::input::{BeforeTool, SendError};
use crate::raw::RawJson;
use crate::wire::HookCallback;

/// The names under which the agent reports.
const BEFORE_TOOL: &str = "sayso-before-tool";
const AFTER_TOOL: &str = "sayso-after-tool";

/// Seconds for which the agent waits, so that a host can be started anew meanwhile. A report that nobody
/// answers in time keeps its tool from running.
const WAITS: u32 = 24 * 60 * 60;

/// What the agent is asked to report, for `initialize`.
pub(super) fn registration() -> Value {
    let before = json!([{
        "matcher": null, "hookCallbackIds": [BEFORE_TOOL], "timeout": WAITS, "onFailure": "block",
    }]);
    let after = json!([{"matcher": null, "hookCallbackIds": [AFTER_TOOL]}]);
    json!({"PreToolUse": before, "PostToolUse": after, "PostToolUseFailure": after})
}

pub(super) fn before_tool_line(
    request_id: &str,
    verdict: &BeforeTool,
) -> Result<String, SendError> {
    let (decision, reason) = match verdict {
        BeforeTool::NoOpinion => return Ok(outgoing::empty_line(request_id)),
        BeforeTool::Ask { reason } => ("ask", reason),
        BeforeTool::Deny { reason } => ("deny", reason),
    };
    let output = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": decision,
        "permissionDecisionReason": reason,
    }});
    outgoing::success_line(request_id, output)
}

impl ControlSession {
    pub(super) fn take_hook(
        &mut self,
        request_id: String,
        callback: HookCallback,
        repaired: bool,
        raw: RawJson,
        reception: &mut Reception,
    ) {
        if callback.callback_id == BEFORE_TOOL {
            self.ledger
                .insert(request_id.clone(), OpenRequest::BeforeTool);
            reception
                .events
                .push(AgentEvent::ToolStarting(Box::new(ToolStart {
                    request_id,
                    tool_use_id: callback.tool_use_id,
                    tool_name: callback.tool_name,
                    input: callback.tool_input.unwrap_or_else(RawJson::null),
                    input_faithful: !repaired,
                    permission_mode: callback.permission_mode,
                    agent_id: callback.agent_id,
                    raw,
                })));
            return;
        }
        let mut reply = outgoing::empty_line(&request_id);
        if callback.callback_id == AFTER_TOOL {
            reply = self.edits.answer(&request_id, &callback);
            reception.events.extend(
                callback
                    .tool_use_id
                    .map(|tool_use_id| AgentEvent::ToolRan { tool_use_id }),
            );
        }
        self.ledger.insert(request_id.clone(), OpenRequest::Other);
        self.ledger.close(&request_id, Closed::Answered);
        reception.replies.push(Reply {
            request_id,
            line: reply,
        });
    }
}
