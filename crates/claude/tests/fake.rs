//! The fake agent behaves as the real one does, as far as a host can see.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "clippy knows test functions, but not the helpers of an integration test"
)]

mod common;

use common::{Agent, allow, bash, message};
use indexmap::IndexMap;
use sayso_claude::event::{BlockContent, SessionState, TaskUpdateKind};
use sayso_claude::{
    AgentEvent, AgentInput, AnswerValue, ControlRequest, ElicitationAnswer, PermissionAnswer,
    PermissionMode, RawJson, ToolAsk,
};
use serde_json::{Value, json};
use uuid::Uuid;

fn write(name: &str, content: &str) -> Value {
    json!({"tool": {"name": "Write", "input": {"file_path": name, "content": content}}})
}

fn first_answers(ask: &ToolAsk) -> PermissionAnswer {
    let input = ask.input.to_value().unwrap();
    let answers: IndexMap<String, AnswerValue> = input["questions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|question| {
            let label = question["options"][0]["label"].as_str().unwrap().to_owned();
            let key = question["question"].as_str().unwrap().to_owned();
            (key, AnswerValue::Labels(vec![label]))
        })
        .collect();
    PermissionAnswer::Answers {
        answers,
        annotations: None,
        response: None,
    }
}

/// Plays a turn in which everything is allowed; gives the names of the tools that asked, and all that was said.
async fn allow_everything(agent: &mut Agent) -> (Vec<String>, String) {
    let mut asked = Vec::new();
    let mut said = String::new();
    loop {
        match agent.next().await {
            AgentEvent::Asked(ask) if ask.tool_name == "AskUserQuestion" => {
                asked.push(ask.tool_name.clone());
                agent.answer(&ask, first_answers(&ask)).unwrap();
            }
            AgentEvent::Asked(ask) => {
                asked.push(ask.tool_name.clone());
                agent.allow(&ask);
            }
            AgentEvent::Assistant(message) => {
                for block in message.blocks {
                    if let BlockContent::Text { text } = block.content {
                        said.push_str(&text);
                        said.push('\n');
                    }
                }
            }
            AgentEvent::TurnEnded(_) => return (asked, said),
            _ => {}
        }
    }
}

