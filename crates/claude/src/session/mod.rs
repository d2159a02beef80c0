//! The protocol's state without IO: lines in, events out; inputs in, lines out.

mod answer;
mod edits;
mod hooks;
mod ledger;
mod messages;
mod outgoing;
mod requests;
mod responses;

use std::collections::{HashMap, HashSet};

use thiserror::Error;

use crate::event::{AgentEvent, Initialized};
use crate::input::{AgentInput, BeforeTool, PermissionAnswer, SendError};
use crate::line::Line;
use crate::raw::RawJson;
use crate::wire::{self, ControlResponse, Inbound, InitializeAnswer, ParseError, ResponseBody};
use answer::Unchanged;
use edits::Edits;
use ledger::{Closed, Ledger, OpenRequest};
pub(crate) use messages::MessageTracker;
use responses::{control_result, start_errors};

/// The state of one conversation over the control protocol: which requests of the agent are open, and which
/// of the host's requests wait for their answer. It lives as long as the agent's process.
#[derive(Debug)]
pub struct ControlSession {
    id_prefix: String,
    next_request: u64,
    waiting: HashMap<String, Waiting>,
    ledger: Ledger,
    /// Requests of an earlier host's time, whose lines may come again.
    restored: HashSet<String>,
    edits: Edits,
    messages: MessageTracker,
    agent_session_id: Option<String>,
    /// How an input that is not changed goes back.
    unchanged: Unchanged,
}

/// Who waits for the answer to a request of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waiting {
    Initialize,
    Caller { token: u64 },
    Nobody,
}

/// The agent broke the protocol in a way after which nothing it says can be trusted.
#[derive(Debug, Error)]
pub enum ProtocolError {
    #[error(transparent)]
    Unreadable(#[from] ParseError),
    #[error("the agent used the request id {request_id:?} twice")]
    RepeatedRequestId { request_id: String },
    #[error("the agent has more than {limit} requests open")]
    TooManyOpen { limit: usize },
    #[error("the agent refused to start: {}", .errors.join("; "))]
    StartRefused { errors: Vec<String> },
}

/// What one line of the agent leads to.
#[derive(Debug, Default, PartialEq)]
pub struct Reception {
    pub events: Vec<AgentEvent>,
    /// Lines to write back at once: answers that need no human.
    pub replies: Vec<Reply>,
    /// The request that this line opened.
    pub opened: Option<String>,
}

/// An answer that needs no human.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub request_id: String,
    pub line: String,
}

impl Default for ControlSession {
    fn default() -> Self {
        Self::new()
    }
}

impl ControlSession {
    pub fn new() -> Self {
        Self::with_id_prefix("sayso")
    }

    /// A host that takes over a running agent needs ids that its predecessor cannot have in flight.
    pub fn with_id_prefix(prefix: impl Into<String>) -> Self {
        Self {
            id_prefix: prefix.into(),
            next_request: 1,
            waiting: HashMap::new(),
            ledger: Ledger::default(),
            restored: HashSet::new(),
            edits: Edits::default(),
            messages: MessageTracker::default(),
            agent_session_id: None,
            unchanged: Unchanged::Whole,
        }
    }

    /// The line that opens the protocol. Sent again later, it also lists the requests that are still open.
    pub fn initialize(&mut self) -> String {
        let request_id = self.begin(Waiting::Initialize);
        outgoing::initialize_line(&request_id)
    }

    /// An interrupt whose answer nobody waits for.
    pub fn interrupt(&mut self) -> String {
        let request_id = self.begin(Waiting::Nobody);
        outgoing::interrupt_line(&request_id)
    }

