//! Transcripts: appending to them, and bringing clients up to date.

use std::sync::Arc;

use sayso_broker::{ClientId, SessionId};
use sayso_protocol::{
    Defaults, Delta, EntryBody, ErrorCode, Me, Scope, ServerMessage, Subscribe, TranscriptEntry,
    Welcome,
};
use sayso_store::{EntryRow, Store, UnixMillis, Write};
use serde_json::value::{RawValue, to_raw_value};
use tokio::time::Instant;
use uuid::Uuid;

use super::clients::{Interest, Subscription, frame};
use super::outbox::Outbox;
use super::sessions::Stopped;
use super::transcript::{Entry, Place};
use super::writes::AfterWrite;
use super::{Hub, HubHandle, HubMessage, Snapshot, now, wire};

/// How many entries are read from the store at once.
const PAGE: u32 = 200;

impl Hub {
    /// The welcome is the first frame: what the connection itself changes is in it.
    pub(super) fn connect(&mut self, client: ClientId, me: Me, outbox: Outbox, interest: Interest) {
        self.dispatch(sayso_broker::Event::ClientConnected {
            client,
            label: me.name.clone(),
        });
        self.clients.insert(client, me, outbox, interest);
        self.welcome(client);
    }

    /// Told everything, and counted by nobody: a request that no human sees stays unattended.
    pub(super) fn observe(&mut self, client: ClientId, outbox: Outbox) {
        let me = Me {
            device_id: None,
            name: "Sayso".to_owned(),
            scopes: vec![Scope::View],
            password_set: false,
            proven_until: None,
        };
        self.clients
            .insert(client, me, outbox, Interest::Everything);
        self.welcome(client);
    }

    /// The snapshot. Made and queued in one step, so that nothing can come between.
    pub(super) fn welcome(&mut self, client: ClientId) {
        self.clients.start_over(client);
        let Some(me) = self.clients.me(client).cloned() else {
            return;
        };
        let Snapshot {
            mut sessions,
            mut pending_requests,
            rules,
        } = self.snapshot();
        let is_told = |id: Uuid| self.clients.is_told_of(client, SessionId(id));
        sessions.retain(|session| is_told(session.session_id));
        pending_requests.retain(|request| is_told(request.session_id));
        let cwd = match &self.config.default_folder {
            Some(folder) => folder.clone(),
            None => std::env::current_dir().unwrap_or_default(),
        };
        let welcome = Welcome {
            server_version: env!("CARGO_PKG_VERSION").to_owned(),
            client_id: client.0,
            server_time: wire::time(now()),
            sessions,
            pending_requests,
            agents: self.agents.infos(),
            rules,
            defaults: Defaults {
                cwd: cwd.display().to_string(),
                agent: self.default_agent(),
                permission_mode: "default".to_owned(),
            },
            me,
        };
        self.clients.send(client, &ServerMessage::Welcome(welcome));
    }

    /// From here on the client is told of the session, beginning with what there is now.
    pub(super) fn attend(&mut self, client: ClientId, session: SessionId) {
        self.dispatch(sayso_broker::Event::ClientAttached { client, session });
        if !self.clients.attend(client, session) {
            return;
        }
        if let Some(known) = self.sessions.get(session) {
            let session = known.wire();
            self.clients
                .send(client, &ServerMessage::SessionState { session });
        }
        for request in self.broker.shown_requests() {
            if request.session == session {
                let pending_request = self.pending_request(&request);
                let opened = ServerMessage::RequestOpened { pending_request };
                self.clients.send(client, &opened);
            }
        }
    }

    /// The configured agent where it is there, else the demo.
    pub(super) fn default_agent(&self) -> String {
        let wanted = &self.config.default_agent;
        match self.agents.program(wanted) {
            Some(_) => wanted.clone(),
            None => crate::agents::DEMO.to_owned(),
        }
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        let requests = self.broker.shown_requests();
        let pending = requests.iter().map(|request| self.pending_request(request));
        Snapshot {
            sessions: self.sessions.wire(),
            pending_requests: pending.collect(),
            rules: self.rules.rules().to_vec(),
        }
    }

