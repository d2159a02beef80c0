//! Lines and files of agents that do not keep to the protocol. How the inputs are made and how a failure is
//! repeated is told in `CONTRIBUTING.md`.

#![expect(
    clippy::unwrap_used,
    reason = "clippy knows test functions, but not the helpers of an integration test"
)]

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use sayso_claude::history::{History, read, summaries};
use sayso_claude::line::{Line, LineSplitter, MAX_NOISE_BYTES, Received};
use sayso_claude::{AgentEvent, AgentInput, ControlSession, PermissionAnswer, RawJson, ToolAsk};
use sayso_fuzzing::Target;
use serde_json::Value;
use uuid::Uuid;

const WORDS: &[&str] = &[
    "{\"type\":\"control_request\",\"request_id\":\"a\",\"request\":{",
    "\"subtype\":\"can_use_tool\",",
    "\"subtype\":\"hook_callback\",",
    "\"subtype\":\"elicitation\",",
    "\"tool_name\":\"Bash\",",
    "\"tool_name\":\"AskUserQuestion\",",
    "\"input\":{",
    "\"request_id\":\"b\"",
    "{\"type\":\"control_cancel_request\",\"request_id\":\"a\"}\n",
    "{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",",
    "\"request_id\":\"sayso-1\"",
    "\"pending_permission_requests\":[",
    "{\"type\":\"assistant\",\"message\":{",
    "\"content\":[",
    "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Bash\",\"input\":{}}",
    "{\"type\":\"result\",\"is_error\":true}",
    "}}\n",
    "}\n",
    "\n",
    "\\ud83d",
    "\\udc00",
    "\"usage\":{",
    "\"permission_suggestions\":[",
    "\"hook_event_name\":\"PreToolUse\",",
    "\"callback_id\":",
];

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/corpus")
        .join(name)
}

/// A few lines of each kind that the real agent wrote.
fn captured() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut kinds: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_none_or(|extension| extension != "ndjson")
        {
            continue;
        }
        for line in std::fs::read_to_string(path).unwrap().lines() {
            // Some hold an unpaired surrogate, which the corpus has, too.
            let Ok(entry) = serde_json::from_str::<Value>(line) else {
                continue;
            };
            let said = &entry["line"];
            let text = format!("{said}\n");
            let kind = format!(
                "{} {} {}",
                said["type"], said["subtype"], said["request"]["subtype"]
            );
            let few = kinds.entry(kind).or_default();
            if entry["dir"] == "out" && text.len() < 3000 && few.len() < 4 {
                few.push(text);
            }
        }
    }
    let all: Vec<_> = kinds.into_values().flatten().collect();
    assert!(all.len() > 30, "the captures are missing");
    all
}

#[test]
fn lines() {
    let target = Target::new(corpus("lines"));
    target
        .seeds(captured())
        .dictionary(WORDS)
        .longest(6000)
        .run(|input| {
            let mut told = Vec::new();
            let mut talk = Talk::default();
            for received in received(input) {
                match received {
                    Received::Json(line) => told.push(talk.hear(&line)),
                    Received::Noise(noise) => {
                        assert!(noise.len() <= MAX_NOISE_BYTES, "{}", noise.len());
                    }
                }
            }
            talk.answer_all();
            told.dedup();
            told.truncate(6);
            told
        });
}

/// All lines up to the first that cannot be framed; the pieces in which they come make no difference.
fn received(input: &[u8]) -> Vec<Received> {
    let split = |size: usize| {
        let mut splitter = LineSplitter::with_limit(4000);
        let mut lines = Vec::new();
        for piece in input.chunks(size) {
            splitter.push(piece);
            loop {
                match splitter.next_line() {
                    Ok(Some(line)) => lines.push(line),
                    Ok(None) => break,
                    Err(error) => return (lines, Some(error.to_string())),
                }
            }
        }
        match splitter.finish() {
            Ok(rest) => lines.extend(rest),
            Err(error) => return (lines, Some(error.to_string())),
        }
        (lines, None)
    };
    let whole = split(usize::MAX);
    let size = usize::from(input.first().copied().unwrap_or(1)).max(1);
    assert_eq!(split(size), whole);
    whole.0
}

