//! The server's REST, as far as the terminal needs it.

use bytes::Bytes;
use indexmap::IndexMap;
use reqwest::{Method, StatusCode};
use sayso_protocol::Decision;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use uuid::Uuid;

use super::arguments::ReachArguments;
use super::find::{self, Found, find};
use super::request::Request;
use super::session::{self, Session, Sessions};
use super::subject;
use super::trouble::{Exit, Trouble};
use super::words;
use crate::remote::{NeverRan, RunningServer};
use crate::web::label::TERMINAL;

/// How far back the history is asked who decided a request that is not open any more.
const LOOK_BACK: &str = "200";

pub(super) struct Desk {
    server: RunningServer,
}

/// What is open now.
pub(super) struct Waiting {
    pub(super) requests: Vec<Request>,
    pub(super) sessions: Sessions,
}

impl Waiting {
    pub(super) fn ids(&self) -> Vec<Uuid> {
        self.requests.iter().map(|request| request.id).collect()
    }

    pub(super) fn short_id(&self, request: &Request) -> String {
        find::short_id(request.id, self.ids())
    }

    /// The request with what the command line knows of it, for `--json`.
    pub(super) fn json(&self, request: &Request) -> Result<String, Trouble> {
        let mut added = IndexMap::from([("short_id", self.short_id(request))]);
        if let Some(session) = self.sessions.get(&request.session) {
            added.insert("session_title", session.title.clone());
            added.insert("cwd", session.cwd.clone());
        }
        Ok(super::visible::json(&request.with(added)?))
    }
}

/// Who sits in front of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum User {
    Human,
    Script,
}

#[derive(Deserialize)]
struct PastPage {
    entries: Vec<Past>,
}

#[derive(Deserialize)]
struct Past {
    request_id: Option<Uuid>,
    outcome: String,
    by: String,
    by_name: String,
    at: jiff::Timestamp,
}

impl Past {
    /// As the protocol tells it, as far as the history does.
    fn outcome(&self) -> Value {
        let name = Some(&self.by_name).filter(|name| !name.is_empty());
        let (client, by_name) = match self.by.as_str() {
            "human" => (name.map(|label| json!({"label": label})), None),
            _ => (None, name),
        };
        json!({
            "what": self.outcome, "by": self.by, "by_name": by_name, "client": client, "at": self.at,
        })
    }
}

impl Desk {
    pub(super) fn open(arguments: &ReachArguments, user: User) -> Result<Self, Trouble> {
        let mut server = RunningServer::at(&arguments.as_served()).map_err(not_found)?;
        if user == User::Human {
            server.introduce(TERMINAL);
        }
        Ok(Self { server })
    }

    pub(super) fn server(&self) -> &RunningServer {
        &self.server
    }

    /// Whether this is let in at all. A server of `sayso demo` has a token of its own.
    pub(super) async fn knock(&mut self) -> Result<(), Trouble> {
        self.get("/me").await.map(|_| ())
    }

    async fn get(&mut self, path: &str) -> Result<Bytes, Trouble> {
        self.send(Method::GET, path, None::<&()>).await
    }

    async fn send(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&impl Serialize>,
    ) -> Result<Bytes, Trouble> {
        loop {
            let mut request = self.server.request(method.clone(), path);
            if let Some(body) = body {
                request = request.json(body);
            }
            let answer = self.server.exchange(request).await;
            let (status, body) = answer.map_err(|error| self.unreachable(&error))?;
            if status.is_success() {
                return Ok(body);
            }
            if status != StatusCode::UNAUTHORIZED {
                return Err(Trouble::told(&body));
            }
            if !self.server.turn_to_demo() {
                let message = self.server.has_another_token();
                return Err(Trouble::new(Exit::Refused, "unauthorized", message));
            }
        }
    }

    fn unreachable(&self, error: &anyhow::Error) -> Trouble {
        let address = self.server.address();
        let message = format!("No Sayso answers at {address} ({error:#}).");
        Trouble::new(Exit::Unreachable, "unreachable", message).hint(
            "Start it with `sayso`, or name its address with --listen, and --tls if it encrypts.",
        )
    }

    pub(super) async fn waiting(&mut self) -> Result<Waiting, Trouble> {
        #[derive(Deserialize)]
        struct Open {
            pending_requests: Vec<Box<RawValue>>,
        }
        #[derive(Deserialize)]
        struct Known {
            sessions: Vec<Session>,
        }
        let body = self.get("/requests").await?;
        let open: Open = serde_json::from_slice(&body)?;
        let requests = open.pending_requests.into_iter().map(Request::read);
        let requests = requests.collect::<Result<_, _>>()?;
        let body = self.get("/sessions").await?;
        let known: Known = serde_json::from_slice(&body)?;
        let sessions = session::by_id(known.sessions);
        Ok(Waiting { requests, sessions })
    }