    /// Numbers an entry and saves it; clients see it once it is saved.
    pub(super) fn append(
        &mut self,
        session: SessionId,
        parent_tool_use_id: Option<String>,
        body: EntryBody,
    ) {
        self.append_from(session, parent_tool_use_id, body, None);
    }

    /// `place` is where in the agent's output it comes from.
    pub(super) fn append_from(
        &mut self,
        session: SessionId,
        parent_tool_use_id: Option<String>,
        body: EntryBody,
        place: Option<Place>,
    ) {
        let at = now();
        let Some(known) = self.sessions.get_mut(session) else {
            return;
        };
        known.transcript.settle(&body);
        let entry = TranscriptEntry {
            seq: known.transcript.next_seq(),
            at: wire::time(at),
            parent_tool_use_id,
            body,
        };
        let json = match to_raw_value(&entry) {
            Ok(json) => Arc::from(json),
            Err(error) => {
                tracing::error!(%error, "an entry could not be written as JSON");
                return;
            }
        };
        let entry = Entry {
            seq: entry.seq,
            at,
            json,
            place,
        };
        let pushed = known.transcript.push(entry);
        let most = self.config.max_transcript.0;
        let runs = known.run.as_ref().is_some_and(|run| run.stopped.is_none());
        let full = most.is_some_and(|most| known.transcript.bytes() > most);
        if let Some(entry) = pushed {
            self.keep_fresh(session, entry);
        }
        // What it says until it has ended is kept all the same.
        if full && runs {
            self.stop_agent(session, Stopped::TranscriptFull);
        }
    }

    pub(super) fn full_transcript(&self) -> String {
        let most = self.config.max_transcript;
        format!(
            "The transcript of this session has reached its limit of {most}, so the agent was stopped. \
             Nothing of it is lost. Go on in a new session, or raise `max_transcript`."
        )
    }

    /// Entries that follow each other are written and told together.
    fn keep_fresh(&mut self, session: SessionId, entry: Entry) {
        match &mut self.fresh {
            Some((of, entries)) if *of == session => entries.push(entry),
            Some(_) | None => {
                self.save_fresh();
                self.fresh = Some((session, vec![entry]));
            }
        }
    }

    /// Before anything is written that comes after them.
    pub(super) fn save_fresh(&mut self) {
        if let Some((session, entries)) = self.fresh.take() {
            self.save(session, entries);
        }
    }

    fn save(&mut self, session: SessionId, entries: Vec<Entry>) {
        let writes = entries
            .iter()
            .map(|entry| Write::AppendEntry(row(session, entry)));
        let writes = writes.collect();
        let after = AfterWrite::Entries { session, entries };
        if let Err(AfterWrite::Entries { entries, .. }) = self.writes.submit(writes, after)
            && let Some(known) = self.sessions.get_mut(session)
        {
            known.transcript.not_saved(Instant::now(), entries);
        }
    }

    pub(super) fn save_unsaved(&mut self, now: Instant) {
        for session in self.sessions.due_for_retry(now) {
            if let Some(known) = self.sessions.get_mut(session) {
                let entries = known.transcript.take_unsaved();
                self.save(session, entries);
            }
        }
    }

    pub(super) fn tell_entries(&self, session: SessionId, entries: Vec<Arc<RawValue>>) {
        if !entries.is_empty() {
            let message = ServerMessage::Transcript {
                session_id: session.0,
                entries,
            };
            self.clients.broadcast_to_watchers(session, &message);
        }
    }

    pub(super) fn stream(&mut self, session: SessionId, delta: Delta) {
        if let Some(known) = self.sessions.get_mut(session) {
            known.transcript.stream(&delta);
            let message = ServerMessage::Delta {
                session_id: session.0,
                delta,
            };
            self.clients.broadcast_to_watchers(session, &message);
        }
    }

    /// Starts to send what the client does not have.
    pub(super) fn subscribe(
        &mut self,
        client: ClientId,
        session: SessionId,
        subscribe: &Subscribe,
    ) {
        let known = self.sessions.get(session);
        let durable = known.map_or(0, |known| known.transcript.durable_seq());
        let after = match (subscribe.after, subscribe.last) {
            (Some(after), _) => after,
            (None, Some(last)) => durable.saturating_sub(u64::from(last)),
            (None, None) => 0,
        };
        self.clients
            .subscribe(client, session, Subscription::CatchingUp);
        self.attend(client, session);
        self.caught_up(client, session, after);
    }

