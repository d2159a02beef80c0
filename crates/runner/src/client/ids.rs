use std::collections::{HashSet, VecDeque};

use uuid::Uuid;

/// How many ids of a connection are remembered. Only those of lines that were not confirmed come again, and whoever
/// borrows the pipes hears of most lines at once.
const REMEMBERED: usize = 256;

/// The ids of lines that an agent may have already. One of them is left to the runner, which knows.
#[derive(Debug, Default)]
pub(super) struct Ids {
    /// Of earlier connections, sorted.
    earlier: Vec<Uuid>,
    known: HashSet<Uuid>,
    order: VecDeque<Uuid>,
}

impl Ids {
    /// What the runner remembers, 16 bytes each.
    pub(super) fn set_earlier(&mut self, ids: &[u8]) {
        let (ids, _) = ids.as_chunks::<16>();
        self.earlier = ids.iter().map(|id| Uuid::from_bytes(*id)).collect();
        self.earlier.sort_unstable();
    }

    pub(super) fn contains(&self, id: Uuid) -> bool {
        self.known.contains(&id) || self.earlier.binary_search(&id).is_ok()
    }

    pub(super) fn add(&mut self, id: Uuid) {
        if !self.known.insert(id) {
            return;
        }
        if self.order.len() >= REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        self.order.push_back(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_earlier_connections_and_the_last_of_this_one_are_known() {
        let id = Uuid::from_u128;
        let mut ids = Ids::default();
        let earlier: Vec<u8> = [9, 3, 7]
            .into_iter()
            .flat_map(|n| *id(n).as_bytes())
            .collect();
        ids.set_earlier(&earlier);
        for number in 100..3000 {
            assert!(!ids.contains(id(number)));
            ids.add(id(number));
            ids.add(id(number));
            assert!(ids.contains(id(number)));
        }
        assert!(ids.contains(id(3)) && ids.contains(id(7)) && ids.contains(id(9)));
        let forgotten = 2999 - REMEMBERED as u128;
        assert!(ids.contains(id(forgotten + 1)) && !ids.contains(id(forgotten)));
        assert_eq!((ids.known.len(), ids.order.len()), (REMEMBERED, REMEMBERED));
    }
}
