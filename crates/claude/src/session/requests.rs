//! What becomes of the agent's requests and withdrawals.

use super::ledger::{Closed, OpenRequest, OpenTool, Withdrawal};
use super::responses::elicitation;
use super::{ControlSession, ProtocolError, Reception, Reply, outgoing};
use crate::event::{AgentEvent, NoticeLevel};
use crate::wire::{AgentRequest, RequestLine};

impl ControlSession {
    pub(super) fn take_request(
        &mut self,
        line: RequestLine,
        repaired: bool,
        reception: &mut Reception,
    ) -> Result<(), ProtocolError> {
        let RequestLine {
            request_id,
            subtype,
            request,
            raw,
        } = line;
        self.ledger.check_new(&request_id)?;
        let mut reason = None;
        let mut reply = None;
        match request {
            AgentRequest::CanUseTool(mut ask) => {
                ask.request_id.clone_from(&request_id);
                ask.input_faithful = !repaired;
                ask.raw = raw;
                let open = OpenTool {
                    tool_use_id: ask.tool_use_id.clone(),
                    input: ask.input.clone(),
                    input_faithful: ask.input_faithful,
                };
                self.ledger.insert(request_id, OpenRequest::Tool(open));
                reception.events.push(AgentEvent::Asked(ask));
                return Ok(());
            }
            AgentRequest::Elicitation(request) => {
                self.ledger
                    .insert(request_id.clone(), OpenRequest::Elicitation);
                let elicitation = elicitation(request_id, request, raw);
                reception
                    .events
                    .push(AgentEvent::Elicited(Box::new(elicitation)));
                return Ok(());
            }
            AgentRequest::HookCallback(callback) => {
                self.take_hook(request_id, callback, repaired, raw, reception);
                return Ok(());
            }
            AgentRequest::McpMessage => {
                let message = "this host offers no MCP server";
                reply = Some(outgoing::error_line(&request_id, message));
            }
            // An answer would count as the user's choice.
            AgentRequest::Other { misfit } => reason = misfit,
        }
        self.ledger.insert(request_id.clone(), OpenRequest::Other);
        if reply.is_some() {
            self.ledger.close(&request_id, Closed::Answered);
        }
        reception.events.push(AgentEvent::OtherRequest {
            request_id: request_id.clone(),
            subtype,
            answered: reply.is_some(),
            reason,
            raw,
        });
        reception
            .replies
            .extend(reply.map(|line| Reply { request_id, line }));
        Ok(())
    }

    pub(super) fn take_cancel(&mut self, request_id: String) -> AgentEvent {
        match self.ledger.withdraw(&request_id) {
            Some(earlier) => AgentEvent::Withdrawn {
                request_id,
                answered: earlier == Withdrawal::AfterAnswer,
            },
            None => AgentEvent::Notice {
                level: NoticeLevel::Error,
                text: format!("The agent withdrew a request that is not open: {request_id}"),
            },
        }
    }
}
