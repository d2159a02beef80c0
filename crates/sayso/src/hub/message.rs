//! What the hub is told, and how it is reached.

use sayso_broker::{ClientId, ClientRef, SessionId};
use sayso_protocol::{
    Ack, ClientMessage, Devices, ErrorMessage, Me, PendingRequest, Rule, Session,
};
use sayso_store::Write;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::checks::CheckedStart;
use super::clients::Interest;
use super::editing::Edited;
use super::import::ReadConversation;
use super::outbox::Outbox;
use crate::access::Pass;

/// The answer to a client's message.
pub type Reply = Result<Ack, ErrorMessage>;

/// What the web layer tells the hub.
#[derive(Debug)]
pub enum HubMessage {
    Connect {
        client: ClientId,
        me: Box<Me>,
        outbox: Outbox,
        interest: Interest,
        /// Told when the welcome is queued; nothing may come before it.
        welcomed: oneshot::Sender<()>,
    },
    Disconnect {
        client: ClientId,
    },
    /// Somebody inside the server listens. No human is there because of it.
    Observe {
        client: ClientId,
        outbox: Outbox,
    },
    /// The client fell behind, has caught up with what it was sent, and wants a new snapshot.
    Resync {
        client: ClientId,
    },
    Command {
        pass: Pass,
        caller: Caller,
        message: ClientMessage,
    },
    Snapshot {
        reply: oneshot::Sender<Snapshot>,
    },
    /// Something outside of sessions that has to be on record.
    Write {
        writes: Vec<Write>,
        done: Option<oneshot::Sender<Result<(), NotWritten>>>,
    },
    /// For those who manage devices.
    Devices {
        /// To all of them, or to these.
        to: Option<Vec<ClientId>>,
        devices: Devices,
    },
    ClaudeVersion(String),
    ShutDown,
    // What the hub's own tasks report.
    StartChecked {
        caller: Caller,
        checked: Result<CheckedStart, ErrorMessage>,
    },
    Edited(Box<Edited>),
    ConversationRead {
        caller: Caller,
        read: Result<ReadConversation, ErrorMessage>,
    },
    CaughtUp {
        client: ClientId,
        session: SessionId,
        upto: u64,
    },
    /// The client can subscribe again.
    HistoryFailed {
        client: ClientId,
        session: SessionId,
    },
    LateReply {
        caller: Caller,
        reply: Reply,
    },
}

/// Who sent a message and where the answer goes.
#[derive(Debug)]
pub enum Caller {
    Socket {
        client: ClientId,
        id: Option<String>,
    },
    Rest {
        client: ClientRef,
        reply: oneshot::Sender<Reply>,
    },
}

/// What there is right now, for scripts.
#[derive(Debug)]
pub struct Snapshot {
    pub sessions: Vec<Session>,
    pub pending_requests: Vec<PendingRequest>,
    pub rules: Vec<Rule>,
}

/// How the rest of the server reaches the hub. Cheap to clone.
#[derive(Clone, Debug)]
pub struct HubHandle {
    pub(super) messages: mpsc::Sender<HubMessage>,
}

impl HubHandle {
    /// Waits for room. `Err` means that the hub has ended.
    pub async fn send(&self, message: HubMessage) -> Result<(), HubGone> {
        self.messages.send(message).await.map_err(|_| HubGone)
    }

    /// A message from a script, and its answer.
    pub async fn call(&self, pass: Pass, message: ClientMessage) -> Result<Reply, HubGone> {
        let (reply, answer) = oneshot::channel();
        let client = ClientRef {
            id: ClientId(Uuid::new_v4()),
            label: pass.label.clone(),
        };
        let caller = Caller::Rest { client, reply };
        let command = HubMessage::Command {
            pass,
            caller,
            message,
        };
        self.send(command).await?;
        answer.await.map_err(|_| HubGone)
    }

    /// Waits until it is on disk.
    pub async fn write(&self, writes: Vec<Write>) -> Result<(), NotWritten> {
        let (done, written) = oneshot::channel();
        let done = Some(done);
        let gone = |_| NotWritten(HubGone.to_string());
        self.send(HubMessage::Write { writes, done })
            .await
            .map_err(gone)?;
        written
            .await
            .unwrap_or_else(|_| Err(NotWritten(HubGone.to_string())))
    }

    /// For what may get lost when there is too much to do.
    pub fn note(&self, writes: Vec<Write>) {
        let message = HubMessage::Write { writes, done: None };
        if self.messages.try_send(message).is_err() {
            tracing::debug!("a note was left out");
        }
    }

    pub async fn snapshot(&self) -> Result<Snapshot, HubGone> {
        let (reply, answer) = oneshot::channel();
        self.send(HubMessage::Snapshot { reply }).await?;
        answer.await.map_err(|_| HubGone)
    }
}

/// The record could not be written, so nothing has changed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("Sayso cannot write its records: {0}")]
pub struct NotWritten(pub(super) String);

#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("Sayso is shutting down.")]
pub struct HubGone;
