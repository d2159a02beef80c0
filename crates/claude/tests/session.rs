//! The session without IO, line by line. Names say which item of a host's checklist a test stands for.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "clippy knows test functions, but not the helpers of an integration test"
)]

use indexmap::IndexMap;
use pretty_assertions::assert_eq;
use sayso_claude::event::{ControlError, NoticeLevel, SessionState, UnknownReason};
use sayso_claude::line::Line;
use sayso_claude::session::Reception;
use sayso_claude::{
    AgentEvent, AgentInput, AnswerValue, ContentBlock, ControlRequest, ControlSession,
    ElicitationAnswer, ModeEffect, PermissionAnswer, PermissionMode, PermissionUpdate, Priority,
    ProtocolError, RawJson, SendError, Suggestion, ToolAsk,
};
use serde_json::{Value, json};
use uuid::Uuid;

/// A session with a few words to say what an agent and a host do.
#[derive(Default)]
struct Talk {
    session: ControlSession,
}

impl Talk {
    fn agent(&mut self, line: Value) -> Vec<AgentEvent> {
        self.agent_text(&line.to_string()).unwrap().events
    }

    fn agent_text(&mut self, line: &str) -> Result<Reception, ProtocolError> {
        self.session.receive(&Line::check(line.to_owned()).unwrap())
    }

    fn asks(&mut self, request_id: &str, request: Value) -> ToolAsk {
        let mut request = request;
        request["subtype"] = json!("can_use_tool");
        let line = json!({"type": "control_request", "request_id": request_id, "request": request});
        match self.agent(line).pop() {
            Some(AgentEvent::Asked(ask)) => *ask,
            other => panic!("not an ask: {other:?}"),
        }
    }

    fn asks_bash(&mut self, request_id: &str) -> ToolAsk {
        self.asks(
            request_id,
            json!({"tool_name": "Bash", "input": {"command": "ls"}}),
        )
    }

    fn cancels(&mut self, request_id: &str) -> Vec<AgentEvent> {
        self.agent(json!({"type": "control_cancel_request", "request_id": request_id}))
    }

    fn answer(&mut self, request_id: &str, answer: PermissionAnswer) -> Result<String, SendError> {
        self.session.send(AgentInput::Answer {
            request_id: request_id.to_owned(),
            answer,
        })
    }

    fn open(&self) -> Vec<&str> {
        self.session.open_requests().collect()
    }
}

fn allow() -> PermissionAnswer {
    allow_with(None)
}

fn allow_with(updated_input: Option<RawJson>) -> PermissionAnswer {
    PermissionAnswer::Allow {
        updated_input,
        updated_permissions: Vec::new(),
        permanent: false,
    }
}

fn deny(message: &str) -> PermissionAnswer {
    PermissionAnswer::Deny {
        message: message.to_owned(),
        interrupt: false,
    }
}

fn not_open(request_id: &str) -> Result<String, SendError> {
    Err(SendError::NotOpen {
        request_id: request_id.to_owned(),
    })
}

fn value(line: Result<String, SendError>) -> Value {
    serde_json::from_str(&line.unwrap()).unwrap()
}

#[test]
fn checklist_2_initialize_keeps_background_agents_alive_and_a_result_in_its_place_is_a_refusal() {
    let mut talk = Talk::default();
    let line: Value = serde_json::from_str(&talk.session.initialize()).unwrap();
    let report = json!([{"matcher": null, "hookCallbackIds": ["sayso-after-tool"]}]);
    let before = json!([{
        "matcher": null, "hookCallbackIds": ["sayso-before-tool"], "timeout": 86400,
        "onFailure": "block",
    }]);
    let hooks = json!({"PreToolUse": before, "PostToolUse": report, "PostToolUseFailure": report});
    assert_eq!(
        line["request"],
        json!({
            "subtype": "initialize", "hooks": hooks, "perTaskStopAffordance": true,
            "forwardSubagentText": true,
        })
    );
    let refusal =
        r#"{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["no"]}"#;
    let refused = talk.agent_text(refusal);
    assert!(matches!(refused, Err(ProtocolError::StartRefused { errors }) if errors == ["no"]));
}

