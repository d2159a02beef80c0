//! The one task that owns the broker, the sessions and the clients.
//!
//! Everything that changes state arrives here as a message, in one order:
//! that is why no client can see a request that another one has closed. The
//! loop never waits for a disk, an agent or a slow browser.

mod audience;
mod audit;
mod audit_body;
mod bypass;
mod checks;
mod clients;
mod clock;
mod coming;
mod commands;
mod controls;
mod delivering;
mod details;
mod editing;
mod effects;
mod ending;
mod from_agents;
mod history;
mod import;
mod message;
mod messages;
mod outbox;
mod pauses;
mod permission;
mod progress;
mod queue;
mod recording;
mod records;
mod requests;
mod restart;
mod restored;
mod rows;
mod rules;
mod run;
mod sessions;
mod shutdown;
mod silence;
mod start;
mod takeover;
mod transcript;
mod waking;
mod watchdog;
mod wire;
mod writes;

use sayso_broker::{Broker, ClientId, ClientRef, Event, ReplyTo, RequestId, SessionId};
use sayso_protocol::{Scope, ServerMessage};
use sayso_store::{Completion, LoggedWriter, Store, UnixMillis};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use crate::agents::Agents;
use crate::agents::link::FromAgent;
use crate::config::Config;
use crate::rules::RuleBook;

pub use clients::{Clients, Interest};
pub use message::{Caller, HubGone, HubHandle, HubMessage, NotWritten, Reply, Snapshot};
pub use outbox::{Frame, Outbox, outbox};

use clock::{Looked, now};
use coming::Coming;
use controls::Control;
use delivering::Undelivered;
use pauses::Pauses;
use sessions::Sessions;
use shutdown::Phase;
use writes::Writes;

/// How many messages of clients may wait.
const CLIENT_QUEUE: usize = 1024;
/// How many batches of agent output may wait; agents are held back beyond.
const AGENT_QUEUE: usize = 256;
/// How much the hub does before it looks at the clock again.
const AT_ONCE: usize = 64;
/// How many notes the disk did not take may wait before agents are held back.
const UNWRITTEN_NOTES: usize = 2048;
/// How many reports of writes may wait for the hub.
const COMPLETIONS: usize = 4096;

/// By ids that Sayso makes itself: nobody can choose them so that many of them meet in one place.
type ById<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

pub struct Hub {
    config: Arc<Config>,
    agents: Agents,
    broker: Broker,
    events: VecDeque<Event>,
    sessions: Sessions,
    clients: Clients,
    writes: Writes,
    store: Store,
    replies: ById<ReplyTo, (Caller, RequestId)>,
    next_reply: u64,
    controls: HashMap<u64, Control>,
    next_control: u64,
    next_run: u64,
    /// Answers on their way to agents, by the id of their line.
    delivering: ById<Uuid, RequestId>,
    /// Recorded answers that the agent's full queue did not take yet.
    undelivered: Vec<Undelivered>,
    unsaid: Vec<watchdog::Unsaid>,
    /// What the disk did not take yet, in the order in which it happened.
    unwritten: Vec<writes::Note>,
    /// Runners of ended agents that wait until all is on disk.
    leaving: Vec<rows::Leaving>,
    /// Agents that are being stopped to start again in another mode.
    restarts: HashMap<SessionId, restart::Restart>,
    rules: RuleBook,
    /// Who asked for the mode that an agent is about to be in.
    mode_actors: HashMap<SessionId, audit::Actor>,
    /// What clients are shown and rules would look at, of each open request.
    details: details::Details,
    /// The newest entries of a session's transcript, which are not on their way to the disk yet.
    fresh: Option<(SessionId, Vec<transcript::Entry>)>,
    /// Shared with every task that serves an agent.
    links: Arc<()>,
    looked: Option<Looked>,
    pauses: Pauses,
    phase: Phase,
    handle: HubHandle,
    messages: mpsc::Receiver<HubMessage>,
    from_agents: mpsc::Receiver<FromAgent>,
    to_hub: mpsc::Sender<FromAgent>,
    completions: mpsc::Receiver<Completion>,
}

impl std::fmt::Debug for Hub {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Hub")
            .field("phase", &self.phase)
            .finish_non_exhaustive()
    }
}

impl Hub {
    /// Reads what earlier runs left and starts the writer. `run` does the rest.
    pub async fn open(
        config: Arc<Config>,
        mut agents: Agents,
        store: Store,
    ) -> anyhow::Result<Self> {
        let now = now();
        let found = takeover::find(&config.data_dir).await;
        let at = UnixMillis(now.0);
        let folders = audit::Folders::read(&store).await?;
        let orphaned = store
            .recover(at, &found.sessions(), |orphaned| {
                let entry = |row| audit::orphan_entry(row, &folders, at);
                orphaned.iter().map(entry).collect()
            })
            .await?;
        let sessions = Sessions::load(&store).await?;
        let rules = store.rules().await?;
        for facts in store.agent_facts().await? {
            let models = serde_json::from_str(&facts.models).unwrap_or_default();
            agents.set_models(&facts.agent, models);
        }
        let (messages_sender, messages) = mpsc::channel(CLIENT_QUEUE);
        let (to_hub, from_agents) = mpsc::channel(AGENT_QUEUE);
        let (completed, completions) = mpsc::channel(COMPLETIONS);
        let writer = LoggedWriter::start(store.clone(), completed, writes::QUEUE).await?;
        let mut hub = Self {
            config,
            agents,
            broker: Broker::new(now),
            events: VecDeque::new(),
            sessions,
            clients: Clients::default(),
            writes: Writes::new(writer),
            store,
            replies: ById::default(),
            next_reply: 0,
            controls: HashMap::new(),
            next_control: 0,
            next_run: 0,
            delivering: ById::default(),
            undelivered: Vec::new(),
            unsaid: Vec::new(),
            unwritten: Vec::new(),
            leaving: Vec::new(),
            restarts: HashMap::new(),
            rules: RuleBook::load(rules),
            mode_actors: HashMap::new(),
            details: details::Details::default(),
            fresh: None,
            links: Arc::new(()),
            looked: None,
            pauses: Pauses::default(),
            phase: Phase::Running,
            handle: HubHandle {
                messages: messages_sender,
            },
            messages,
            from_agents,
            to_hub,
            completions,
        };
        hub.tell_orphaned(orphaned);
        hub.take_over(found).await?;
        Ok(hub)
    }

