//! A group of jobs as the rows that it leaves behind.
//!
//! A request is often opened, decided and delivered within one group. One after the other these are four statements, of
//! which each looks for the row that another has just written. Here they become two rows, and all rows of a table are
//! written together. What the database says in the end is the same.

use std::collections::hash_map::Entry;

use rusqlite::Connection;

use crate::audit::{self, AuditRecord, Tail};
use crate::error::WriteError;
use crate::ids::ById;
use crate::inputs::Inputs;
use crate::requests::{self, Asked, Clock, Decided};
use crate::rows::{
    DecisionRow, Delivery, EntryRow, RequestId, RequestRow, RequestStatus, SessionId, SessionRow,
    UnixMillis,
};
use crate::sessions::{self, Numbers};
use crate::write::{Write, apply};

/// What is written to each table, in the order of the jobs.
#[derive(Debug, Default)]
pub(crate) struct Merged<'a> {
    /// How each is at the end. They are put before all that refers to them.
    sessions: Vec<&'a SessionRow>,
    /// The same for those that something referred to earlier: they have to be there already.
    earlier_sessions: Vec<&'a SessionRow>,
    opened: Vec<Asked<'a>>,
    /// What is about rows of earlier groups.
    others: Vec<&'a Write>,
    /// Decisions about requests of earlier groups.
    ended: Vec<Decided<'a>>,
    entries: Vec<&'a EntryRow>,
    audit: Vec<&'a AuditRecord>,
    known_sessions: ById<SessionId, KnownSession>,
    known_requests: ById<RequestId, KnownRequest>,
}

/// A session that came up in the group.
#[derive(Debug, Clone, Copy)]
enum KnownSession {
    ReferredTo,
    Put(usize),
    PutLater(usize),
}

/// A request that came up in the group, and where it stands.
#[derive(Debug, Clone, Copy)]
enum KnownRequest {
    /// Its row is of an earlier group, as is its decision if there is one.
    Earlier,
    /// Its row is, but its decision is not.
    Ended(usize),
    /// With its decision.
    Opened(usize),
}

impl<'a> Merged<'a> {
    /// `None` when one of the writes contradicts another, or when their order matters in ways that are not known here.
    pub(crate) fn of(writes: impl IntoIterator<Item = &'a Write>) -> Option<Self> {
        let mut merged = Self::default();
        for write in writes {
            merged.add(write)?;
        }
        Some(merged)
    }

    fn add(&mut self, write: &'a Write) -> Option<()> {
        match write {
            Write::PutSession(row) => self.put_session(row),
            Write::AppendEntry(row) => {
                self.refer_to(row.session_id);
                self.entries.push(row);
            }
            Write::OpenRequest(row) => self.open(row)?,
            Write::UpdateRequestClock {
                id,
                deadline,
                held_remaining_ms,
                held,
            } => {
                let clock = Clock {
                    deadline: *deadline,
                    held_remaining_ms: *held_remaining_ms,
                    held: *held,
                };
                self.set_clock(*id, clock, write)?;
            }
            Write::Decide(row) => self.decide(row)?,
            Write::SetDelivery {
                request_id,
                delivery,
                at,
            } => self.set_delivery(*request_id, *delivery, *at, write)?,
            Write::UseRule { .. } => self.others.push(write),
            Write::AppendAudit(record) => self.audit.push(record),
            Write::DeleteSession(_)
            | Write::PutQueued(_)
            | Write::RemoveQueued(_)
            | Write::TrustFolder(_)
            | Write::PutAgentFacts(_)
            | Write::PutRule(_)
            | Write::RemoveRule(_)
            | Write::PutDevice(_)
            | Write::DeviceSeen { .. }
            | Write::RemoveDevice(_)
            | Write::PutChannel(_)
            | Write::SetChannelResult { .. }
            | Write::RemoveChannel(_)
            | Write::SetPassword(_) => return None,
        }
        Some(())
    }

