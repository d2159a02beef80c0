//! Plays every capture through the session: no line of the real agent may be a protocol error, and what we
//! would have written for a decision is compared with what was written then.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "clippy knows test functions, but not the helpers of an integration test"
)]

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use indexmap::IndexMap;
use sayso_claude::event::{BlockContent, BlockKind};
use sayso_claude::line::Line;
use sayso_claude::{
    AgentEvent, AgentInput, AnswerValue, ControlRequest, ControlSession, ElicitationAnswer,
    PermissionAnswer, RawJson, ToolAsk,
};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Entry {
    dir: String,
    line: RawJson,
}

fn fixtures() -> Vec<(String, Vec<Entry>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "ndjson")
        })
        .collect();
    files.sort();
    assert!(files.len() > 100, "the captures are missing");
    files
        .into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            let entries = text.lines().map(|line| serde_json::from_str(line).unwrap());
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, entries.collect())
        })
        .collect()
}

/// One capture being played.
#[derive(Default)]
struct Replay {
    session: ControlSession,
    /// From the ids of the captured host to ours.
    ids: HashMap<String, String>,
    asks: HashMap<String, ToolAsk>,
    kinds: Vec<String>,
    compared: usize,
}

impl Replay {
    fn play(&mut self, entries: &[Entry]) {
        for entry in entries {
            match entry.dir.as_str() {
                "in" => self.host_says(&entry.line),
                "out" if !self.agent_says(&entry.line) => return,
                _ => {}
            }
        }
    }

    fn agent_says(&mut self, line: &RawJson) -> bool {
        let mut line = Line::check(line.as_str().to_owned()).unwrap();
        for (theirs, ours) in &self.ids {
            line.text = line
                .text
                .replace(&format!("\"{theirs}\""), &format!("\"{ours}\""));
        }
        match self.session.receive(&line) {
            Ok(reception) => {
                for event in reception.events {
                    self.note(event);
                }
                true
            }
            Err(error) => {
                self.kinds.push(format!("ERROR[{error}]"));
                false
            }
        }
    }

    fn note(&mut self, event: AgentEvent) {
        self.kinds.push(match &event {
            AgentEvent::Unknown {
                kind,
                subtype,
                reason,
                ..
            } => {
                format!(
                    "unknown({kind}/{} {reason:?})",
                    subtype.as_deref().unwrap_or("-")
                )
            }
            AgentEvent::OtherRequest { subtype, .. } => format!("other_request({subtype})"),
            event => event.kind().to_owned(),
        });
        if let AgentEvent::Asked(ask) = event {
            self.asks.insert(ask.request_id.clone(), *ask);
        }
    }

    fn host_says(&mut self, line: &RawJson) {
        let Some(line) = line.to_value() else { return };
        match line["type"].as_str() {
            Some("control_request") => {
                let theirs = line["request_id"].as_str().unwrap().to_owned();
                let ours = if line["request"]["subtype"] == "initialize" {
                    self.session.initialize()
                } else {
                    let request = ControlRequest::Raw(line["request"].clone());
                    match self.session.send(AgentInput::Control { token: 0, request }) {
                        Ok(line) => line,
                        Err(_) => return,
                    }
                };
                let ours: Value = serde_json::from_str(&ours).unwrap();
                self.ids
                    .insert(theirs, ours["request_id"].as_str().unwrap().to_owned());
            }
            Some("control_response") => self.host_answers(&line),
            _ => {}
        }
    }