#[test]
fn checklist_4_what_is_not_known_is_kept_and_never_fatal() {
    for (line, expected) in [
        (r#"{"type":"brand_new","x":1}"#, UnknownReason::NewKind),
        (
            r#"{"type":"system","subtype":"brand_new"}"#,
            UnknownReason::NewKind,
        ),
        (r#"{"x":1}"#, UnknownReason::NewKind),
        (r#"{"type":7}"#, UnknownReason::NewKind),
        (
            r#"{"type":"system","subtype":"thinking_tokens"}"#,
            UnknownReason::NotModelled,
        ),
    ] {
        let events = Talk::default().agent_text(line).unwrap().events;
        let [AgentEvent::Unknown { reason, raw, .. }] = events.as_slice() else {
            panic!("{line}: {events:?}");
        };
        assert_eq!((reason, raw.as_str()), (&expected, line));
    }
    let misfit = r#"{"type":"assistant","message":"not an object"}"#;
    let events = Talk::default().agent_text(misfit).unwrap().events;
    assert!(matches!(
        events.as_slice(),
        [AgentEvent::Unknown {
            reason: UnknownReason::Misfit(_),
            ..
        }]
    ));
}

#[test]
fn a_request_that_could_never_be_answered_is_fatal() {
    for line in [
        r#"{"type":"control_request","request":{"subtype":"can_use_tool"}}"#,
        r#"{"type":"control_request","request_id":7,"request":{}}"#,
    ] {
        assert!(Talk::default().agent_text(line).is_err(), "{line}");
    }
    assert!(Talk::default().agent_text(r#"{"type":"#).is_err());
}

#[test]
fn checklist_5_many_requests_are_open_at_once_and_a_result_closes_none() {
    let mut talk = Talk::default();
    for request_id in ["a", "b", "c"] {
        talk.asks_bash(request_id);
    }
    talk.agent(json!({"type": "result", "subtype": "success", "is_error": false}));
    assert_eq!(talk.open(), ["a", "b", "c"]);
    talk.answer("b", allow()).unwrap();
    assert_eq!(talk.open(), ["a", "c"]);
    assert_eq!(
        talk.cancels("a"),
        [AgentEvent::Withdrawn {
            request_id: "a".into(),
            answered: false
        }]
    );
    assert_eq!(talk.open(), ["c"]);
}

#[test]
fn checklist_6_a_request_is_answered_once() {
    let mut talk = Talk::default();
    talk.asks_bash("a");
    talk.answer("a", deny("no")).unwrap();
    assert_eq!(talk.answer("a", allow()), not_open("a"));
    assert_eq!(talk.answer("never asked", allow()), not_open("never asked"));
}

#[test]
fn a_withdrawn_request_cannot_be_answered_and_a_late_withdrawal_says_so() {
    let mut talk = Talk::default();
    talk.asks_bash("a");
    talk.cancels("a");
    assert_eq!(talk.answer("a", allow()), not_open("a"));
    talk.asks_bash("b");
    talk.answer("b", allow()).unwrap();
    assert_eq!(
        talk.cancels("b"),
        [AgentEvent::Withdrawn {
            request_id: "b".into(),
            answered: true
        }]
    );
    let strange = talk.cancels("never seen");
    assert!(matches!(
        strange.as_slice(),
        [AgentEvent::Notice {
            level: NoticeLevel::Error,
            ..
        }]
    ));
}

#[test]
fn a_repeated_request_id_is_fatal_also_after_its_answer() {
    let line = r#"{"type":"control_request","request_id":"a","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{}}}"#;
    let mut talk = Talk::default();
    talk.agent_text(line).unwrap();
    assert!(matches!(
        talk.agent_text(line),
        Err(ProtocolError::RepeatedRequestId { request_id }) if request_id == "a"
    ));
    talk.answer("a", allow()).unwrap();
    assert!(talk.agent_text(line).is_err());
}

#[test]
fn checklist_7_the_input_goes_back_byte_for_byte() {
    let input = r#"{ "b":1.0, "a":1e2,"u":"\u00e4","n":12345678901234567890123 }"#;
    let line = format!(
        r#"{{"type":"control_request","request_id":"a","request":{{"subtype":"can_use_tool","tool_name":"X","input":{input}}}}}"#
    );
    let mut talk = Talk::default();
    talk.agent_text(&line).unwrap();
    assert_eq!(
        talk.answer("a", allow()).unwrap(),
        format!(
            r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"a","response":{{"behavior":"allow","updatedInput":{input}}}}}}}"#
        )
    );
}

#[test]
fn an_edited_input_stays_on_one_line_and_must_be_an_object() {
    let mut talk = Talk::default();
    talk.asks_bash("a");
    let pretty = RawJson::parse_text("{\n  \"command\": \"a\\nb\"\r\n}".to_owned()).unwrap();
    for wrong in [json!(null), json!("text"), json!([])] {
        assert_eq!(
            talk.answer("a", allow_with(Some(wrong.into()))),
            Err(SendError::NotAnObject {
                request_id: "a".into()
            })
        );
    }
    let line = talk.answer("a", allow_with(Some(pretty))).unwrap();
    assert!(!line.contains(['\n', '\r']));
    let sent: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(
        sent["response"]["response"]["updatedInput"],
        json!({"command": "a\nb"})
    );
}

#[test]
fn a_long_input_that_nobody_changed_is_left_out_where_the_agent_is_known_to_take_that() {
    let long = json!({"file_path": "a.txt", "content": "x".repeat(5000)});
    let short = json!({"file_path": "a.txt", "content": "x"});
    let sent_back = |version: &str, input: &Value| {
        let mut talk = Talk::default();
        let initialize: Value = serde_json::from_str(&talk.session.initialize()).unwrap();
        talk.agent(
            json!({"type": "control_response", "response": {"subtype": "success",
            "request_id": initialize["request_id"], "response": {"claude_code_version": version}}}),
        );
        talk.asks("r", json!({"tool_name": "Write", "input": input}));
        let line: Value = serde_json::from_str(&talk.answer("r", allow()).unwrap()).unwrap();
        line["response"]["response"]["updatedInput"].clone()
    };
    for version in ["2.1.325", "2.2.0", "10.0.1"] {
        assert_eq!(sent_back(version, &long), json!({}), "{version}");
        assert_eq!(sent_back(version, &short), short, "{version}");
    }
    for version in [
        "2.1.324",
        "2.0.999",
        "1.9.9",
        "0",
        "",
        "2.1",
        "2.1.x",
        "2.1.325.1",
    ] {
        assert_eq!(sent_back(version, &long), long, "{version}");
    }
}

#[test]
fn checklist_4_a_repaired_ask_is_denied_or_edited_but_never_allowed_as_it_stands() {
    let line = r#"{"type":"control_request","request_id":"a","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"\ud800"}}}"#;
    let mut talk = Talk::default();
    talk.agent_text(line).unwrap();
    assert_eq!(
        talk.answer("a", allow()),
        Err(SendError::Unfaithful {
            request_id: "a".into()
        })
    );
    assert_eq!(talk.open(), ["a"], "nothing was sent, so it is still open");
    talk.answer("a", deny("no")).unwrap();
}

#[test]
fn checklist_8_answers_to_requests_we_did_not_make_are_ignored() {
    let mut talk = Talk::default();
    let echo = json!({"type": "control_response", "response": {
        "subtype": "success", "request_id": "somebody else's", "response": {},
    }});
    assert_eq!(talk.agent(echo), []);
}

#[test]
fn control_requests_meet_their_answers() {
    let mut talk = Talk::default();
    let mut send = |token, request| {
        let line = value(talk.session.send(AgentInput::Control { token, request }));
        line["request_id"].as_str().unwrap().to_owned()
    };
    let first = send(1, ControlRequest::ListModels);
    let second = send(2, ControlRequest::GetSettings);
    let failed = talk.agent(json!({"type": "control_response", "response": {
        "subtype": "error", "request_id": second, "error": "no", "error_code": "code",
    }}));
    let error = ControlError {
        message: "no".into(),
        code: Some("code".into()),
    };
    assert_eq!(
        failed,
        [AgentEvent::ControlDone {
            token: 2,
            result: Err(error)
        }]
    );
    let done = talk.agent(json!({"type": "control_response", "response": {
        "subtype": "success", "request_id": first, "response": {"models": []},
    }}));
    let models = RawJson::from(json!({"models": []}));
    assert_eq!(
        done,
        [AgentEvent::ControlDone {
            token: 1,
            result: Ok(Some(models))
        }]
    );
}

#[test]
fn checklist_10_suggestions_are_read_one_by_one_and_kept_verbatim() {
    let mut talk = Talk::default();
    let ask = talk.asks(
        "a",
        json!({"tool_name": "Bash", "input": {}, "suppress_always_allow_rule": true,
        "permission_suggestions": [
            {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
            {"type": "fromTheFuture", "x": 1},
        ]}),
    );
    let updates: Vec<_> = ask
        .permission_suggestions
        .iter()
        .map(Suggestion::update)
        .collect();
    let set_mode = PermissionUpdate::SetMode {
        mode: PermissionMode::AcceptEdits,
        destination: Some("session".into()),
    };
    assert_eq!(updates, [set_mode, PermissionUpdate::Unknown]);
    assert!(ask.suppress_always_allow_rule);
    let sent = value(talk.answer(
        "a",
        PermissionAnswer::Allow {
            updated_input: None,
            updated_permissions: vec![ask.permission_suggestions[1].raw.clone()],
            permanent: true,
        },
    ));
    assert_eq!(
        sent["response"]["response"],
        json!({
            "behavior": "allow", "updatedInput": {}, "decisionClassification": "user_permanent",
            "updatedPermissions": [{"type": "fromTheFuture", "x": 1}],
        })
    );
}

#[test]
fn checklist_11_deny_carries_its_reason_and_says_whether_the_turn_ends() {
    for (interrupt, expected) in [
        (false, json!({"behavior": "deny", "message": "not now"})),
        (
            true,
            json!({"behavior": "deny", "message": "not now", "interrupt": true}),
        ),
    ] {
        let mut talk = Talk::default();
        talk.asks_bash("a");
        let message = "not now".to_owned();
        let sent = value(talk.answer("a", PermissionAnswer::Deny { message, interrupt }));
        assert_eq!(sent["response"]["response"], expected);
    }
}

/// Asks two questions and gives what the session makes of the answers.
fn answer_questions(
    answers: &[(&str, AnswerValue)],
    response: Option<&str>,
) -> Result<Value, SendError> {
    let mut talk = Talk::default();
    talk.asks(
        "a",
        json!({"tool_name": "AskUserQuestion", "input": {"questions": [
            {"question": "Which?", "options": []}, {"question": "How?", "options": []},
        ]}}),
    );
    let answers: IndexMap<String, AnswerValue> = answers
        .iter()
        .map(|(question, answer)| ((*question).to_owned(), answer.clone()))
        .collect();
    let line = talk.answer(
        "a",
        PermissionAnswer::Answers {
            answers,
            annotations: None,
            response: response.map(str::to_owned),
        },
    )?;
    let line: Value = serde_json::from_str(&line).unwrap();
    let input = &line["response"]["response"]["updatedInput"];
    assert_eq!(
        input["questions"][0],
        json!({"question": "Which?", "options": []})
    );
    Ok(input["answers"].clone())
}

#[test]
fn checklist_12_every_question_needs_an_answer_under_its_exact_text() {
    let text = |text: &str| AnswerValue::Text(text.to_owned());
    let labels = |labels: &[&str]| {
        AnswerValue::Labels(labels.iter().map(|label| (*label).to_owned()).collect())
    };
    assert_eq!(
        answer_questions(
            &[
                ("Which?", text("one")),
                ("How?", labels(&["Intro", "Body"]))
            ],
            None
        ),
        Ok(json!({"Which?": "one", "How?": "Intro, Body"}))
    );
    assert_eq!(
        answer_questions(
            &[
                ("Which?", text("one")),
                ("How?", labels(&["Intro", "End, really"]))
            ],
            None
        ),
        Ok(json!({"Which?": "one", "How?": r#""Intro", "End, really""#}))
    );
    let unanswered = |question: &str| {
        Err(SendError::Unanswered {
            question: question.to_owned(),
        })
    };
    assert_eq!(
        answer_questions(&[("Which?", text("one"))], None),
        unanswered("How?")
    );
    assert_eq!(
        answer_questions(&[("Which?", text(" ")), ("How?", labels(&[]))], None),
        unanswered("Which?")
    );
    assert_eq!(
        answer_questions(&[("Header", text("one"))], None),
        Err(SendError::UnknownQuestion {
            question: "Header".to_owned()
        })
    );
    assert_eq!(answer_questions(&[], Some("let us talk")), Ok(json!({})));
}

#[test]
fn answers_must_fit_the_kind_of_request() {
    let mut talk = Talk::default();
    talk.asks_bash("tool");
    talk.agent(
        json!({"type": "control_request", "request_id": "form", "request": {
            "subtype": "elicitation", "mcp_server_name": "m", "message": "?", "mode": "form",
        }}),
    );
    let wrong_kind = |request_id: &str| {
        Err(SendError::WrongKind {
            request_id: request_id.into(),
        })
    };
    assert_eq!(talk.answer("form", allow()), wrong_kind("form"));
    let decline = |request_id: &str| AgentInput::AnswerElicitation {
        request_id: request_id.to_owned(),
        answer: ElicitationAnswer::Decline,
    };
    assert_eq!(talk.session.send(decline("tool")), wrong_kind("tool"));
    let answers = PermissionAnswer::Answers {
        answers: IndexMap::new(),
        annotations: None,
        response: Some("x".to_owned()),
    };
    assert_eq!(
        talk.answer("tool", answers),
        Err(SendError::NoQuestions {
            request_id: "tool".into()
        })
    );
    assert_eq!(
        value(talk.session.send(decline("form")))["response"]["response"],
        json!({"action": "decline"})
    );
}

#[test]
fn requests_that_no_human_answers_are_shown_and_treated_by_kind() {
    for (subtype, reply) in [
        (
            "mcp_message",
            Some(
                json!({"subtype": "error", "request_id": "a", "error": "this host offers no MCP server"}),
            ),
        ),
        ("request_user_dialog", None),
        ("from_the_future", None),
    ] {
        let mut talk = Talk::default();
        let line =
            json!({"type": "control_request", "request_id": "a", "request": {"subtype": subtype}});
        let reception = talk.agent_text(&line.to_string()).unwrap();
        let replies: Vec<Value> = reception
            .replies
            .iter()
            .map(|reply| serde_json::from_str::<Value>(&reply.line).unwrap()["response"].clone())
            .collect();
        assert_eq!(
            replies,
            reply.clone().into_iter().collect::<Vec<_>>(),
            "{subtype}"
        );
        assert_eq!(talk.open().is_empty(), reply.is_some(), "{subtype}");
        assert!(matches!(
            reception.events.as_slice(),
            [AgentEvent::OtherRequest { answered, .. }] if *answered == reply.is_some()
        ));
    }
}

#[test]
fn an_ask_in_an_unknown_shape_can_still_be_refused() {
    let mut talk = Talk::default();
    let line = json!({"type": "control_request", "request_id": "a", "request": {"subtype": "can_use_tool"}});
    let events = talk.agent(line);
    assert!(matches!(
        events.as_slice(),
        [AgentEvent::OtherRequest {
            reason: Some(_),
            ..
        }]
    ));
    let refusal = AgentInput::Refuse {
        request_id: "a".into(),
        message: "unreadable".into(),
    };
    assert_eq!(
        value(talk.session.send(refusal))["response"],
        json!({"subtype": "error", "request_id": "a", "error": "unreadable"})
    );
}

#[test]
fn initialize_again_takes_over_what_is_open() {
    let mut talk = Talk::default();
    talk.asks_bash("known");
    let line: Value = serde_json::from_str(&talk.session.initialize()).unwrap();
    let pending = |id: &str| {
        json!({"type": "control_request", "request_id": id, "request": {
            "subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"},
        }})
    };
    let events = talk.agent(json!({"type": "control_response", "response": {
        "subtype": "success", "request_id": line["request_id"], "response": {},
        "pending_permission_requests": [pending("known"), pending("from before")],
    }}));
    let kinds: Vec<_> = events.iter().map(AgentEvent::kind).collect();
    assert_eq!(kinds, ["initialized", "asked"]);
    assert_eq!(talk.open(), ["known", "from before"]);
}

#[test]
fn checklist_15_a_user_message_carries_its_uuid() {
    let uuid = Uuid::from_u128(7);
    let send = |content: Vec<ContentBlock>, should_query, priority| {
        ControlSession::new().send(AgentInput::UserMessage {
            uuid,
            content,
            should_query,
            priority,
        })
    };
    let text = ContentBlock::Text {
        text: "hi\nthere".to_owned(),
    };
    assert_eq!(
        value(send(vec![text.clone()], true, None)),
        json!({"type": "user", "uuid": uuid, "message": {
            "role": "user", "content": [{"type": "text", "text": "hi\nthere"}],
        }})
    );
    let image = ContentBlock::Image {
        media_type: "image/png".into(),
        base64: "AA==".into(),
    };
    let document = ContentBlock::TextDocument {
        text: "x".into(),
        title: Some("t".into()),
    };
    assert_eq!(
        value(send(vec![image, document], false, Some(Priority::Later))),
        json!({"type": "user", "uuid": uuid, "shouldQuery": false, "priority": "later", "message": {
            "role": "user", "content": [
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
                {"type": "document", "title": "t", "source": {"type": "text", "media_type": "text/plain", "data": "x"}},
            ],
        }})
    );
    assert_eq!(send(vec![], true, None), Err(SendError::EmptyMessage));
}

#[test]
fn checklist_16_success_is_judged_by_error_flag_and_reason() {
    for (line, expected) in [
        (
            json!({"subtype": "success", "is_error": false, "terminal_reason": "completed"}),
            true,
        ),
        (json!({"subtype": "success", "is_error": false}), true),
        (
            json!({"subtype": "success", "is_error": true, "terminal_reason": "api_error"}),
            false,
        ),
        (
            json!({"subtype": "success", "is_error": false, "terminal_reason": "aborted_streaming"}),
            false,
        ),
        (
            json!({"subtype": "error_max_turns", "is_error": true, "terminal_reason": "max_turns"}),
            false,
        ),
    ] {
        let mut line = line;
        line["type"] = json!("result");
        let events = Talk::default().agent(line.clone());
        let [AgentEvent::TurnEnded(result)] = events.as_slice() else {
            panic!("{line}");
        };
        assert_eq!(result.succeeded(), expected, "{line}");
    }
}

#[test]
fn checklist_18_the_session_id_follows_every_init() {
    let mut talk = Talk::default();
    for id in ["one", "two"] {
        talk.agent(json!({"type": "system", "subtype": "init", "session_id": id}));
        assert_eq!(talk.session.agent_session_id(), Some(id));
    }
}

#[test]
fn checklist_13_the_effect_of_a_mode_is_judged_conservatively() {
    use ModeEffect::{Allows, Asks, Denies};
    use PermissionMode as Mode;
    let accept = json!([{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]);
    let cases = [
        (json!({"tool_name": "Bash"}), [Asks, Asks, Denies, Allows]),
        (
            json!({"tool_name": "Write", "permission_suggestions": accept}),
            [Asks, Allows, Denies, Allows],
        ),
        (json!({"tool_name": "Write"}), [Asks, Asks, Denies, Allows]),
        (
            json!({"tool_name": "Edit", "permission_suggestions": accept, "blocked_path": "/x"}),
            [Asks, Asks, Denies, Allows],
        ),
        (
            json!({"tool_name": "Edit", "permission_suggestions": accept, "decision_reason_type": "workingDir"}),
            [Asks, Asks, Denies, Allows],
        ),
        (
            json!({"tool_name": "Bash", "decision_reason_type": "safetyCheck"}),
            [Asks, Asks, Denies, Asks],
        ),
        (
            json!({"tool_name": "Bash", "decision_reason_type": "rule"}),
            [Asks, Asks, Denies, Asks],
        ),
        (
            json!({"tool_name": "Bash", "decision_reason_type": "hook"}),
            [Asks, Asks, Denies, Asks],
        ),
        (
            json!({"tool_name": "AskUserQuestion"}),
            [Asks, Asks, Denies, Asks],
        ),
        (
            json!({"tool_name": "ExitPlanMode"}),
            [Asks, Asks, Denies, Asks],
        ),
        (
            json!({"tool_name": "Bash", "requires_user_interaction": true}),
            [Asks, Asks, Denies, Asks],
        ),
    ];
    for (request, expected) in cases {
        let mut request = request;
        request["input"] = json!({});
        let ask = Talk::default().asks("a", request.clone());
        let modes = [
            Mode::Default,
            Mode::AcceptEdits,
            Mode::DontAsk,
            Mode::BypassPermissions,
        ];
        assert_eq!(
            modes.map(|mode| ask.mode_effect(&mode)),
            expected,
            "{request}"
        );
        for mode in [Mode::Plan, Mode::Auto, Mode::Other("new".into())] {
            assert_eq!(ask.mode_effect(&mode), Asks, "{request} {mode}");
        }
    }
}

#[test]
fn states_modes_and_progress_are_read() {
    let check = |line: Value, expected: AgentEvent| {
        assert_eq!(Talk::default().agent(line), [expected]);
    };
    check(
        json!({"type": "system", "subtype": "session_state_changed", "state": "requires_action"}),
        AgentEvent::StateChanged(SessionState::RequiresAction),
    );
    check(
        json!({"type": "system", "subtype": "status", "status": null, "permissionMode": "manual"}),
        AgentEvent::ModeChanged {
            mode: PermissionMode::Default,
        },
    );
    check(
        json!({"type": "tool_progress", "tool_use_id": "t-heartbeat-0", "parent_tool_use_id": "t",
            "heartbeat": true, "elapsed_time_seconds": 30}),
        AgentEvent::ToolProgress {
            tool_use_id: "t".into(),
            tool_name: None,
            elapsed_seconds: 30.0,
        },
    );
}

#[test]
fn decorations_of_another_shape_do_not_hide_an_ask_or_an_end() {
    let ask = Talk::default().asks(
        "a",
        json!({
            "tool_name": "Bash", "input": {}, "permission_suggestions": "none", "mcp_server": 7,
            "decision_reason": {"why": 1}, "classifier_approvable": "perhaps", "default_to_no": 1,
        }),
    );
    assert_eq!(ask.decision_reason.as_deref(), Some(r#"{"why":1}"#));
    assert_eq!(
        (ask.permission_suggestions.len(), ask.mcp_server),
        (0, None)
    );
    let line = json!({
        "type": "result", "is_error": true, "errors": "one", "num_turns": "many", "origin": 3,
        "total_cost_usd": null, "permission_denials": {},
    });
    let events = Talk::default().agent(line);
    assert!(matches!(events.as_slice(), [AgentEvent::TurnEnded(result)] if result.is_error));
}
