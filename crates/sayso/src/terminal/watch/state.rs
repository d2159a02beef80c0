//! What the list knows and shows. Pure: inputs come in, effects go out, and so does the time.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use sayso_protocol::{AgentInfo, Decision};
use serde_json::json;
use uuid::Uuid;

use super::super::find::short_id;
use super::super::line::{Line, Style};
use super::super::request::Request;
use super::super::session::Sessions;
use super::super::trouble::Trouble;
use super::Chosen;
use super::guard::Guard;
use super::keys::Key;
use super::link::Heard;
use super::prompt::{Prompt, Purpose};

/// How long something that happened is told.
const TOLD: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    pub(super) instant: Instant,
    pub(super) wall: Timestamp,
}

#[derive(Debug)]
pub(super) enum Input {
    Key(Key),
    Pasted(String),
    Resized {
        columns: usize,
        rows: usize,
    },
    /// Somebody came back to this window from another one.
    Returned,
    Tick,
    Heard(Heard),
    Proven(Result<(), String>),
    /// What there is to say about the file that a request would change.
    File {
        request: Uuid,
        line: Line,
    },
}

#[derive(Debug)]
pub(super) enum Effect {
    /// To the server.
    Say(String),
    Prove(String),
    /// Look at the file that this request would change.
    LookAt(Box<Request>),
    Ring,
    /// Draw everything anew.
    Repaint,
    Leave(Option<Trouble>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    Connected,
    Lost,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    List,
    /// One request, whole.
    Open(Open),
    Help,
}

/// How much of an open request has been on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Open {
    pub(super) request: Uuid,
    /// The first row that is shown.
    pub(super) top: usize,
    /// The rows from the first on that have been shown.
    pub(super) seen: usize,
    pub(super) all_seen: bool,
    /// Its end is in view, and stays there when a prompt takes rows away.
    pub(super) at_end: bool,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) address: String,
    pub(super) columns: usize,
    pub(super) rows: usize,
    pub(super) link: Link,
    /// Oldest first: a new one comes at the end and moves nothing.
    pub(super) requests: Vec<Request>,
    pub(super) sessions: Sessions,
    pub(super) agents: Vec<AgentInfo>,
    pub(super) files: HashMap<Uuid, Line>,
    /// The one that keys act on; by its id, so that it cannot become another one.
    pub(super) chosen: Option<Uuid>,
    pub(super) view: View,
    pub(super) prompt: Option<Prompt>,
    pub(super) guard: Guard,
    /// How many rows of a request fit; known once it was drawn.
    pub(super) page_rows: usize,
    pub(super) note: Option<(Instant, Style, String)>,
    /// Waits for the password.
    proving: Option<Chosen>,
    pub(super) sent: HashMap<String, Chosen>,
    next_id: u64,
}

impl State {
    pub(super) fn new(address: String, (columns, rows): (usize, usize)) -> Self {
        Self {
            address,
            columns,
            rows,
            link: Link::Lost,
            requests: Vec::new(),
            sessions: Sessions::new(),
            agents: Vec::new(),
            files: HashMap::new(),
            chosen: None,
            view: View::List,
            prompt: None,
            guard: Guard::new(),
            page_rows: 10,
            note: None,
            proving: None,
            sent: HashMap::new(),
            next_id: 0,
        }
    }

    pub(super) fn handle(&mut self, now: Now, input: Input) -> Vec<Effect> {
        match input {
            Input::Key(key) => self.key(now.instant, key),
            Input::Pasted(text) => {
                if let Some(prompt) = &mut self.prompt {
                    prompt.add(&text);
                }
                Vec::new()
            }
            Input::Resized { columns, rows } => {
                (self.columns, self.rows) = (columns, rows);
                if let View::Open(open) = &mut self.view {
                    // Rows are others now; what was not read to its end begins anew.
                    open.seen = 0;
                    if !open.all_seen {
                        (open.top, open.at_end) = (0, false);
                    }
                }
                vec![Effect::Repaint]
            }
            Input::Returned => {
                self.guard.unsettle(now.instant);
                Vec::new()
            }
            Input::Tick => Vec::new(),
            Input::Heard(heard) => self.hear(now.instant, heard),
            Input::Proven(result) => self.proven(now.instant, result),
            Input::File { request, line } => {
                if let View::Open(open) = &mut self.view
                    && open.request == request
                {
                    // There is more to be read than there was: a line at the end.
                    open.all_seen = false;
                }
                self.files.insert(request, line);
                Vec::new()
            }
        }
    }

    pub(super) fn note_at(&self, now: Instant) -> Option<(Style, &str)> {
        let (since, style, text) = self.note.as_ref()?;
        (now.duration_since(*since) < TOLD).then_some((*style, text.as_str()))
    }

    pub(super) fn tell(&mut self, now: Instant, style: Style, text: impl Into<String>) {
        self.note = Some((now, style, text.into()));
    }

    pub(super) fn request(&self, id: Uuid) -> Option<&Request> {
        self.requests.iter().find(|request| request.id == id)
    }

    pub(super) fn short(&self, id: Uuid) -> String {
        short_id(id, self.requests.iter().map(|request| request.id))
    }

    pub(super) fn decide(&mut self, now: Instant, id: Uuid, decision: Decision) -> Vec<Effect> {
        let Some(request) = self.request(id) else {
            return Vec::new();
        };
        let digest = request.digest.clone();
        self.send(
            now,
            Chosen {
                request: id,
                digest,
                decision,
            },
        )
    }

    fn send(&mut self, now: Instant, chosen: Chosen) -> Vec<Effect> {
        if self.link == Link::Lost {
            let text = "There is no connection, so nothing was sent.";
            self.tell(now, Style::Danger, text);
            return Vec::new();
        }
        self.next_id += 1;
        let id = self.next_id.to_string();
        let message = json!({
            "id": id, "type": "respond", "request_id": chosen.request,
            "input_digest": chosen.digest, "decision": chosen.decision,
        });
        self.tell(
            now,
            Style::Faint,
            format!("{}: sent…", self.short(chosen.request)),
        );
        self.sent.insert(id, chosen);
        vec![Effect::Say(message.to_string())]
    }

    pub(super) fn prove(&mut self, chosen: Chosen, password: String) -> Vec<Effect> {
        self.proving = Some(chosen);
        vec![Effect::Prove(password)]
    }

    fn proven(&mut self, now: Instant, result: Result<(), String>) -> Vec<Effect> {
        let Some(chosen) = self.proving.take() else {
            return Vec::new();
        };
        match result {
            Ok(()) => self.send(now, chosen),
            Err(problem) => {
                self.tell(now, Style::Danger, problem);
                if self.request(chosen.request).is_some() {
                    self.prompt = Some(Prompt::new(chosen.request, Purpose::Password(chosen)));
                }
                Vec::new()
            }
        }
    }
}
