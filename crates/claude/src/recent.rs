//! A memory of the last ids of some kind that takes little room, because each session has some of them.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};

/// How many ids are remembered: as many as a session may have open. An id that comes again comes soon.
pub const REMEMBERED: usize = 256;

/// Ids with what is known of each. An id is kept as a number that is made of it with a key that nobody knows, so two
/// ids are taken for one in one of 2⁵⁶ cases, and nobody can bring that about.
#[derive(Debug)]
pub struct RecentIds<V> {
    key: RandomState,
    known: HashMap<u64, V>,
    /// The same, oldest first.
    order: VecDeque<u64>,
}

impl<V> Default for RecentIds<V> {
    fn default() -> Self {
        Self {
            key: RandomState::new(),
            known: HashMap::new(),
            order: VecDeque::new(),
        }
    }
}

impl<V> RecentIds<V> {
    /// Remembers the id, and forgets the oldest for it. What was known of it before is replaced.
    pub fn insert(&mut self, id: &str, value: V) {
        let number = self.number(id);
        if self.known.insert(number, value).is_some() {
            return;
        }
        if self.order.len() == REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        self.order.push_back(number);
    }

    pub fn contains(&self, id: &str) -> bool {
        self.known.contains_key(&self.number(id))
    }

    pub fn get_mut(&mut self, id: &str) -> Option<&mut V> {
        let number = self.number(id);
        self.known.get_mut(&number)
    }

    fn number(&self, id: &str) -> u64 {
        self.key.hash_one(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_are_remembered_and_no_more() {
        let mut recent = RecentIds::default();
        for number in 0..=REMEMBERED {
            recent.insert(&number.to_string(), number);
        }
        assert_eq!(recent.known.len(), REMEMBERED);
        assert_eq!(recent.order.len(), REMEMBERED);
        assert!(!recent.contains("0"));
        assert_eq!(recent.get_mut("1"), Some(&mut 1));
    }

    #[test]
    fn an_id_that_comes_again_takes_no_second_place() {
        let mut recent = RecentIds::default();
        recent.insert("a", 1);
        for number in 1..REMEMBERED {
            recent.insert(&format!("b{number}"), number);
            recent.insert("a", number);
        }
        assert_eq!(recent.get_mut("a"), Some(&mut (REMEMBERED - 1)));
        assert!(recent.contains("b1"));
        recent.insert("c", 0);
        assert!(!recent.contains("a"));
        assert!(recent.contains("b1"));
    }
}