    /// A request that an earlier host left open, as the agent wrote it: it can be answered now.
    /// `None` when it is nothing that can be answered.
    pub fn restore(
        &mut self,
        request_id: &str,
        raw: &RawJson,
        faithful: bool,
    ) -> Option<AgentEvent> {
        let id = serde_json::Value::from(request_id);
        let raw = raw.as_str();
        let line = Line {
            // Byte for byte: this is what an answer without changes sends back.
            text: format!(r#"{{"type":"control_request","request_id":{id},"request":{raw}}}"#),
            repaired: !faithful,
        };
        let Inbound::Request(request) = wire::parse(&line).ok()? else {
            return None;
        };
        let mut reception = Reception::default();
        self.take_request(request, line.repaired, &mut reception)
            .ok()?;
        self.restored.insert(request_id.to_owned());
        reception.events.pop()
    }

    /// A tool call that was changed in an earlier host's time and has not been reported yet, as far as is known.
    pub fn restore_edit(&mut self, tool_use_id: &str, asked: &RawJson, ran: &RawJson) {
        self.edits.remember(tool_use_id, asked, ran);
    }

    /// How many blocks of a message an earlier host has seen.
    pub fn restore_blocks(&mut self, message_id: &str, count: u64) {
        self.messages.restore(message_id, count);
    }

    pub fn is_initializing(&self) -> bool {
        self.waiting
            .values()
            .any(|waiting| *waiting == Waiting::Initialize)
    }

    /// The agent's own id of the conversation, from its latest `init`.
    pub fn agent_session_id(&self) -> Option<&str> {
        self.agent_session_id.as_deref()
    }

    /// The ids of the agent's open requests, oldest first.
    pub fn open_requests(&self) -> impl Iterator<Item = &str> {
        self.ledger.open_ids()
    }

    pub fn receive(&mut self, line: &Line) -> Result<Reception, ProtocolError> {
        let mut reception = Reception::default();
        match wire::parse(line)? {
            Inbound::Request(request) if self.restored.remove(&request.request_id) => {}
            Inbound::Request(request) => {
                reception.opened = Some(request.request_id.clone());
                self.take_request(request, line.repaired, &mut reception)?;
            }
            Inbound::Response(response) => {
                self.take_response(response, line.repaired, &mut reception)?;
            }
            Inbound::Cancel { request_id } => {
                reception.events.push(self.take_cancel(request_id));
            }
            Inbound::Result(result) if self.is_initializing() && result.is_error => {
                return Err(ProtocolError::StartRefused {
                    errors: start_errors(result),
                });
            }
            inbound => {
                if let Inbound::Init(init) = &inbound {
                    self.agent_session_id = Some(init.agent_session_id.clone());
                }
                reception.events = self.messages.translate(inbound, &line.text);
            }
        }
        Ok(reception)
    }

    /// The line for one input. On an error nothing was changed and nothing may be written.
    pub fn send(&mut self, input: AgentInput) -> Result<String, SendError> {
        match input {
            AgentInput::UserMessage {
                uuid,
                content,
                should_query,
                priority,
            } => outgoing::user_line(uuid, &content, should_query, priority),
            AgentInput::Answer { request_id, answer } => {
                let open = match (self.ledger.open(&request_id)?, &answer) {
                    (OpenRequest::Tool(open), _) => open,
                    (OpenRequest::BeforeTool, PermissionAnswer::Deny { message, .. }) => {
                        let reason = message.clone();
                        let verdict = BeforeTool::Deny { reason };
                        return self.send(AgentInput::BeforeTool {
                            request_id,
                            verdict,
                        });
                    }
                    _ => return Err(SendError::WrongKind { request_id }),
                };
                let edited = answer.updated_input().cloned();
                let line = answer::permission_line(&request_id, open, answer, self.unchanged)?;
                if let (Some(tool_use_id), Some(edited)) = (&open.tool_use_id, &edited) {
                    self.edits.remember(tool_use_id, &open.input, edited);
                }
                self.ledger.close(&request_id, Closed::Answered);
                Ok(line)
            }
            AgentInput::BeforeTool {
                request_id,
                verdict,
            } => {
                if *self.ledger.open(&request_id)? != OpenRequest::BeforeTool {
                    return Err(SendError::WrongKind { request_id });
                }
                let line = hooks::before_tool_line(&request_id, &verdict)?;
                self.ledger.close(&request_id, Closed::Answered);
                Ok(line)
            }
            AgentInput::AnswerElicitation { request_id, answer } => {
                if *self.ledger.open(&request_id)? != OpenRequest::Elicitation {
                    return Err(SendError::WrongKind { request_id });
                }
                let line = answer::elicitation_line(&request_id, &answer)?;
                self.ledger.close(&request_id, Closed::Answered);
                Ok(line)
            }
            AgentInput::Refuse {
                request_id,
                message,
            } => {
                self.ledger.open(&request_id)?;
                self.ledger.close(&request_id, Closed::Answered);
                Ok(outgoing::error_line(&request_id, &message))
            }
            AgentInput::Control { token, request } => {
                let body = outgoing::control_body(&request)?;
                let request_id = self.begin(Waiting::Caller { token });
                Ok(outgoing::request_line(&request_id, &body))
            }
        }
    }

    fn begin(&mut self, waiting: Waiting) -> String {
        let request_id = format!("{}-{}", self.id_prefix, self.next_request);
        self.next_request += 1;
        self.waiting.insert(request_id.clone(), waiting);
        request_id
    }

    fn take_response(
        &mut self,
        response: ControlResponse,
        repaired: bool,
        reception: &mut Reception,
    ) -> Result<(), ProtocolError> {
        let body = response.response;
        // An id that is not ours is an echo of an answer of ours, or an answer to an earlier host.
        let Some(waiting) = self.waiting.remove(&body.request_id) else {
            return Ok(());
        };
        match waiting {
            Waiting::Nobody => Ok(()),
            Waiting::Caller { token } => {
                let result = control_result(body);
                reception
                    .events
                    .push(AgentEvent::ControlDone { token, result });
                Ok(())
            }
            Waiting::Initialize => self.take_initialized(body, repaired, reception),
        }
    }

    fn take_initialized(
        &mut self,
        mut body: ResponseBody,
        repaired: bool,
        reception: &mut Reception,
    ) -> Result<(), ProtocolError> {
        let mut pending = std::mem::take(&mut body.pending_permission_requests);
        pending.append(&mut body.pending_user_dialog_requests);
        let raw = control_result(body)
            .map_err(|error| ProtocolError::StartRefused {
                errors: vec![error.message],
            })?
            .unwrap_or_else(RawJson::null);
        let answer: InitializeAnswer = raw.parse().unwrap_or_default();
        self.unchanged = Unchanged::for_version(answer.claude_code_version.as_deref());
        reception
            .events
            .push(AgentEvent::Initialized(Box::new(Initialized {
                version: answer.claude_code_version,
                models: answer.models,
                commands: answer.commands,
                permission_mode: answer.current_permission_mode,
                account_key_source: answer.account.api_key_source,
                raw,
            })));
        for request in pending {
            let line = Line {
                text: request.as_str().to_owned(),
                repaired,
            };
            if let Inbound::Request(request) = wire::parse(&line)?
                && !self.ledger.knows(&request.request_id)
            {
                self.take_request(request, repaired, reception)?;
            }
        }
        Ok(())
    }
}