    /// The open request that is meant, with all the others.
    pub(super) async fn find(&mut self, wanted: &str) -> Result<(Request, Waiting), Trouble> {
        let waiting = self.waiting().await?;
        match find(wanted, &waiting.ids()) {
            Found::One(id) => {
                let is_meant = |request: &&Request| request.id == id;
                match waiting.requests.iter().find(is_meant).cloned() {
                    Some(request) => Ok((request, waiting)),
                    None => Err(self.closed(wanted).await),
                }
            }
            Found::Nothing => Err(self.closed(wanted).await),
            Found::TooShort => Err(Trouble::new(
                Exit::Unknown,
                "unknown_request",
                format!("{wanted:?} is too short: give at least four letters of the id."),
            )
            .hint("`sayso pending` shows what is open.")),
            Found::Several(ids) => Err(several(wanted, &waiting, &ids)),
        }
    }

    /// What became of a request that is not open.
    async fn closed(&mut self, wanted: &str) -> Trouble {
        let unknown = || {
            Trouble::new(
                Exit::Unknown,
                "unknown_request",
                format!("There is no open request {wanted:?}."),
            )
            .hint("`sayso pending` shows what is open.")
        };
        let path = format!("/history?kind=decision&limit={LOOK_BACK}");
        let Ok(body) = self.get(&path).await else {
            return unknown();
        };
        let page: PastPage = match serde_json::from_slice(&body) {
            Ok(page) => page,
            Err(_) => return unknown(),
        };
        let ids: Vec<Uuid> = page
            .entries
            .iter()
            .filter_map(|past| past.request_id)
            .collect();
        let Found::One(id) = find(wanted, &ids) else {
            return unknown();
        };
        let past = page.entries.iter().find(|past| past.request_id == Some(id));
        let Some(past) = past else {
            return unknown();
        };
        let words = words::recorded(&past.outcome, &past.by, &past.by_name);
        let age = words::age(past.at, jiff::Timestamp::now());
        Trouble::new(
            Exit::AlreadyDecided,
            "already_decided",
            format!("Too late: {words}, {age} ago."),
        )
        .about(&past.outcome())
    }

    pub(super) async fn decide(
        &mut self,
        request: Uuid,
        digest: &str,
        decision: &Decision,
    ) -> Result<(), Trouble> {
        #[derive(Serialize)]
        struct Body<'a> {
            input_digest: &'a str,
            decision: &'a Decision,
        }
        let body = Body {
            input_digest: digest,
            decision,
        };
        let path = format!("/requests/{request}/decision");
        self.send(Method::POST, &path, Some(&body)).await?;
        Ok(())
    }

    /// Gives the password, good for a while.
    pub(super) async fn prove(&mut self, password: &str) -> Result<(), Trouble> {
        let body = json!({"password": password});
        match self.send(Method::POST, "/prove", Some(&body)).await {
            Ok(_) => Ok(()),
            Err(mut trouble) => {
                if trouble.is("forbidden") {
                    trouble.exit = Exit::PasswordNeeded;
                }
                Err(trouble)
            }
        }
    }

    /// The file that a request would change, as it is now.
    pub(super) async fn baseline(&mut self, request: Uuid) -> Option<Value> {
        let path = format!("/requests/{request}/baseline");
        let body = self.get(&path).await.ok()?;
        serde_json::from_slice(&body).ok()
    }
}

fn not_found(error: anyhow::Error) -> Trouble {
    match error.downcast_ref::<NeverRan>() {
        Some(never) => Trouble::new(Exit::Unreachable, "unreachable", never.to_string()),
        None => error.into(),
    }
}

fn several(wanted: &str, waiting: &Waiting, ids: &[Uuid]) -> Trouble {
    let message = format!(
        "{} open requests begin or end with {wanted:?}. Give more of the id:",
        ids.len()
    );
    let mut trouble = Trouble::new(Exit::Ambiguous, "ambiguous", message);
    for request in waiting
        .requests
        .iter()
        .filter(|request| ids.contains(&request.id))
    {
        let (short, what) = (waiting.short_id(request), subject::summary(request));
        trouble = trouble.hint(format!("{short}  {what}"));
    }
    trouble
}