    /// Only answers that our API can express are compared; the broken ones of the captures are not.
    fn host_answers(&mut self, line: &Value) {
        let request_id = line["response"]["request_id"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let is_open = self.session.open_requests().any(|id| id == request_id);
        let Some(input) = is_open
            .then(|| self.same_decision(&request_id, line))
            .flatten()
        else {
            return;
        };
        let ours = self.session.send(input).unwrap();
        assert_eq!(&serde_json::from_str::<Value>(&ours).unwrap(), line);
        self.compared += 1;
    }

    fn same_decision(&self, request_id: &str, line: &Value) -> Option<AgentInput> {
        let request_id = request_id.to_owned();
        let body = &line["response"];
        if body["subtype"] == "error" {
            let message = body["error"].as_str()?.to_owned();
            return Some(AgentInput::Refuse {
                request_id,
                message,
            });
        }
        let response = body["response"].as_object()?;
        if let Some(action) = response.get("action") {
            let answer = match action.as_str()? {
                "accept" => ElicitationAnswer::Accept {
                    content: RawJson::from(response.get("content")?),
                },
                "decline" => ElicitationAnswer::Decline,
                "cancel" => ElicitationAnswer::Cancel,
                _ => return None,
            };
            return Some(AgentInput::AnswerElicitation { request_id, answer });
        }
        let ask = self.asks.get(&request_id)?;
        let known: &[&str] = match response.get("behavior")?.as_str()? {
            "deny" => &["behavior", "message", "interrupt"],
            _ => &["behavior", "updatedInput", "updatedPermissions"],
        };
        if response.keys().any(|key| !known.contains(&key.as_str())) {
            return None;
        }
        let answer = match response.get("behavior")?.as_str()? {
            "deny" => PermissionAnswer::Deny {
                message: response.get("message")?.as_str()?.to_owned(),
                interrupt: response.get("interrupt") == Some(&json!(true)),
            },
            "allow" => allow(ask, response)?,
            _ => return None,
        };
        Some(AgentInput::Answer { request_id, answer })
    }
}

fn allow(ask: &ToolAsk, response: &serde_json::Map<String, Value>) -> Option<PermissionAnswer> {
    let updated = response.get("updatedInput")?;
    let permissions = response.get("updatedPermissions").and_then(Value::as_array);
    let original = ask.input.to_value()?;
    if let Some(answers) = updated.get("answers").and_then(Value::as_object)
        && updated.get("questions") == original.get("questions")
        && let Some(answers) = question_answers(ask, answers)
    {
        return Some(PermissionAnswer::Answers {
            answers,
            annotations: updated.get("annotations").map(RawJson::from),
            response: updated
                .get("response")
                .and_then(Value::as_str)
                .map(str::to_owned),
        });
    }
    if !updated.is_object()
        || (permissions.is_none() && response.contains_key("updatedPermissions"))
    {
        return None;
    }
    let unchanged = original == *updated;
    if permissions.is_some_and(Vec::is_empty) {
        return None;
    }
    Some(PermissionAnswer::Allow {
        updated_input: (!unchanged).then(|| RawJson::from(updated)),
        updated_permissions: permissions
            .into_iter()
            .flatten()
            .map(RawJson::from)
            .collect(),
        permanent: false,
    })
}

/// `None` for answers that the session would refuse: unknown keys, missing or empty answers, not text.
fn question_answers(
    ask: &ToolAsk,
    answers: &serde_json::Map<String, Value>,
) -> Option<IndexMap<String, AnswerValue>> {
    let input = ask.input.to_value()?;
    let questions: Vec<&str> = input["questions"]
        .as_array()?
        .iter()
        .filter_map(|question| question["question"].as_str())
        .collect();
    if questions.len() != answers.len() {
        return None;
    }
    questions
        .iter()
        .map(|question| match answers.get(*question)? {
            Value::String(text) if !text.is_empty() => {
                Some(((*question).to_owned(), AnswerValue::Text(text.clone())))
            }
            _ => None,
        })
        .collect()
}

/// `a a a b` becomes `a×3 b`.
fn counted(kinds: &[String]) -> String {
    let mut text = String::new();
    for run in kinds.chunk_by(|left, right| left == right) {
        let count = if run.len() > 1 {
            format!("×{}", run.len())
        } else {
            String::new()
        };
        write!(text, " {}{count}", run[0]).unwrap();
    }
    text
}

#[test]
fn every_capture_of_the_real_agent_is_understood() {
    let mut summary = String::new();
    let mut compared = 0;
    for (name, entries) in fixtures() {
        let mut replay = Replay::default();
        replay.play(&entries);
        writeln!(summary, "{name}:{}", counted(&replay.kinds)).unwrap();
        compared += replay.compared;
    }
    writeln!(summary, "answers compared: {compared}").unwrap();
    insta::assert_snapshot!("captures", summary);
}

#[test]
fn checklist_4_an_ask_with_an_unpaired_surrogate_is_shown_but_not_sent_back_unchanged() {
    let unfaithful: Vec<ToolAsk> = fixtures()
        .into_iter()
        .filter(|(name, _)| name.starts_with("15c"))
        .flat_map(|(_, entries)| {
            let mut replay = Replay::default();
            replay.play(&entries);
            replay.asks.into_values()
        })
        .filter(|ask| !ask.input_faithful)
        .collect();
    assert!(!unfaithful.is_empty());
    assert!(unfaithful.iter().all(|ask| ask.input.to_value().is_some()));
}

#[test]
fn a_block_has_the_index_it_was_streamed_with() {
    let mut matched = 0;
    for (name, entries) in fixtures() {
        let mut session = ControlSession::new();
        let mut streamed: HashMap<(String, u64), &str> = HashMap::new();
        for entry in entries.iter().filter(|entry| entry.dir == "out") {
            let line = Line::check(entry.line.as_str().to_owned()).unwrap();
            let Ok(reception) = session.receive(&line) else {
                continue;
            };
            for event in reception.events {
                match event {
                    AgentEvent::BlockStarted {
                        message_id,
                        index,
                        kind,
                        ..
                    } => {
                        let kind = match kind {
                            BlockKind::Text => "text",
                            BlockKind::Thinking => "thinking",
                            BlockKind::ToolUse { .. } => "tool_use",
                            BlockKind::Other(_) => "other",
                        };
                        streamed.insert((message_id, index), kind);
                    }
                    AgentEvent::Assistant(message) => {
                        for block in &message.blocks {
                            let kind = match &block.content {
                                BlockContent::Text { .. } => "text",
                                BlockContent::Thinking { .. } => "thinking",
                                BlockContent::ToolUse { .. } => "tool_use",
                                BlockContent::Other { .. } => "other",
                            };
                            let place = (message.message_id.clone(), block.index);
                            if let Some(started) = streamed.get(&place) {
                                assert_eq!(*started, kind, "{name}");
                                matched += 1;
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    assert!(
        matched > 10,
        "only {matched} streamed blocks were seen again"
    );
}
