//! What the hub is told, and how it is reached.

use sayso_broker::{ClientId, ClientRef, SessionId};
use sayso_protocol::{Ack, ClientMessage, ErrorMessage, PendingRequest, Rule, Session};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::checks::CheckedStart;
use super::clients::Outbox;
use super::import::ReadConversation;

/// The answer to a client's message.
pub type Reply = Result<Ack, ErrorMessage>;

/// What the web layer tells the hub.
#[derive(Debug)]
pub enum HubMessage {
    Connect {
        client: ClientId,
        label: String,
        outbox: Outbox,
        /// Told when the welcome is queued; nothing may come before it.
        welcomed: oneshot::Sender<()>,
    },
    Disconnect {
        client: ClientId,
    },
    /// The client fell behind, has caught up with what it was sent, and wants a new snapshot.
    Resync {
        client: ClientId,
    },
    Command {
        caller: Caller,
        message: ClientMessage,
    },
    Snapshot {
        reply: oneshot::Sender<Snapshot>,
    },
    ClaudeVersion(String),
    ShutDown,
    // What the hub's own tasks report.
    StartChecked {
        caller: Caller,
        checked: Result<CheckedStart, ErrorMessage>,
    },
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
    pub async fn call(&self, label: &str, message: ClientMessage) -> Result<Reply, HubGone> {
        let (reply, answer) = oneshot::channel();
        let client = ClientRef {
            id: ClientId(Uuid::new_v4()),
            label: label.to_owned(),
        };
        let caller = Caller::Rest { client, reply };
        self.send(HubMessage::Command { caller, message }).await?;
        answer.await.map_err(|_| HubGone)
    }

    pub async fn snapshot(&self) -> Result<Snapshot, HubGone> {
        let (reply, answer) = oneshot::channel();
        self.send(HubMessage::Snapshot { reply }).await?;
        answer.await.map_err(|_| HubGone)
    }
}

#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("Sayso is shutting down.")]
pub struct HubGone;
