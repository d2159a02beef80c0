//! Who may come in and what they may do.
//!
//! Everybody is known by a secret: the owner by the server's own token, a
//! browser by its cookie, a script by a token of its own, an extension by one
//! that is good from its origin alone. Of all but the owner's only hashes are
//! kept. What each may do is written here, never told by a client.

mod attempts;
mod credential;
mod devices;
mod managing;
mod offline;
mod owner;
mod pairings;
mod password;
mod proving;
mod scopes;

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use sayso_broker::ClientId;
use sayso_protocol::{Me, Pairing as WirePairing, Scope};
use sayso_store::{ReadError, Store};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::hub::{HubHandle, HubMessage};

pub use attempts::Guess;
pub use credential::Fresh;
pub use devices::BROWSER_LASTS;
pub(crate) use managing::entry;
pub use managing::{AccessError, Entered, Newcomer};
pub use offline::remove_password;
pub use owner::{Secret, SecretError};
pub use pairings::PairingError;
pub use scopes::{Identity, Pass, Proof, Scopes};

use attempts::Attempts;
use devices::{Devices, Kind};
use pairings::Pairings;
use proving::Proofs;

const ANNOUNCE_EVERY: Duration = Duration::from_millis(200);
/// The wall clock, which ends tokens, can be set while a socket sleeps by the other one.
const LOOK_AGAIN_AFTER: Duration = Duration::from_secs(60);

/// Shared by everything that lets somebody in. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Access {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    owner: Secret,
    hub: HubHandle,
    state: Mutex<State>,
    /// There is something to tell.
    news: Notify,
}

#[derive(Debug, Default)]
struct State {
    devices: Devices,
    pairings: Pairings,
    attempts: Attempts,
    proofs: Proofs,
    /// The hash of the password, when there is one.
    password: Option<String>,
    /// Something changed that those who manage devices see.
    changed: bool,
    /// Clients that have not been told how things stand.
    newcomers: Vec<ClientId>,
}

