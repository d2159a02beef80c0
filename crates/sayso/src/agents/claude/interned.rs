//! What many requests have in common, kept once for all of them.

use std::sync::{Arc, Mutex, PoisonError};

/// More than ever come up where the agent does not choose them; what else comes is not kept.
const MOST: usize = 64;

#[derive(Debug)]
pub(super) struct Interned<K, V: ?Sized> {
    known: Mutex<Vec<(K, Arc<V>)>>,
}

impl<K: PartialEq, V: ?Sized> Interned<K, V> {
    pub(super) const fn new() -> Self {
        Self {
            known: Mutex::new(Vec::new()),
        }
    }

    pub(super) fn get(&self, key: K, make: impl FnOnce(&K) -> Arc<V>) -> Arc<V> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, value)) = known.iter().find(|(known, _)| *known == key) {
            return Arc::clone(value);
        }
        let value = make(&key);
        if known.len() < MOST {
            known.push((key, Arc::clone(&value)));
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_equal_is_shared_and_what_is_chosen_by_others_does_not_pile_up() {
        let interned: Interned<usize, str> = Interned::new();
        let make = |number: &usize| Arc::from(number.to_string());
        let first = interned.get(1, make);
        assert!(Arc::ptr_eq(&first, &interned.get(1, make)));
        for number in 0..1000 {
            assert_eq!(*interned.get(number, make), *number.to_string());
        }
        assert_eq!(interned.known.lock().unwrap().len(), MOST);
    }
}
