//! Who attends which session: a front end that goes may be the last.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use uuid::Uuid;

type Place = (&'static str, Uuid);

/// Shared by all sockets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attending {
    seats: Arc<Mutex<HashMap<Place, usize>>>,
}

/// Held while one front end attends one session.
#[derive(Debug)]
pub(crate) struct Seat {
    place: Place,
    attending: Attending,
}

impl Attending {
    pub(crate) fn sit(&self, dialect: &'static str, session: Uuid) -> Seat {
        let place = (dialect, session);
        self.change(|seats| *seats.entry(place).or_default() += 1);
        let attending = self.clone();
        Seat { place, attending }
    }

    fn change<T>(&self, change: impl FnOnce(&mut HashMap<Place, usize>) -> T) -> T {
        change(&mut self.seats.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Seat {
    pub(crate) fn session(&self) -> Uuid {
        self.place.1
    }

    /// Gets up; true when nobody of the same dialect is left.
    pub(crate) fn leave(self) -> bool {
        let (attending, place) = (self.attending.clone(), self.place);
        drop(self);
        attending.change(|seats| !seats.contains_key(&place))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let place = self.place;
        self.attending.change(|seats| {
            let left = seats.get_mut(&place).map_or(0, |count| {
                *count -= 1;
                *count
            });
            if left == 0 {
                seats.remove(&place);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_is_alone() {
        let attending = Attending::default();
        let session = Uuid::from_u128(1);
        let first = attending.sit("a", session);
        let second = attending.sit("a", session);
        let other = attending.sit("b", session);
        assert!(!first.leave());
        assert!(second.leave());
        assert!(other.leave());
    }
}
