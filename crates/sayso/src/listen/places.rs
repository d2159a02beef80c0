//! Who gets a place, and whose place is taken when there is none.
//!
//! A connection is unproven until it has shown a credential. Those that have
//! not may only fill a part of the room, and the oldest of them goes first.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::time::{Duration, Instant};

use super::source::Source;

/// How long an unproven connection is left alone, so that an honest one can
/// show its credential also in the middle of a flood.
const GRACE: Duration = Duration::from_millis(100);

#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) connections: usize,
    pub(super) unproven: usize,
    pub(super) sharing: Sharing,
}

/// Whether one address may have all of the room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    /// All come from one address anyway: this machine, or a proxy.
    None,
    /// A quarter for each.
    ByAddress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct PlaceId(u64);

/// What becomes of somebody who knocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Admitted(PlaceId),
    /// After this time close that one, then ask again.
    After(Duration, PlaceId),
    Refused,
}

#[derive(Clone, Copy, Debug)]
struct Guest {
    source: Source,
    since: Instant,
}

/// All places. Ids grow, so the first of the unproven is the oldest.
#[derive(Debug)]
pub(super) struct Places {
    limits: Limits,
    next: u64,
    unproven: BTreeMap<PlaceId, Guest>,
    proven: HashMap<PlaceId, Guest>,
}

impl Places {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            next: 0,
            unproven: BTreeMap::new(),
            proven: HashMap::new(),
        }
    }

    pub(super) fn enter(&mut self, address: IpAddr, now: Instant) -> Entry {
        let source = Source::of(address);
        if self.limits.sharing == Sharing::ByAddress
            && let Some(entry) = self.beyond_share(source)
        {
            return entry;
        }
        let total = self.unproven.len() + self.proven.len();
        if self.unproven.len() >= self.limits.unproven || total >= self.limits.connections {
            return match self.unproven.first_key_value() {
                Some((id, oldest)) => {
                    let age = now.saturating_duration_since(oldest.since);
                    Entry::After(GRACE.saturating_sub(age), *id)
                }
                None => Entry::Refused,
            };
        }
        let id = PlaceId(self.next);
        self.next += 1;
        self.unproven.insert(id, Guest { source, since: now });
        Entry::Admitted(id)
    }

    /// Whoever has a full share makes room for itself, at once: others do not wait for it.
    fn beyond_share(&self, source: Source) -> Option<Entry> {
        let mut unproven = self
            .unproven
            .iter()
            .filter(|(_, guest)| guest.source == source);
        let oldest = unproven.next();
        let unproven = usize::from(oldest.is_some()) + unproven.count();
        let proven = self.proven.values().filter(|guest| guest.source == source);
        let full = unproven >= quarter(self.limits.unproven)
            || unproven + proven.count() >= quarter(self.limits.connections);
        if !full {
            return None;
        }
        Some(match oldest {
            Some((id, _)) => Entry::After(Duration::ZERO, *id),
            None => Entry::Refused,
        })
    }

    pub(super) fn prove(&mut self, id: PlaceId) {
        if let Some(guest) = self.unproven.remove(&id) {
            self.proven.insert(id, guest);
        }
    }

    pub(super) fn is_proven(&self, id: PlaceId) -> bool {
        self.proven.contains_key(&id)
    }

    pub(super) fn leave(&mut self, id: PlaceId) {
        self.unproven.remove(&id);
        self.proven.remove(&id);
    }
}

fn quarter(limit: usize) -> usize {
    (limit / 4).max(1)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn places(connections: usize, unproven: usize, sharing: Sharing) -> Places {
        Places::new(Limits {
            connections,
            unproven,
            sharing,
        })
    }

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn the_oldest_unproven_makes_room_after_its_grace() {
        let mut places = places(10, 3, Sharing::None);
        let start = Instant::now();
        for id in 0..3 {
            assert_eq!(places.enter(HERE, start), Entry::Admitted(PlaceId(id)));
        }
        assert_eq!(places.enter(HERE, start), Entry::After(GRACE, PlaceId(0)));
        places.prove(PlaceId(0));
        assert_eq!(
            places.enter(HERE, start),
            Entry::Admitted(PlaceId(3)),
            "whoever has shown a credential is not among them"
        );
        let later = start + GRACE;
        assert_eq!(
            places.enter(HERE, later),
            Entry::After(Duration::ZERO, PlaceId(1))
        );
        places.leave(PlaceId(1));
        assert_eq!(places.enter(HERE, later), Entry::Admitted(PlaceId(4)));
    }

    #[test]
    fn proven_connections_are_never_closed_for_others() {
        let mut places = places(2, 2, Sharing::None);
        let now = Instant::now();
        for id in 0..2 {
            places.enter(HERE, now);
            places.prove(PlaceId(id));
        }
        assert_eq!(places.enter(HERE, now + GRACE), Entry::Refused);
        places.leave(PlaceId(0));
        assert_eq!(places.enter(HERE, now), Entry::Admitted(PlaceId(2)));
        assert!(places.is_proven(PlaceId(1)) && !places.is_proven(PlaceId(2)));
    }

    #[test]
    fn one_address_has_a_quarter_and_others_get_in() {
        let mut places = places(40, 8, Sharing::ByAddress);
        let now = Instant::now();
        let (loud, other) = (address("203.0.113.7"), address("203.0.113.8"));
        places.enter(loud, now);
        places.enter(loud, now);
        assert_eq!(
            places.enter(loud, now),
            Entry::After(Duration::ZERO, PlaceId(0))
        );
        assert_eq!(places.enter(other, now), Entry::Admitted(PlaceId(2)));
        for id in 0..10 {
            places.leave(PlaceId(id));
        }
        for id in 3..13 {
            assert_eq!(places.enter(loud, now), Entry::Admitted(PlaceId(id)));
            places.prove(PlaceId(id));
        }
        assert_eq!(places.enter(loud, now), Entry::Refused, "ten of forty");
        assert_eq!(places.enter(other, now), Entry::Admitted(PlaceId(13)));
    }
}
