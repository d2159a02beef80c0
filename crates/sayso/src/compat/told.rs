//! Which open requests a front end has been told of: each once, and what was missed is made up for.

use std::collections::HashSet;

use indexmap::IndexMap;
use uuid::Uuid;

use super::Desk;

/// Requests by their id, with their session.
#[derive(Debug, Default)]
pub(crate) struct Told {
    requests: IndexMap<Uuid, Uuid>,
}

impl Told {
    /// The open requests of these sessions that the front end is to be told of now, the oldest first.
    pub(crate) fn new_ones(&mut self, sessions: &HashSet<Uuid>, desk: &Desk) -> Vec<Uuid> {
        let open = desk.all_pending();
        let open = open.filter(|pending| sessions.contains(&pending.session_id));
        let new = open.filter(|pending| !self.requests.contains_key(&pending.request_id));
        let new: Vec<(Uuid, Uuid)> = new
            .map(|pending| (pending.request_id, pending.session_id))
            .collect();
        self.requests.extend(new.iter().copied());
        new.into_iter().map(|(request, _)| request).collect()
    }

    /// Those that were closed while nothing could be heard of it, with their session.
    pub(crate) fn missed(&mut self, desk: &Desk) -> Vec<(Uuid, Uuid)> {
        let gone = |request: &Uuid| desk.request(*request).is_none();
        let requests = self.requests.extract_if(.., |request, _| gone(request));
        requests.collect()
    }

    /// It is over; false when the front end had not been told of it.
    pub(crate) fn close(&mut self, request: Uuid) -> bool {
        self.requests.shift_remove(&request).is_some()
    }
}