/// A session, and what must hold whatever it hears.
#[derive(Default)]
struct Talk {
    session: ControlSession,
    asked: Vec<ToolAsk>,
    opened: HashSet<String>,
    over: bool,
}

impl Talk {
    fn hear(&mut self, line: &Line) -> String {
        if self.over {
            return String::new();
        }
        let reception = match self.session.receive(line) {
            Ok(reception) => reception,
            Err(error) => {
                self.over = true;
                return error.to_string().chars().take(30).collect();
            }
        };
        for reply in &reception.replies {
            is_one_line(&reply.line);
        }
        let open: HashSet<_> = self.session.open_requests().map(str::to_owned).collect();
        for event in &reception.events {
            if let AgentEvent::Asked(ask) = event {
                assert!(
                    open.contains(&ask.request_id),
                    "asked, but nothing to answer"
                );
                assert!(
                    self.opened.insert(ask.request_id.clone()),
                    "asked twice under one id"
                );
                assert!(line.text.contains(ask.input.as_str()) || !ask.input_faithful);
                self.asked.push((**ask).clone());
            }
        }
        let kinds: Vec<String> = reception.events.iter().map(kind).collect();
        format!("{kinds:?} {}", reception.replies.len())
    }

    /// Every request that is still open is answered once and not twice, with the input that was shown.
    fn answer_all(mut self) {
        let open: Vec<_> = self.session.open_requests().map(str::to_owned).collect();
        for ask in self.asked {
            let allow = || AgentInput::Answer {
                request_id: ask.request_id.clone(),
                answer: PermissionAnswer::Allow {
                    updated_input: None,
                    updated_permissions: Vec::new(),
                    permanent: false,
                },
            };
            let answer = self.session.send(allow());
            assert!(
                answer.is_err() || open.contains(&ask.request_id),
                "answered what was withdrawn"
            );
            let Ok(line) = answer else { continue };
            is_one_line(&line);
            assert!(ask.input_faithful, "allowed what was not shown as it is");
            let shown = ask.input.as_str().replace(['\n', '\r'], " ");
            assert!(line.contains(&shown), "{line}");
            assert!(self.session.send(allow()).is_err(), "answered twice");
        }
        let left: Vec<_> = self.session.open_requests().map(str::to_owned).collect();
        for request_id in left {
            let message = "no".to_owned();
            let refusal = AgentInput::Refuse {
                request_id,
                message,
            };
            is_one_line(&self.session.send(refusal).unwrap());
        }
        assert_eq!(self.session.open_requests().count(), 0);
    }
}

fn is_one_line(line: &str) {
    assert!(
        !line.contains('\n') && RawJson::parse_text(line.to_owned()).is_ok(),
        "{line}"
    );
}

fn kind(event: &AgentEvent) -> String {
    let text = format!("{event:?}");
    text.chars()
        .take_while(|sign| sign.is_alphanumeric())
        .collect()
}

#[test]
fn conversations() {
    let folder = tempfile::tempdir().unwrap();
    let history = History::of(folder.path(), Path::new("/srv/demo"));
    let conversation = Uuid::nil();
    let place = folder.path().join("projects/-srv-demo");
    std::fs::create_dir_all(&place).unwrap();
    let file = place.join(format!("{conversation}.jsonl"));
    let recorded = corpus("../fixtures/history/projects/-srv-demo");
    let recorded = std::fs::read_dir(recorded)
        .unwrap()
        .filter_map(|entry| std::fs::read(entry.ok()?.path()).ok());
    let target = Target::new(corpus("conversations"))
        .seeds(recorded)
        .longest(8000);
    target.dictionary(WORDS).run(|input| {
        std::fs::write(&file, input).unwrap();
        let messages = read(&history, conversation).unwrap();
        let lines = input.split(|byte| *byte == b'\n').count();
        assert!(messages.len() <= lines, "more was said than is written");
        let listed = summaries(&history);
        assert!(listed.len() <= 1);
        let counted = listed.first().map(|summary| summary.messages);
        assert!(counted.is_none_or(|counted| counted as usize <= lines));
        let kinds = messages.iter().map(|message| format!("{:?}", message.kind));
        let kinds: Vec<String> = kinds
            .map(|kind| kind.chars().take(24).collect())
            .take(8)
            .collect();
        (kinds, counted.map(|counted| counted.min(9)))
    });
}