    fn put_session(&mut self, row: &'a SessionRow) {
        match self.known_sessions.entry(row.id) {
            Entry::Vacant(unknown) => {
                unknown.insert(KnownSession::Put(self.sessions.len()));
                self.sessions.push(row);
            }
            Entry::Occupied(mut known) => match *known.get() {
                KnownSession::Put(place) => self.sessions[place] = row,
                KnownSession::PutLater(place) => self.earlier_sessions[place] = row,
                KnownSession::ReferredTo => {
                    known.insert(KnownSession::PutLater(self.earlier_sessions.len()));
                    self.earlier_sessions.push(row);
                }
            },
        }
    }

    fn refer_to(&mut self, session: SessionId) {
        let known = self.known_sessions.entry(session);
        known.or_insert(KnownSession::ReferredTo);
    }

    fn open(&mut self, row: &'a RequestRow) -> Option<()> {
        let Entry::Vacant(unknown) = self.known_requests.entry(row.id) else {
            return None;
        };
        if row.status != RequestStatus::Open {
            return None;
        }
        unknown.insert(KnownRequest::Opened(self.opened.len()));
        self.opened.push(Asked::new(row));
        self.refer_to(row.session_id);
        Some(())
    }

    fn known(&mut self, id: RequestId) -> KnownRequest {
        let known = self.known_requests.entry(id);
        *known.or_insert(KnownRequest::Earlier)
    }

    fn set_clock(&mut self, id: RequestId, clock: Clock, write: &'a Write) -> Option<()> {
        match self.known(id) {
            KnownRequest::Opened(place) if self.opened[place].decided.is_none() => {
                self.opened[place].clock = clock;
            }
            KnownRequest::Opened(_) | KnownRequest::Ended(_) => return None,
            KnownRequest::Earlier => self.others.push(write),
        }
        Some(())
    }

    fn decide(&mut self, row: &'a DecisionRow) -> Option<()> {
        match self.known(row.request_id) {
            KnownRequest::Opened(place) if self.opened[place].decided.is_none() => {
                self.opened[place].decided = Some(Decided::new(row));
            }
            KnownRequest::Opened(_) | KnownRequest::Ended(_) => return None,
            KnownRequest::Earlier => {
                let ended = KnownRequest::Ended(self.ended.len());
                self.known_requests.insert(row.request_id, ended);
                self.ended.push(Decided::new(row));
            }
        }
        Some(())
    }

    fn set_delivery(
        &mut self,
        id: RequestId,
        delivery: Delivery,
        at: Option<UnixMillis>,
        write: &'a Write,
    ) -> Option<()> {
        let decided = match self.known(id) {
            KnownRequest::Opened(place) => self.opened[place].decided.as_mut()?,
            KnownRequest::Ended(place) => &mut self.ended[place],
            KnownRequest::Earlier => {
                self.others.push(write);
                return Some(());
            }
        };
        decided.delivery = delivery;
        decided.delivered_at = at;
        Some(())
    }

    /// An error leaves it open which of the jobs is to blame.
    pub(crate) fn apply(
        &self,
        connection: &'a Connection,
        tail: &mut Tail,
    ) -> Result<(), WriteError> {
        for row in &self.sessions {
            sessions::put(connection, row)?;
        }
        let (mut numbers, mut inputs) = (Numbers::new(connection), Inputs::new(connection));
        self.opened.iter().for_each(|asked| inputs.ask(asked.row));
        requests::insert(connection, &mut numbers, &mut inputs, &self.opened)?;
        for write in &self.others {
            apply(connection, tail, write)?;
        }
        for decided in &self.ended {
            requests::end(connection, decided)?;
        }
        sessions::append_all(connection, &mut numbers, &mut inputs, &self.entries)?;
        audit::append_all(connection, tail, &mut inputs, &self.audit)?;
        inputs.keep()?;
        for row in &self.earlier_sessions {
            sessions::put(connection, row)?;
        }
        Ok(())
    }
}
