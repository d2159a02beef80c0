//! Domain types as the protocol's. Small, total, and only here.

use std::sync::Arc;

use sayso_broker::{
    Allowance, AnswerValue, Answers, ClientRef, DecidedBy, Decision, Delivery, Json, Kind, Mode,
    OnTimeout, OutcomeKind, Refusal, RequestView, Resolution, SessionState, Timestamp,
};
use sayso_protocol::{
    self as protocol, Choice, ErrorCode, ErrorMessage, Outcome, PendingRequest, RawJson,
    RequestDetail, RequestType,
};
use serde_json::value::RawValue;

pub(super) fn time(time: Timestamp) -> jiff::Timestamp {
    jiff::Timestamp::from_millisecond(time.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

pub(super) fn session_state(state: SessionState) -> protocol::SessionState {
    match state {
        SessionState::Starting => protocol::SessionState::Starting,
        SessionState::AssistantTurn => protocol::SessionState::AssistantTurn,
        SessionState::UserTurn => protocol::SessionState::UserTurn,
        SessionState::Dead => protocol::SessionState::Dead,
    }
}

pub(super) fn state_name(state: SessionState) -> &'static str {
    match state {
        SessionState::Starting => "starting",
        SessionState::AssistantTurn => "assistant_turn",
        SessionState::UserTurn => "user_turn",
        SessionState::Dead => "dead",
    }
}

/// What is not known is over.
pub(super) fn state_named(name: &str) -> SessionState {
    use SessionState::{AssistantTurn, Dead, Starting, UserTurn};
    let states = [Starting, AssistantTurn, UserTurn];
    let known = states.into_iter().find(|state| state_name(*state) == name);
    known.unwrap_or(Dead)
}

pub(super) fn request_type(kind: &Kind) -> RequestType {
    match kind {
        Kind::Tool => RequestType::ToolApproval,
        Kind::Questions(_) => RequestType::AskUserQuestion,
        Kind::Plan(_) => RequestType::PlanApproval,
        Kind::Elicitation(_) => RequestType::Elicitation,
        Kind::Other => RequestType::Other,
    }
}

pub(super) fn pending_request(
    request: &RequestView,
    mut detail: Arc<RequestDetail>,
) -> PendingRequest {
    let ask = &request.ask;
    if detail.free_text != request.free_text {
        Arc::make_mut(&mut detail).free_text = request.free_text;
    }
    PendingRequest {
        request_id: ask.id.0,
        session_id: request.session.0,
        request_type: request_type(&ask.kind),
        tool_name: ask.tool_name.clone(),
        tool_input: raw(&ask.input),
        input_digest: ask.digest.clone(),
        created_at: time(request.created_at),
        deadline: request.clock.deadline.map(time),
        on_timeout: match request.on_timeout {
            OnTimeout::Deny => protocol::OnTimeout::Deny,
            OnTimeout::DenyAndInterrupt => protocol::OnTimeout::DenyAndInterrupt,
        },
        held: request.clock.held,
        remaining_seconds: request.clock.remaining.map(|remaining| remaining.as_secs()),
        tool_use_id: ask.tool_use_id.clone(),
        detail,
        choices: ask
            .choices
            .iter()
            .map(|choice| Choice {
                choice_id: choice.id.clone(),
                label: choice.label.clone(),
                allows: choice.allows,
                turn_continues: choice.turn_continues,
                remembers: choice.remembers.clone(),
            })
            .collect(),
    }
}

pub(super) fn outcome(resolution: &Resolution) -> Outcome {
    Outcome {
        what: match resolution.outcome {
            OutcomeKind::Allowed => protocol::OutcomeKind::Allowed,
            OutcomeKind::Denied => protocol::OutcomeKind::Denied,
            OutcomeKind::Answered => protocol::OutcomeKind::Answered,
            OutcomeKind::Expired => protocol::OutcomeKind::Expired,
            OutcomeKind::Withdrawn => protocol::OutcomeKind::Withdrawn,
            OutcomeKind::Orphaned => protocol::OutcomeKind::Orphaned,
        },
        by: match &resolution.by {
            DecidedBy::Human(_) => protocol::DecidedBy::Human,
            DecidedBy::Rule(_) => protocol::DecidedBy::Rule,
            DecidedBy::Mode(_) => protocol::DecidedBy::Mode,
            DecidedBy::Timeout => protocol::DecidedBy::Timeout,
            DecidedBy::Policy(_) => protocol::DecidedBy::Policy,
            DecidedBy::Agent => protocol::DecidedBy::Agent,
        },
        by_name: match &resolution.by {
            DecidedBy::Rule(rule) => Some(rule.text.clone()),
            DecidedBy::Mode(mode) => Some(mode.0.as_ref().to_owned()),
            DecidedBy::Policy(policy) => Some((*policy).to_owned()),
            DecidedBy::Human(_) | DecidedBy::Timeout | DecidedBy::Agent => None,
        },
        client: match &resolution.by {
            DecidedBy::Human(client) => Some(client_ref(client)),
            DecidedBy::Rule(_)
            | DecidedBy::Mode(_)
            | DecidedBy::Timeout
            | DecidedBy::Policy(_)
            | DecidedBy::Agent => None,
        },
        message: resolution.message().map(str::to_owned),
        edited: resolution.edited(),
        delivery: match resolution.delivery {
            Delivery::Pending => protocol::Delivery::Pending,
            Delivery::Sent => protocol::Delivery::Sent,
            Delivery::TooLate => protocol::Delivery::TooLate,
            Delivery::Failed => protocol::Delivery::Failed,
            Delivery::None => protocol::Delivery::None,
        },
        at: time(resolution.at),
    }
}

fn client_ref(client: &ClientRef) -> protocol::ClientRef {
    protocol::ClientRef {
        client_id: client.id.0,
        label: client.label.clone(),
    }
}

pub(super) fn decision(decision: protocol::Decision) -> Decision {
    match decision {
        protocol::Decision::Allow(allow) => Decision::Allow(Allowance {
            updated_input: allow.updated_input.map(Json::from),
            remember: allow.remember,
            mode: allow.permission_mode.map(|mode| Mode::new(&mode)),
            automatic: allow.automatic,
        }),
        protocol::Decision::Deny(deny) => Decision::Deny {
            message: deny.message,
            interrupt: deny.interrupt,
        },
        protocol::Decision::Answer(answer) => {
            let answers = answer.answers.into_iter().map(|(question, value)| {
                let value = match value {
                    protocol::AnswerValue::Text(text) => AnswerValue::Text(text),
                    protocol::AnswerValue::Labels(labels) => AnswerValue::Labels(labels),
                };
                (question, value)
            });
            Decision::Answer(Answers {
                answers: answers.collect(),
                notes: answer.notes.into_iter().collect(),
            })
        }
        protocol::Decision::Submit(submit) => Decision::Submit(Json::from(submit.content)),
    }
}

/// The decision as it is recorded and shown.
pub(super) fn decision_json(decision: &Decision) -> serde_json::Value {
    use serde_json::{Map, Value, json};
    let value = |json: &Json| serde_json::from_str::<Value>(json.as_str()).unwrap_or(Value::Null);
    match decision {
        Decision::Allow(Allowance {
            updated_input,
            remember,
            mode,
            // Who decided stands beside it.
            automatic: _,
        }) => json!({
            "behavior": "allow",
            "updated_input": updated_input.as_ref().map(value),
            "remember": remember,
            "permission_mode": mode.as_ref().map(|mode| mode.0.as_ref()),
        }),
        Decision::Deny { message, interrupt } => {
            json!({"behavior": "deny", "message": message, "interrupt": interrupt})
        }
        Decision::Answer(Answers { answers, notes }) => {
            let notes: Map<String, Value> = notes
                .iter()
                .map(|(question, note)| (question.clone(), json!(note)))
                .collect();
            let answers: Map<String, Value> = answers
                .iter()
                .map(|(question, answer)| {
                    let answer = match answer {
                        AnswerValue::Text(text) => json!(text),
                        AnswerValue::Labels(labels) => json!(labels),
                    };
                    (question.clone(), answer)
                })
                .collect();
            json!({"behavior": "answer", "answers": answers, "notes": notes})
        }
        Decision::Submit(content) => json!({"behavior": "submit", "content": value(content)}),
    }
}

/// The other way round. `None` for what no version ever wrote.
pub(super) fn stored_decision(stored: &serde_json::Value) -> Option<Decision> {
    use serde_json::Value;
    let json = |value: &Value| Json::new(&value.to_string());
    let text = |value: &Value| value.as_str().map(str::to_owned);
    Some(match stored["behavior"].as_str()? {
        "allow" => Decision::Allow(Allowance {
            updated_input: Some(&stored["updated_input"])
                .filter(|input| !input.is_null())
                .map(json),
            remember: serde_json::from_value(stored["remember"].clone()).unwrap_or_default(),
            mode: stored["permission_mode"].as_str().map(Mode::new),
            automatic: stored["policy"] == "auto_approve",
        }),
        "deny" => Decision::Deny {
            message: text(&stored["message"]),
            interrupt: stored["interrupt"] == true,
        },
        "answer" => Decision::Answer(Answers {
            answers: stored["answers"]
                .as_object()?
                .iter()
                .map(|(question, answer)| {
                    let answer = match answer.as_str() {
                        Some(text) => AnswerValue::Text(text.to_owned()),
                        None => AnswerValue::Labels(serde_json::from_value(answer.clone()).ok()?),
                    };
                    Some((question.clone(), answer))
                })
                .collect::<Option<_>>()?,
            notes: stored["notes"]
                .as_object()
                .into_iter()
                .flatten()
                .filter_map(|(question, note)| Some((question.clone(), text(note)?)))
                .collect(),
        }),
        "submit" => Decision::Submit(json(&stored["content"])),
        _ => return None,
    })
}

pub(super) fn refusal(refusal: &Refusal) -> ErrorMessage {
    let code = match refusal {
        Refusal::UnknownRequest => ErrorCode::UnknownRequest,
        Refusal::AlreadyDecided(_) => ErrorCode::AlreadyDecided,
        Refusal::DigestMismatch => ErrorCode::DigestMismatch,
        Refusal::InvalidAnswer(_) => ErrorCode::InvalidAnswer,
        Refusal::NotSupported(_) => ErrorCode::NotSupported,
        Refusal::SessionTaken(_) => ErrorCode::SessionTaken,
        Refusal::StoreUnavailable(_) => ErrorCode::StoreUnavailable,
    };
    let outcome = match refusal {
        Refusal::AlreadyDecided(resolution) => Some(Box::new(outcome(resolution))),
        _ => None,
    };
    ErrorMessage {
        outcome,
        ..error(code, refusal.to_string())
    }
}

pub(super) fn error(code: ErrorCode, message: impl Into<String>) -> ErrorMessage {
    ErrorMessage::new(code, message)
}

/// Verbatim JSON from the broker, which took it from the agent as JSON.
pub(super) fn raw(json: &Json) -> RawJson {
    json.to_raw()
        .unwrap_or_else(|| RawJson::from(RawValue::NULL.to_owned()))
}