/// What somebody shows to come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential<'a> {
    Bearer(&'a str),
    Cookie(&'a str),
    /// From a page of an extension; its browser vouches for the origin.
    Extension {
        token: &'a str,
        origin: &'a str,
    },
}

impl Access {
    pub async fn open(store: &Store, hub: HubHandle, owner: Secret) -> Result<Self, ReadError> {
        let state = State {
            devices: Devices::load(&store.devices().await?),
            password: store.password().await?,
            ..State::default()
        };
        Ok(Self {
            inner: Arc::new(Inner {
                owner,
                hub,
                state: Mutex::new(state),
                news: Notify::new(),
            }),
        })
    }

    /// Whose credential this is. Nobody's is `None`, for whatever reason.
    pub fn identify(&self, credential: Credential<'_>) -> Option<Identity> {
        let (text, kind) = match credential {
            Credential::Bearer(token) if self.inner.owner.is(token) => {
                return Some(Identity::Owner);
            }
            Credential::Bearer(token) => (token, Kind::Token),
            Credential::Cookie(value) => (value, Kind::Browser),
            Credential::Extension { token, origin } => {
                let origin = origin.to_owned();
                (token, Kind::Extension { origin })
            }
        };
        let (id, secret) = credential::read_shown(text)?;
        let now = Timestamp::now();
        let state = self.state();
        let known = state.devices.with_secret(id, &kind, secret, now)?;
        Some(Identity::Device(known.id))
    }

    /// What somebody may do at this moment; `None` when that has ended.
    /// `script` names an owner, who has no device.
    pub fn pass(&self, identity: Identity, script: &str) -> Option<Pass> {
        let state = self.state();
        let (label, scopes) = match identity {
            Identity::Owner => (script.to_owned(), Scopes::all()),
            Identity::Device(id) => {
                let known = state.devices.get(id, Timestamp::now())?;
                (known.name.clone(), known.scopes)
            }
        };
        Some(Pass {
            identity,
            label,
            scopes,
            proof: state.proof_of(identity),
        })
    }

    pub fn me(&self, pass: &Pass) -> Me {
        let state = self.state();
        Me {
            device_id: match pass.identity {
                Identity::Owner => None,
                Identity::Device(id) => Some(id),
            },
            name: pass.label.clone(),
            scopes: pass.scopes.list(),
            password_set: state.password.is_some(),
            proven_until: state.proofs.until(pass.identity, Instant::now()),
        }
    }

    /// How long somebody is let in from now on; `None` is for ever.
    fn time_left(&self, identity: Identity) -> Option<Duration> {
        let (Identity::Device(id), now) = (identity, Timestamp::now()) else {
            return None;
        };
        let state = self.state();
        let Some(known) = state.devices.get(id, now) else {
            return Some(Duration::ZERO);
        };
        let left = known.expires_at?.duration_since(now);
        Some(Duration::try_from(left).unwrap_or_default())
    }

    /// Notes that somebody was there.
    pub fn seen(&self, identity: Identity) {
        let Identity::Device(id) = identity else {
            return;
        };
        let write = self.state().devices.seen(id, Timestamp::now());
        if let Some(write) = write {
            self.inner.hub.note(vec![write]);
        }
    }

    /// Counts a socket for as long as the guard lives.
    pub fn connected(&self, client: ClientId, pass: &Pass) -> Connection {
        let identity = pass.identity;
        let mut state = self.state();
        let changed = match identity {
            Identity::Owner => Some(CancellationToken::new()),
            Identity::Device(id) => {
                state.changed = true;
                state.devices.connected(id)
            }
        };
        if pass.scopes.has(Scope::Admin) {
            state.newcomers.push(client);
        }
        drop(state);
        self.inner.news.notify_one();
        Connection {
            access: self.clone(),
            identity,
            // A device that is gone in this very moment has changed.
            changed: changed.unwrap_or_else(|| {
                let gone = CancellationToken::new();
                gone.cancel();
                gone
            }),
        }
    }

    /// Notes a wrong try; beyond what is let pass, the next has to wait.
    pub fn count_wrong(&self, from: IpAddr, guess: Guess) -> Result<(), AccessError> {
        let (mut state, now) = (self.state(), Instant::now());
        if let Some(wait) = state.attempts.wait(from, guess, now) {
            return Err(AccessError::Wait(wait));
        }
        state.attempts.wrong(from, guess, now);
        Ok(())
    }

    pub fn devices(&self) -> sayso_protocol::Devices {
        let state = self.state();
        let now = Instant::now();
        let pairings = state.pairings.waiting(now);
        sayso_protocol::Devices {
            devices: state.devices.list(Timestamp::now()),
            pairings: pairings.map(|pairing| wire_pairing(pairing, now)).collect(),
        }
    }

    /// Tells those who manage devices how things stand, one after the other,
    /// until the hub has ended.
    pub async fn announce(self) {
        loop {
            self.inner.news.notified().await;
            let (changed, newcomers) = {
                let mut state = self.state();
                let newcomers = std::mem::take(&mut state.newcomers);
                (std::mem::take(&mut state.changed), newcomers)
            };
            let to = if changed { None } else { Some(newcomers) };
            let devices = self.devices();
            let message = HubMessage::Devices { to, devices };
            if self.inner.hub.send(message).await.is_err() {
                return;
            }
            // Many changes at once are told together.
            tokio::time::sleep(ANNOUNCE_EVERY).await;
        }
    }

    fn tell(&self) {
        self.state().changed = true;
        self.inner.news.notify_one();
    }

    /// Nothing is awaited while this is held, and what panics leaves it whole.
    fn state(&self) -> MutexGuard<'_, State> {
        let state = self.inner.state.lock();
        state.unwrap_or_else(PoisonError::into_inner)
    }
}

/// A socket of somebody who is let in.
#[derive(Debug)]
pub struct Connection {
    access: Access,
    identity: Identity,
    changed: CancellationToken,
}

impl Connection {
    /// Ends when what this one may do has changed, or is over.
    pub async fn changed(&self) {
        tokio::select! {
            () = self.changed.cancelled() => {}
            () = self.over() => {}
        }
    }

    /// Ends with the time of a token. A browser that is connected is there, and stays known.
    async fn over(&self) {
        loop {
            let left = self.access.time_left(self.identity);
            if left.is_some_and(|left| left.is_zero()) {
                return;
            }
            self.access.seen(self.identity);
            let left = left.unwrap_or(LOOK_AGAIN_AFTER);
            tokio::time::sleep(left.min(LOOK_AGAIN_AFTER)).await;
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Identity::Device(id) = self.identity {
            self.access.state().devices.disconnected(id);
            self.access.tell();
        }
    }
}

fn wire_pairing(pairing: &pairings::Pairing, now: Instant) -> WirePairing {
    WirePairing {
        pairing_id: pairing.id,
        scopes: pairing.scopes.list(),
        expires_at: wall_time(pairing.expires, now),
        claim: pairing.claim().cloned(),
    }
}

/// A moment of the steady clock, as people read it.
fn wall_time(at: Instant, now: Instant) -> Timestamp {
    let left = at.saturating_duration_since(now);
    let wall = Timestamp::now();
    wall.checked_add(left).unwrap_or(wall)
}