#[tokio::test]
async fn the_demo_meets_every_kind_of_ask_and_really_works() {
    let mut agent = Agent::process();
    agent.say("Hello!");
    let (asked, said) = allow_everything(&mut agent).await;
    assert_eq!(asked, ["Bash", "AskUserQuestion", "Edit"]);
    assert_eq!(
        agent.file("hello.txt").as_deref(),
        Some("Hello from Sayso\nEdited with your say-so\n")
    );
    for part in [
        "built-in demo agent",
        "as I had asked",
        "**Briefly**",
        "That was the tour",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[tokio::test]
async fn the_demo_tells_the_truth_about_denied_and_changed_commands() {
    let mut agent = Agent::in_process(&[]);
    agent.say("Hello!");
    let ask = agent.ask().await;
    let changed = json!({"command": "echo changed > other.txt; cat other.txt"});
    agent
        .answer(&ask, allow(Some(changed), Vec::new()))
        .unwrap();
    let said = agent
        .until(|event| match event {
            AgentEvent::Assistant(message) => match &message.blocks[0].content {
                BlockContent::Text { text } if text.contains("your") => Some(text.clone()),
                _ => None,
            },
            _ => None,
        })
        .await;
    assert!(
        said.contains("**your** version") && said.contains("changed"),
        "{said}"
    );
    assert_eq!(agent.file("other.txt").as_deref(), Some("changed\n"));
    let question = agent.ask().await;
    agent.deny(&question, "no questions please");
    let edit = agent.ask().await;
    assert_eq!(edit.tool_name, "Write");
    agent.deny(&edit, "keep it");
    assert!(agent.turn_end().await.succeeded());
    assert_eq!(agent.file("hello.txt"), None);
}

#[tokio::test]
async fn words_pick_parts_of_the_demo() {
    for (text, expected) in [
        ("a question", vec!["AskUserQuestion"]),
        ("subagents, please", vec!["Bash", "Bash"]),
        ("an edit and a plan", vec!["Write", "ExitPlanMode"]),
    ] {
        let mut agent = Agent::in_process(&[]);
        agent.say(text);
        assert_eq!(allow_everything(&mut agent).await.0, expected, "{text}");
    }
    let mut agent = Agent::in_process(&[]);
    agent.say("error");
    let result = agent.turn_end().await;
    assert_eq!(
        (result.succeeded(), result.api_error_status),
        (false, Some(529))
    );
    assert!(agent.kinds.contains(&"api_retry"));
}

#[tokio::test(start_paused = true)]
async fn a_long_answer_can_be_stopped_half_way() {
    let mut agent = Agent::in_process(&[]);
    agent.say("something long");
    for _ in 0..20 {
        agent.until_kind("delta").await;
    }
    agent.control(
        1,
        ControlRequest::Interrupt {
            cancel_queued: false,
        },
    );
    let aborted = agent
        .until(|event| match event {
            AgentEvent::Assistant(message) => Some(message.aborted),
            _ => None,
        })
        .await;
    assert!(aborted);
    assert_eq!(
        agent.turn_end().await.terminal_reason.as_deref(),
        Some("aborted_streaming")
    );
}

#[tokio::test]
async fn modes_decide_what_is_asked() {
    let steps = || {
        json!([bash("echo hi"), write("a.txt", "a"), {"question": {"questions": [
            {"question": "?", "header": "h", "multiSelect": false, "options": [{"label": "a"}, {"label": "b"}]},
        ]}}])
    };
    for (mode, expected) in [
        ("default", vec!["Bash", "Write", "AskUserQuestion"]),
        ("acceptEdits", vec!["Bash", "AskUserQuestion"]),
        ("plan", vec!["Bash", "Write", "AskUserQuestion"]),
        ("dontAsk", vec![]),
        ("bypassPermissions", vec!["AskUserQuestion"]),
    ] {
        let mut agent = Agent::in_process(&[&format!("--permission-mode={mode}")]);
        agent.script(steps());
        let (asked, _) = allow_everything(&mut agent).await;
        assert_eq!(asked, expected, "{mode}");
        let denied = agent
            .kinds
            .iter()
            .filter(|kind| **kind == "permission_denied")
            .count();
        assert_eq!(denied, if mode == "dontAsk" { 3 } else { 0 }, "{mode}");
    }
}

#[tokio::test]
async fn the_mode_can_be_changed_while_an_ask_is_open_and_leaves_it_open() {
    let mut agent = Agent::in_process(&[]);
    agent.script(json!([write("a.txt", "a"), write("b.txt", "b")]));
    let ask = agent.ask().await;
    let mode = PermissionMode::AcceptEdits;
    agent.control(1, ControlRequest::SetPermissionMode { mode: mode.clone() });
    assert_eq!(
        agent.until_kind("mode_changed").await,
        AgentEvent::ModeChanged { mode }
    );
    assert!(agent.control_done(1).await.is_ok());
    agent.allow(&ask);
    assert_eq!(allow_everything(&mut agent).await.0, Vec::<String>::new());
    assert_eq!(agent.file("b.txt").as_deref(), Some("b"));
    for (mode, code) in [
        (PermissionMode::Other("x".into()), "invalid_mode"),
        (PermissionMode::BypassPermissions, "bypass_not_launched"),
    ] {
        agent.control(2, ControlRequest::SetPermissionMode { mode });
        assert_eq!(agent.control_done(2).await, Err(code.to_owned()));
    }
}

#[tokio::test]
async fn a_remembered_rule_is_not_asked_again() {
    let mut agent = Agent::in_process(&[]);
    agent.script(json!([
        bash("echo same"),
        bash("echo same"),
        bash("echo other")
    ]));
    let ask = agent.ask().await;
    let rule = ask.permission_suggestions[0].raw.clone();
    agent.answer(&ask, allow(None, vec![rule])).unwrap();
    let next = agent.ask().await;
    assert_eq!(next.input.to_value().unwrap()["command"], "echo other");
}

#[tokio::test]
async fn subagents_ask_side_by_side_with_their_own_ids() {
    let mut agent = Agent::in_process(&[]);
    let sub =
        |name: &str| json!({"subagent": {"name": name, "steps": [bash("true"), {"say": name}]}});
    agent.script(json!([{"together": [sub("one"), sub("two")]}]));
    let mut agents = Vec::new();
    let mut asks = Vec::new();
    while asks.len() < 2 {
        match agent.next().await {
            AgentEvent::TaskUpdate(task) if task.kind == TaskUpdateKind::Started => {
                agents.push(task.task_id.clone());
            }
            AgentEvent::Asked(ask) => asks.push(*ask),
            _ => {}
        }
    }
    let asking: Vec<_> = asks.iter().filter_map(|ask| ask.agent_id.clone()).collect();
    assert_eq!(asking, agents);
    for ask in asks.iter().rev() {
        agent.allow(ask);
    }
    assert!(agent.turn_end().await.succeeded());
}

#[tokio::test]
async fn a_plan_is_approved_with_changes_and_leaves_plan_mode() {
    let mut agent = Agent::in_process(&["--permission-mode=plan"]);
    agent.script(json!([{"plan": "do it"}]));
    let ask = agent.ask().await;
    assert!(ask.requires_user_interaction);
    agent
        .answer(
            &ask,
            allow(Some(json!({"plan": "do it better"})), Vec::new()),
        )
        .unwrap();
    let mode = PermissionMode::Default;
    assert_eq!(
        agent.until_kind("mode_changed").await,
        AgentEvent::ModeChanged { mode }
    );
    let result = agent.until_kind("user").await;
    assert!(format!("{result:?}").contains("do it better"));
}

#[tokio::test]
async fn an_elicitation_is_answered() {
    let mut agent = Agent::in_process(&[]);
    agent
        .script(json!([{"elicit": {"message": "Where?", "requested_schema": {"type": "object"}}}]));
    let AgentEvent::Elicited(form) = agent.until_kind("elicited").await else {
        unreachable!();
    };
    let content = RawJson::from(json!({"where": "here"}));
    let answer = ElicitationAnswer::Accept { content };
    let request_id = form.request_id.clone();
    agent
        .handle
        .try_send(AgentInput::AnswerElicitation { request_id, answer })
        .unwrap();
    let result = agent.turn_end().await.result.unwrap();
    assert!(result.contains("\"where\":\"here\""), "{result}");
}

#[tokio::test]
async fn messages_wait_for_their_turn_and_can_be_taken_back() {
    let mut agent = Agent::in_process(&[]);
    agent.script(json!([bash("true")]));
    let ask = agent.ask().await;
    let kept = agent.say(r#"{"steps":[{"say":"second turn"}]}"#);
    let dropped = agent.say("never played");
    agent.control(
        1,
        ControlRequest::CancelQueuedMessage {
            message_uuid: dropped,
        },
    );
    let answer = agent.control_done(1).await.unwrap().unwrap();
    assert_eq!(answer.to_value(), Some(json!({"cancelled": true})));
    agent
        .handle
        .try_send(message(kept, "the same message again is swallowed"))
        .unwrap();
    agent.allow(&ask);
    agent.turn_end().await;
    assert_eq!(
        agent.turn_end().await.result.as_deref(),
        Some("second turn")
    );
    agent
        .until(|event| (event == AgentEvent::StateChanged(SessionState::Idle)).then_some(()))
        .await;
}

#[tokio::test]
async fn clear_starts_a_new_conversation() {
    let mut agent = Agent::in_process(&[]);
    agent.script(json!([{"say": "hi"}]));
    agent.turn_end().await;
    let before = agent.handle.agent_session_id();
    agent.say("/clear");
    agent.until_kind("conversation_reset").await;
    agent.turn_end().await;
    assert_ne!(agent.handle.agent_session_id(), before);
}

#[tokio::test]
async fn control_requests_are_answered_as_the_cli_answers_them() {
    let mut agent = Agent::in_process(&[]);
    for (token, request) in [
        ControlRequest::ListModels,
        ControlRequest::GetSettings,
        ControlRequest::GetContextUsage,
        ControlRequest::McpStatus,
        ControlRequest::Interrupt {
            cancel_queued: true,
        },
        ControlRequest::SetModel {
            model: Some("other".into()),
        },
        ControlRequest::FileSuggestions { query: "x".into() },
    ]
    .into_iter()
    .enumerate()
    {
        agent.control(token as u64, request);
        assert!(agent.control_done(token as u64).await.is_ok());
    }
    agent.control(
        90,
        ControlRequest::RenameSession {
            title: "New".into(),
        },
    );
    let title = "New".to_owned();
    assert_eq!(
        agent.until_kind("title_changed").await,
        AgentEvent::TitleChanged { title }
    );
    agent.control(91, ControlRequest::Raw(json!({"subtype": "make_tea"})));
    assert_eq!(
        agent.control_done(91).await,
        Err("unsupported_request".to_owned())
    );
}

#[tokio::test]
async fn the_end_of_a_session_is_an_exit_without_fault() {
    let mut agent = Agent::process();
    agent.script(json!([{"say": "bye"}]));
    agent.turn_end().await;
    agent.control(1, ControlRequest::EndSession);
    let exited = agent.exited().await;
    assert_eq!((exited.code, exited.error), (Some(0), None));
}

#[tokio::test]
async fn files_outside_the_folder_are_left_alone() {
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("a.txt");
    let mut agent = Agent::in_process(&["--permission-mode=bypassPermissions"]);
    std::os::unix::fs::symlink(&target, agent.folder.path().join("link.txt")).unwrap();
    agent.script(json!([
        write(target.to_str().unwrap(), "x"),
        write("../escaped.txt", "x"),
        write("link.txt", "x"),
    ]));
    agent.turn_end().await;
    assert!(!target.exists());
    assert!(
        !agent
            .folder
            .path()
            .parent()
            .unwrap()
            .join("escaped.txt")
            .exists()
    );
}

#[tokio::test]
async fn an_unreadable_script_says_so() {
    let mut agent = Agent::in_process(&[]);
    agent.say(r#"{"steps":[{"dance":1}]}"#);
    let result = agent.turn_end().await;
    assert!(result.is_error && result.result.unwrap().contains("dance"));
}

/// Everything an agent says, with the folder's name taken out.
async fn all_events(session_id: Uuid) -> String {
    let mut agent = Agent::in_process(&[&format!("--session-id={session_id}")]);
    agent.script(json!([{"think": "hm"}, bash("echo hi"), {"stream": ["a", "b"]}]));
    let mut text = String::new();
    loop {
        let event = agent.next().await;
        text.push_str(&format!("{event:?}\n"));
        match event {
            AgentEvent::Asked(ask) => agent.allow(&ask),
            AgentEvent::TurnEnded(_) => break,
            _ => {}
        }
    }
    text.replace(agent.folder.path().to_str().unwrap(), "FOLDER")
}

#[tokio::test]
async fn the_same_start_gives_the_same_words_and_ids() {
    let (one, two) = (Uuid::from_u128(1), Uuid::from_u128(2));
    let first = all_events(one).await;
    assert_eq!(first, all_events(one).await);
    assert_ne!(first, all_events(two).await);
}
