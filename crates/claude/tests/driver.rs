//! The driver with the fake agent, in memory and as a real process.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "clippy knows test functions, but not the helpers of an integration test"
)]

mod common;

use std::time::Duration;

use common::{Agent, allow, bash, living_in_group, message, wait_until_group_is_empty};
use sayso_claude::driver::{AgentFault, Limits};
use sayso_claude::event::{NoticeLevel, UserBlock};
use sayso_claude::{
    AgentEvent, AgentInput, ContentBlock, ControlRequest, ControlSession, LaunchError,
    LaunchOptions, PermissionAnswer, PermissionMode, SendError, connect, spawn,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use uuid::Uuid;

fn impatient() -> Limits {
    Limits {
        until_ended: Duration::from_millis(200),
        ..Limits::default()
    }
}

/// The tool results of a turn, as (text, is error), until the turn ends.
async fn results(agent: &mut Agent) -> Vec<(String, bool)> {
    let mut results = Vec::new();
    agent
        .until(|event| {
            match event {
                AgentEvent::User(user) => {
                    for block in user.blocks {
                        if let UserBlock::ToolResult(result) = block {
                            let text = format!("{:?}", result.content);
                            results.push((text, result.is_error));
                        }
                    }
                }
                AgentEvent::TurnEnded(_) => return Some(()),
                _ => {}
            }
            None
        })
        .await;
    results
}

#[tokio::test]
async fn two_asks_are_open_at_once_and_answered_in_reverse() {
    for mut agent in [Agent::process(), Agent::in_process(&[])] {
        agent.script(json!([{"together": [bash("echo first"), bash("echo second")]}]));
        let first = agent.ask().await;
        let second = agent.ask().await;
        agent.allow(&second);
        agent.deny(&first, "not this one");
        let mut results = results(&mut agent).await;
        results.sort();
        assert_eq!(
            results,
            [
                ("Text(\"not this one\")".to_owned(), true),
                ("Text(\"second\")".to_owned(), false),
            ]
        );
    }
}

#[tokio::test]
async fn an_ask_arrives_while_its_message_still_streams() {
    let mut agent = Agent::in_process(&[]);
    agent.script(json!([{"together": [bash("echo hi"), {"stream": ["a", "b", "c"]}]}]));
    let ask = agent.ask().await;
    let text = agent
        .until(|event| match event {
            AgentEvent::Delta { text, .. } if text == "c" => Some(text),
            _ => None,
        })
        .await;
    assert_eq!(text, "c");
    agent.allow(&ask);
    assert!(agent.turn_end().await.succeeded());
}

#[tokio::test]
async fn a_withdrawn_request_is_told_and_can_no_longer_be_answered() {
    let mut agent = Agent::in_process(&[]);
    agent.script(json!([{"withdraw": {"tool": {"name": "Bash", "input": {"command": "ls"}}}}]));
    let ask = agent.ask().await;
    let withdrawn = agent.until_kind("withdrawn").await;
    let request_id = ask.request_id.clone();
    assert_eq!(
        withdrawn,
        AgentEvent::Withdrawn {
            request_id: request_id.clone(),
            answered: false
        }
    );
    assert_eq!(
        agent.answer(&ask, allow(None, Vec::new())),
        Err(SendError::NotOpen { request_id })
    );
    assert!(agent.turn_end().await.succeeded());
}

#[tokio::test]
async fn an_interrupt_withdraws_all_open_asks_in_the_order_of_the_cli() {
    for mut agent in [Agent::process(), Agent::in_process(&[])] {
        agent.script(json!([{"together": [bash("echo 1"), bash("echo 2")]}]));
        agent.ask().await;
        agent.ask().await;
        agent.kinds.clear();
        agent.control(
            1,
            ControlRequest::Interrupt {
                cancel_queued: false,
            },
        );
        let result = agent.turn_end().await;
        assert_eq!(result.terminal_reason.as_deref(), Some("aborted_tools"));
        assert!(!result.succeeded());
        assert_eq!(
            agent
                .kinds
                .iter()
                .filter(|kind| **kind != "delta")
                .copied()
                .collect::<Vec<_>>(),
            [
                "withdrawn",
                "withdrawn",
                "control_done",
                "state_changed",
                "user",
                "user",
                "user",
                "turn_ended",
            ]
        );
        agent.script(json!([{"say": "still here"}]));
        assert_eq!(agent.turn_end().await.result.as_deref(), Some("still here"));
    }
}

#[tokio::test]
async fn denying_with_interrupt_withdraws_the_others() {
    let mut agent = Agent::in_process(&[]);
    agent.script(json!([{"together": [bash("echo 1"), bash("echo 2")]}]));
    let first = agent.ask().await;
    let second = agent.ask().await;
    let message = "stop".to_owned();
    agent
        .answer(
            &first,
            PermissionAnswer::Deny {
                message,
                interrupt: true,
            },
        )
        .unwrap();
    let request_id = second.request_id;
    let withdrawn = agent.until_kind("withdrawn").await;
    assert_eq!(
        withdrawn,
        AgentEvent::Withdrawn {
            request_id,
            answered: false
        }
    );
    assert_eq!(
        agent.turn_end().await.terminal_reason.as_deref(),
        Some("aborted_tools")
    );
}

#[tokio::test]
async fn an_interrupt_stops_a_turn_that_runs_no_tool() {
    let mut agent = Agent::in_process(&[]);
    agent.script(json!([{"say": "waiting"}, {"sleep_ms": 600_000}]));
    agent.until_kind("assistant").await;
    agent.control(
        1,
        ControlRequest::Interrupt {
            cancel_queued: false,
        },
    );
    assert_eq!(
        agent.turn_end().await.terminal_reason.as_deref(),
        Some("aborted_streaming")
    );
}

async fn fault_after(step: Value) -> (AgentFault, u32) {
    let mut agent = Agent::process();
    let group = agent.handle.process_id().unwrap();
    agent.script(json!([step, {"sleep_ms": 600_000}]));
    let exited = agent.exited().await;
    (exited.error.unwrap(), group)
}

#[tokio::test]
async fn bad_output_ends_the_agent_with_a_sentence_that_names_the_fault() {
    for (step, expected) in [
        (
            json!({"huge_line": {"bytes": 100 << 20}}),
            "longer than 67108864 bytes",
        ),
        (json!("invalid_utf8"), "not UTF-8"),
        (json!("half_line"), "in the middle of a line"),
        (json!("repeat_request_id"), "twice"),
        (json!({"deep": {"levels": 500}}), "deeper than 127 levels"),
        (json!({"raw": {"text": "{\"type\": nonsense}"}}), "not JSON"),
        (
            json!({"raw": {"text": "{\"type\":\"control_request\",\"request_id\":1}"}}),
            "id cannot be read",
        ),
    ] {
        let (fault, group) = fault_after(step.clone()).await;
        assert!(fault.to_string().contains(expected), "{step}: {fault}");
        wait_until_group_is_empty(group).await;
    }
}

#[tokio::test]
async fn odd_output_that_harms_nobody_is_shown() {
    let mut agent = Agent::process();
    agent.script(json!([
        {"raw_bytes": [255, 10]}, {"raw": {"text": "debug: hello"}}, {"raw": {"text": ""}}, {"raw": {"text": "{\"type\":\"news\"}"}},
        "cancel_unknown",
    ]));
    assert_eq!(
        agent.until_kind("noise").await,
        AgentEvent::Noise("\u{fffd}".to_owned())
    );
    assert_eq!(
        agent.until_kind("noise").await,
        AgentEvent::Noise("debug: hello".to_owned())
    );
    let AgentEvent::Unknown { kind, .. } = agent.next().await else {
        panic!("the blank line is passed over and the news come next");
    };
    assert_eq!(kind, "news");
    assert!(matches!(
        agent.next().await,
        AgentEvent::Notice {
            level: NoticeLevel::Error,
            ..
        }
    ));
    assert!(agent.turn_end().await.succeeded());
}

#[tokio::test]
async fn an_agent_that_exits_while_it_asks_leaves_nothing_to_answer() {
    let mut agent = Agent::process();
    agent.script(json!([{"together": [bash("echo hi"), {"exit": {"code": 7}}]}]));
    let ask = agent.ask().await;
    let exited = agent.exited().await;
    assert_eq!((exited.code, exited.signal), (Some(7), None));
    assert_eq!(
        exited.error,
        Some(AgentFault::Crashed("exit code 7".to_owned()))
    );
    assert_eq!(
        agent.answer(&ask, allow(None, Vec::new())),
        Err(SendError::Closed)
    );
}

#[tokio::test]
async fn a_crash_names_its_signal() {
    let mut agent = Agent::process();
    agent.script(json!([{"stderr": "something broke"}, "crash"]));
    let exited = agent.exited().await;
    assert_eq!(
        exited.error,
        Some(AgentFault::Crashed("signal 6".to_owned()))
    );
    assert!(exited.stderr_tail.contains("something broke"));
}

#[tokio::test]
async fn checklist_17_stopping_in_order_withdraws_asks_and_leaves_no_process() {
    let mut agent = Agent::process();
    let group = agent.handle.process_id().unwrap();
    agent.script(json!([
        {"tool": {"name": "Bash", "ask": false, "input": {"command": "sleep 1000 >/dev/null 2>&1 &"}}},
        bash("echo hi"),
    ]));
    agent.ask().await;
    assert!(
        living_in_group(group).len() >= 2,
        "the agent and its background command"
    );
    agent.handle.stop();
    let exited = agent.exited().await;
    assert!(agent.kinds.contains(&"withdrawn"));
    // The interrupted turn counts as failed, so the agent says 1; it was asked to end, so it is no fault.
    assert_eq!((exited.code, exited.error), (Some(1), None));
    wait_until_group_is_empty(group).await;
}

#[tokio::test]
async fn an_agent_that_does_not_listen_is_asked_and_then_made_to_end() {
    let mut agent = Agent::process_with(|_| {}, impatient());
    agent.script(json!(["ignore_stdin", {"say": "deaf now"}, {"sleep_ms": 600_000}]));
    agent.until_kind("assistant").await;
    agent.handle.stop();
    let exited = agent.exited().await;
    assert_eq!((exited.signal, exited.error), (Some(15), None));
}

#[tokio::test]
async fn killing_ends_an_agent_at_once() {
    let mut agent = Agent::process();
    agent.script(json!([bash("echo hi")]));
    agent.ask().await;
    agent.handle.kill();
    let exited = agent.exited().await;
    assert_eq!((exited.signal, exited.error), (Some(9), None));
    assert_eq!(
        agent.handle.try_send(message(Uuid::nil(), "x")),
        Err(SendError::Closed)
    );
}

#[tokio::test]
async fn dropping_the_last_handle_stops_the_agent() {
    let Agent {
        handle,
        mut events,
        folder: _folder,
        ..
    } = Agent::process();
    let group = handle.process_id().unwrap();
    drop(handle);
    let mut last = None;
    while let Some(event) = events.recv().await {
        last = Some(event);
    }
    assert!(matches!(last, Some(AgentEvent::Exited(exited)) if exited.error.is_none()));
    wait_until_group_is_empty(group).await;
}

#[tokio::test]
async fn an_agent_that_nobody_hears_is_ended() {
    let agent = Agent::process();
    let group = agent.handle.process_id().unwrap();
    drop(agent.events);
    wait_until_group_is_empty(group).await;
}

#[tokio::test]
async fn a_full_queue_is_an_error_that_can_be_tried_again() {
    let mut agent = Agent::process_with(|_| {}, impatient());
    agent.script(json!(["ignore_stdin", {"say": "deaf now"}, {"sleep_ms": 600_000}]));
    agent.until_kind("assistant").await;
    let large = "x".repeat(100_000);
    let error = (0..1000).find_map(|number| {
        agent
            .handle
            .try_send(message(Uuid::from_u128(number), &large))
            .err()
    });
    assert_eq!(error, Some(SendError::Overloaded));
    agent.handle.kill();
    agent.exited().await;
}

#[tokio::test]
async fn an_answer_refused_by_the_session_leaves_the_request_open() {
    let mut agent = Agent::in_process(&[]);
    agent.script(json!([bash("echo hi")]));
    let ask = agent.ask().await;
    let wrong = agent.answer(&ask, allow(Some(json!("text")), Vec::new()));
    assert!(matches!(wrong, Err(SendError::NotAnObject { .. })));
    agent.allow(&ask);
    assert!(agent.turn_end().await.succeeded());
}

#[tokio::test]
async fn a_folder_with_a_hostile_name_is_only_a_folder() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("-rf $(touch x)");
    std::fs::create_dir(&folder).unwrap();
    let mut agent =
        Agent::process_with(|options| options.cwd.clone_from(&folder), Limits::default());
    agent.script(json!([bash("pwd > where.txt")]));
    let ask = agent.ask().await;
    agent.allow(&ask);
    assert!(agent.turn_end().await.succeeded());
    let entries: Vec<_> = std::fs::read_dir(outer.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(entries, ["-rf $(touch x)"]);
    let entries: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(entries, ["where.txt"]);
}

#[tokio::test]
async fn what_cannot_be_started_is_told_at_once() {
    let (events, _receiver) = mpsc::channel(1);
    let folder = tempfile::tempdir().unwrap();
    let missing = LaunchOptions::new("/nowhere/claude", folder.path());
    assert!(matches!(
        spawn(&missing, events.clone()),
        Err(LaunchError::Program { .. })
    ));
    let nowhere = LaunchOptions::new(env!("CARGO_BIN_EXE_fake-claude"), "/nowhere/at/all");
    assert!(matches!(
        spawn(&nowhere, events),
        Err(LaunchError::Folder { .. })
    ));
}

#[tokio::test]
async fn checklist_2_a_refused_start_says_why() {
    let refuse = |options: &mut LaunchOptions| {
        options.permission_mode = Some(PermissionMode::Other("nonsense".to_owned()));
    };
    let exited = Agent::process_with(refuse, Limits::default())
        .exited()
        .await;
    let Some(AgentFault::StartRefused(reason)) = exited.error else {
        panic!("{exited:?}");
    };
    assert!(reason.contains("nonsense"));
    let silent = |options: &mut LaunchOptions| {
        options.program = "sh".into();
        options.leading_arguments = vec!["-c".into(), "echo cannot log in >&2; exit 3".into()];
    };
    let exited = Agent::process_with(silent, Limits::default())
        .exited()
        .await;
    let reason = Some("cannot log in".to_owned());
    assert_eq!(exited.error, Some(AgentFault::EndedBeforeReady(reason)));
    assert_eq!(exited.code, Some(3));
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_never_gets_ready_is_given_up() {
    let (host_reads, _agent_writes) = tokio::io::duplex(64);
    let (_agent_reads, host_writes) = tokio::io::duplex(64 * 1024);
    let (sender, mut events) = mpsc::channel(4);
    let _handle = connect(
        host_reads,
        host_writes,
        sender,
        Limits::default(),
        ControlSession::new(),
    );
    let Some(AgentEvent::Exited(exited)) = events.recv().await else {
        panic!("the end comes first");
    };
    assert_eq!(exited.error, Some(AgentFault::NotReadyInTime(60)));
}

#[tokio::test]
async fn a_slow_listener_holds_the_agent_up_and_loses_nothing() {
    let mut agent = Agent::in_process(&[]);
    let chunks: Vec<String> = (0..500).map(|number| number.to_string()).collect();
    agent.script(json!([{"stream": chunks}]));
    let mut streamed = String::new();
    agent
        .until(|event| {
            match event {
                AgentEvent::Delta { text, .. } => streamed.push_str(&text),
                AgentEvent::TurnEnded(_) => return Some(()),
                _ => {}
            }
            None
        })
        .await;
    assert_eq!(streamed, chunks.concat());
}

#[tokio::test]
async fn refusing_a_request_tells_the_agent_why() {
    let mut agent = Agent::in_process(&[]);
    agent.script(json!([bash("echo hi")]));
    let request_id = agent.ask().await.request_id;
    let message = "nobody is here".to_owned();
    agent
        .handle
        .try_send(AgentInput::Refuse {
            request_id,
            message,
        })
        .unwrap();
    let results = results(&mut agent).await;
    assert_eq!(results.len(), 1);
    assert!(
        results[0].0.contains("nobody is here") && results[0].1,
        "{results:?}"
    );
}

#[tokio::test]
async fn checklist_3_many_senders_write_whole_lines_only() {
    const SENDERS: u128 = 8;
    const MESSAGES: u128 = 20;
    let mut agent = Agent::process();
    for sender in 0..SENDERS {
        let handle = agent.handle.clone();
        tokio::spawn(async move {
            for number in 0..MESSAGES {
                let message = AgentInput::UserMessage {
                    uuid: Uuid::from_u128(sender * MESSAGES + number),
                    content: vec![ContentBlock::Text {
                        text: "line\nbreak ".repeat(1000),
                    }],
                    should_query: false,
                    priority: None,
                };
                while handle.try_send(message.clone()) == Err(SendError::Overloaded) {
                    tokio::task::yield_now().await;
                }
            }
        });
    }
    // A torn line would end the agent with exit code 1.
    for _ in 0..SENDERS * MESSAGES {
        assert!(agent.turn_end().await.succeeded());
    }
}