    pub fn handle(&self) -> HubHandle {
        self.handle.clone()
    }

    /// Runs until a shutdown is complete. An error means that nothing can be recorded any more.
    pub async fn run(mut self) -> anyhow::Result<()> {
        loop {
            self.write_out();
            match self.comes_next().await? {
                Coming::Completion(completion) => self.completed(completion),
                Coming::Message(message) => self.message(message),
                Coming::Output(output) => self.agent_output(output),
                Coming::Room => {}
                Coming::Time => self.woken(),
            }
            self.take_what_is_there();
            self.advance_restarts();
            if self.advance_shutdown() {
                break;
            }
        }
        self.clients.close();
        self.save_fresh();
        self.write_what_waits();
        self.writes.close(&mut self.completions).await;
        self.store.close().await;
        Ok(())
    }

    /// More of what has come already: to look for the next moment to wake up is dear when it is done for each.
    fn take_what_is_there(&mut self) {
        for _ in 0..AT_ONCE {
            if let Ok(completion) = self.completions.try_recv() {
                self.completed(completion);
            } else if let Ok(message) = self.messages.try_recv() {
                self.message(message);
            } else if self.has_room()
                && let Ok(output) = self.from_agents.try_recv()
            {
                self.agent_output(output);
            } else {
                return;
            }
        }
    }

    /// Writes all that has come up in one piece, and goes on with what follows from it.
    fn write_out(&mut self) {
        loop {
            self.save_fresh();
            let done = self.writes.flush();
            if done.is_empty() {
                return;
            }
            for completion in done {
                self.completed(completion);
            }
        }
    }

    /// Whether what agents say can be written soon. Where it cannot, they are held back.
    fn has_room(&self) -> bool {
        self.writes.has_room() && self.unwritten.len() < UNWRITTEN_NOTES
    }

    fn message(&mut self, message: HubMessage) {
        crate::faults::strike("hub");
        match message {
            HubMessage::Connect {
                client,
                me,
                outbox,
                interest,
                welcomed,
            } => {
                self.connect(client, *me, outbox, interest);
                // The connection may be gone already.
                let _ = welcomed.send(());
            }
            HubMessage::Observe { client, outbox } => self.observe(client, outbox),
            HubMessage::Disconnect { client } => {
                self.clients.remove(client);
                self.dispatch(Event::ClientDisconnected { client });
            }
            HubMessage::Resync { client } => self.welcome(client),
            HubMessage::Command {
                pass,
                caller,
                message,
            } => self.command(&pass, caller, message),
            HubMessage::Write { writes, done } => self.write_for(writes, done),
            HubMessage::Devices { to, devices } => {
                let message = ServerMessage::Devices(devices);
                match to {
                    None => self.clients.broadcast_to(Scope::Admin, &message),
                    Some(clients) => {
                        for client in clients {
                            self.clients.send(client, &message);
                        }
                    }
                }
            }
            HubMessage::Snapshot { reply } => {
                let snapshot = self.snapshot();
                // The one who asked may have gone.
                let _ = reply.send(snapshot);
            }
            HubMessage::ClaudeVersion(version) => {
                self.agents.set_claude_version(version);
                self.tell_agents();
            }
            HubMessage::ShutDown => self.begin_shutdown(),
            HubMessage::StartChecked { caller, checked } => self.start_checked(caller, checked),
            HubMessage::Edited(edited) => self.edited(*edited),
            HubMessage::ConversationRead { caller, read } => self.conversation_read(caller, read),
            HubMessage::CaughtUp {
                client,
                session,
                upto,
            } => self.caught_up(client, session, upto),
            HubMessage::HistoryFailed { client, session } => {
                self.clients.unsubscribe(client, session);
            }
            HubMessage::LateReply { caller, reply } => self.reply(caller, reply),
        }
    }

    /// Gives the broker an event and carries out all that follows from it.
    fn dispatch(&mut self, event: Event) {
        self.events.push_back(event);
        self.settle();
    }

    fn settle(&mut self) {
        while let Some(event) = self.events.pop_front() {
            for effect in self.broker.handle(now(), event) {
                self.carry_out(effect);
            }
        }
    }

    fn client_of(&self, caller: &Caller) -> ClientRef {
        match caller {
            Caller::Socket { client, .. } => ClientRef {
                id: *client,
                label: self.clients.label(*client).to_owned(),
            },
            Caller::Rest { client, .. } => client.clone(),
        }
    }

    fn remember_caller(&mut self, caller: Caller, request: RequestId) -> ReplyTo {
        self.next_reply += 1;
        let reply = ReplyTo(self.next_reply);
        self.replies.insert(reply, (caller, request));
        reply
    }
}

/// A caller that does not wait for the answer.
fn nobody() -> Caller {
    let (reply, _) = oneshot::channel();
    let client = ClientRef {
        id: ClientId(Uuid::nil()),
        label: "Sayso".to_owned(),
    };
    Caller::Rest { client, reply }
}