    /// The client has everything up to `upto`; sends the rest, or goes live.
    pub(super) fn caught_up(&mut self, client: ClientId, session: SessionId, upto: u64) {
        let watching = self.clients.subscription(client, session);
        let Some(known) = self.sessions.get(session) else {
            return;
        };
        if watching != Some(Subscription::CatchingUp) {
            return;
        }
        if upto < known.transcript.durable_seq() {
            if let Some(outbox) = self.clients.outbox(client) {
                let reader = HistoryReader {
                    store: self.store.clone(),
                    hub: self.handle.clone(),
                    outbox,
                    client,
                    session,
                };
                tokio::spawn(reader.send(upto, known.transcript.durable_seq()));
            }
            return;
        }
        self.clients.subscribe(client, session, Subscription::Live);
        for delta in known.transcript.live() {
            let message = ServerMessage::Delta {
                session_id: session.0,
                delta: delta.clone(),
            };
            self.clients.send(client, &message);
        }
        let features = self.features_message(session);
        for message in features.iter().chain(&self.queue_message(session)) {
            self.clients.send(client, message);
        }
    }

    pub(super) fn features_message(&self, session: SessionId) -> Option<ServerMessage> {
        let known = self.sessions.get(session)?;
        Some(ServerMessage::SessionFeatures {
            session_id: session.0,
            commands: known.features.commands.clone(),
            models: known.features.models.clone(),
        })
    }

    pub(super) fn tell_agents(&self) {
        let agents = self.agents.infos();
        self.clients.broadcast(&ServerMessage::Agents { agents });
    }
}

/// Sends stored entries at the client's pace, outside the hub.
struct HistoryReader {
    store: Store,
    hub: HubHandle,
    outbox: Outbox,
    client: ClientId,
    session: SessionId,
}

impl HistoryReader {
    async fn send(self, after: u64, until: u64) {
        let mut upto = after;
        while upto < until {
            let from = i64::try_from(upto).unwrap_or(i64::MAX);
            let session = sayso_store::SessionId(self.session.0);
            let rows = match self.store.entries(session, from, PAGE).await {
                Ok(rows) => rows,
                Err(error) => {
                    tracing::error!(%error, "a transcript could not be read");
                    let error = wire::error(ErrorCode::StoreUnavailable, error.to_string());
                    self.push(&ServerMessage::Error(error)).await;
                    let message = HubMessage::HistoryFailed {
                        client: self.client,
                        session: self.session,
                    };
                    // When the hub has ended there is nothing to forget.
                    let _ = self.hub.send(message).await;
                    return;
                }
            };
            let Some(last) = rows.last() else {
                break;
            };
            upto = u64::try_from(last.seq).unwrap_or(until);
            let entries = rows
                .into_iter()
                .filter_map(|row| RawValue::from_string(row.body).ok().map(Arc::from))
                .collect();
            let message = ServerMessage::Transcript {
                session_id: self.session.0,
                entries,
            };
            if !self.push(&message).await {
                return;
            }
        }
        let message = HubMessage::CaughtUp {
            client: self.client,
            session: self.session,
            upto: upto.max(until),
        };
        // When the hub has ended there is nobody left to catch up.
        let _ = self.hub.send(message).await;
    }

    async fn push(&self, message: &ServerMessage) -> bool {
        match frame(message) {
            Some(text) => self.outbox.send(text).await,
            None => false,
        }
    }
}

fn row(session: SessionId, entry: &Entry) -> EntryRow {
    EntryRow {
        session_id: sayso_store::SessionId(session.0),
        seq: i64::try_from(entry.seq).unwrap_or(i64::MAX),
        at: UnixMillis(entry.at.0),
        body: entry.json.get().to_owned(),
        line: entry
            .place
            .map(|place| i64::try_from(place.line).unwrap_or(i64::MAX)),
        part: entry.place.map(|place| i64::from(place.part)),
    }
}
