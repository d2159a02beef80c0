//! The places as connections share them.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::places::{Entry, Limits, PlaceId, Places};

/// A connection that is told to end is gone by then, or is no longer waited for.
const LEAVING: Duration = Duration::from_secs(1);

/// Where connections wait until they have shown a credential. Lives as long as the listener.
#[derive(Debug)]
pub(super) struct Lobby {
    state: Mutex<State>,
    left: Notify,
}

#[derive(Debug)]
struct State {
    places: Places,
    closing: HashMap<PlaceId, CancellationToken>,
}

/// A connection's right to be there; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    id: PlaceId,
    lobby: Arc<Lobby>,
    closing: CancellationToken,
}

impl Lobby {
    pub(super) fn new(limits: Limits) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                places: Places::new(limits),
                closing: HashMap::new(),
            }),
            left: Notify::new(),
        })
    }

    /// Waits while somebody else is shown out. `None` when all places are taken for good.
    pub(super) async fn enter(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        loop {
            // Before the places are looked at, so that nobody leaves unnoticed.
            let left = self.left.notified();
            let (wait, oldest) = {
                let mut state = self.state();
                match state.places.enter(address, Instant::now()) {
                    Entry::Admitted(id) => {
                        let closing = CancellationToken::new();
                        state.closing.insert(id, closing.clone());
                        let lobby = Arc::clone(self);
                        return Some(Place { id, lobby, closing });
                    }
                    Entry::After(wait, oldest) => (wait, oldest),
                    Entry::Refused => return None,
                }
            };
            if !wait.is_zero() && tokio::time::timeout(wait, left).await.is_ok() {
                continue;
            }
            self.show_out(oldest).await;
        }
    }

    async fn show_out(&self, id: PlaceId) {
        let left = self.left.notified();
        {
            let state = self.state();
            match state.closing.get(&id) {
                // It has shown its credential just now.
                Some(_) if state.places.is_proven(id) => return,
                Some(closing) => closing.cancel(),
                None => return,
            }
        }
        if tokio::time::timeout(LEAVING, left).await.is_err() {
            tracing::warn!("a connection does not end");
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Places are right after every step, so a fault elsewhere does not spoil them.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// A credential was shown: this connection is not closed for the sake of others any more.
    pub(crate) fn prove(&self) {
        self.lobby.state().places.prove(self.id);
    }

    pub(super) fn is_proven(&self) -> bool {
        self.lobby.state().places.is_proven(self.id)
    }

    /// Ends when the place is needed for somebody else.
    pub(super) async fn closed(&self) {
        self.closing.cancelled().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        {
            let mut state = self.lobby.state();
            state.places.leave(self.id);
            state.closing.remove(&self.id);
        }
        self.lobby.left.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::super::places::Sharing;
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn lobby(connections: usize, unproven: usize) -> Arc<Lobby> {
        Lobby::new(Limits {
            connections,
            unproven,
            sharing: Sharing::None,
        })
    }

    #[tokio::test]
    async fn a_full_room_shows_out_the_oldest_that_proved_nothing() {
        let lobby = lobby(10, 2);
        let oldest = lobby.enter(HERE).await.unwrap();
        let proven = lobby.enter(HERE).await.unwrap();
        proven.prove();
        let _younger = lobby.enter(HERE).await.unwrap();
        let ends = tokio::spawn(async move {
            oldest.closed().await;
            drop(oldest);
        });
        assert!(lobby.enter(HERE).await.is_some());
        ends.await.unwrap();
        assert!(!proven.closing.is_cancelled());
    }

    #[tokio::test]
    async fn a_room_full_of_proven_ones_is_closed_until_one_leaves() {
        let lobby = lobby(1, 1);
        let only = lobby.enter(HERE).await.unwrap();
        only.prove();
        assert!(lobby.enter(HERE).await.is_none());
        drop(only);
        assert!(lobby.enter(HERE).await.is_some());
    }
}
