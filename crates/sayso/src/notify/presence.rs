//! Who looks at Sayso right now, as their pages say.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;
use uuid::Uuid;

use crate::access::Identity;

/// Shared by all sockets. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct Presence {
    pages: Arc<Mutex<HashMap<Identity, usize>>>,
    pub(super) changed: Arc<Notify>,
}

/// A page that a human can see, for as long as it lives.
#[derive(Debug)]
pub struct Look {
    identity: Identity,
    presence: Presence,
}

impl Presence {
    pub(super) fn look(&self, identity: Identity) -> Look {
        self.change(|pages| *pages.entry(identity).or_default() += 1);
        Look {
            identity,
            presence: self.clone(),
        }
    }

    /// The devices whose humans look, and whether anybody does at all.
    pub(super) fn looking(&self) -> (BTreeSet<Uuid>, bool) {
        let pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let devices = pages.keys().filter_map(|identity| match identity {
            Identity::Device(id) => Some(*id),
            Identity::Owner => None,
        });
        (devices.collect(), !pages.is_empty())
    }

    fn change(&self, change: impl FnOnce(&mut HashMap<Identity, usize>)) {
        change(&mut self.pages.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_one();
    }
}

impl Drop for Look {
    fn drop(&mut self) {
        let identity = self.identity;
        self.presence.change(|pages| {
            let left = pages.get_mut(&identity).map_or(0, |count| {
                *count -= 1;
                *count
            });
            if left == 0 {
                pages.remove(&identity);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_looks_until_the_last_of_its_pages_is_hidden() {
        let presence = Presence::default();
        let id = Uuid::from_u128(1);
        let (first, second) = (
            presence.look(Identity::Device(id)),
            presence.look(Identity::Device(id)),
        );
        let owner = presence.look(Identity::Owner);
        drop(first);
        assert_eq!(presence.looking(), (BTreeSet::from([id]), true));
        drop(second);
        assert_eq!(presence.looking(), (BTreeSet::new(), true));
        drop(owner);
        assert_eq!(presence.looking(), (BTreeSet::new(), false));
    }
}
