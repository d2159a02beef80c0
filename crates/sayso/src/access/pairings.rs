//! Links that let a device in once, for a short time.

use std::time::{Duration, Instant};

use sayso_protocol::Claim;
use uuid::Uuid;

use super::credential::{Fresh, Hash};
use super::scopes::Scopes;

/// How long a link for another device is good.
pub(super) const LINK_LASTS: Duration = Duration::from_secs(120);
/// How long the link in the terminal is good.
pub(super) const PRINTED_LINK_LASTS: Duration = Duration::from_secs(15 * 60);
/// How many links may be open at the same time.
const MAXIMUM_OPEN: usize = 16;

/// What has to happen when the link is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Confirmation {
    /// The link comes from the terminal of the one who runs the server.
    NotNeeded,
    /// On a device that is let in already.
    Needed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Unused,
    Claimed(Claim),
    Confirmed {
        name: String,
    },
    Refused,
    /// Somebody is in. Known until its time is over, to say so to whoever comes second.
    Used,
}

#[derive(Debug)]
pub(super) struct Pairing {
    pub(super) id: Uuid,
    pub(super) scopes: Scopes,
    pub(super) expires: Instant,
    secret: Hash,
    /// What the device that used the link got in return, so that no other takes its place.
    claimed_by: Option<Hash>,
    confirmation: Confirmation,
    state: State,
}

impl Pairing {
    pub(super) fn claim(&self) -> Option<&Claim> {
        match &self.state {
            State::Claimed(claim) => Some(claim),
            State::Unused | State::Confirmed { .. } | State::Refused | State::Used => None,
        }
    }
}

/// What becomes of somebody who shows the secret of a link.
#[derive(Debug)]
pub(super) enum Shown {
    /// Let it in.
    In {
        name: Option<String>,
        scopes: Scopes,
    },
    /// It has used the link, and somebody has to confirm it.
    Waiting {
        code: String,
        expires: Instant,
        /// For the device to show with the next try; only the first time.
        ticket: Option<Fresh>,
    },
    Refused,
    /// Used by another one, or too late.
    Over,
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PairingError {
    #[error("There are too many open links. Wait until they are over.")]
    TooMany,
    #[error("There is no such pairing; it may be over.")]
    Unknown,
    #[error("No device has used this link yet.")]
    Unused,
    #[error("`code` is not the code of the device that waits.")]
    OtherCode,
}

#[derive(Debug, Default)]
pub(super) struct Pairings {
    open: Vec<Pairing>,
}

impl Pairings {
    pub(super) fn add(
        &mut self,
        secret: &Fresh,
        scopes: Scopes,
        confirmation: Confirmation,
        expires: Instant,
        now: Instant,
    ) -> Result<Uuid, PairingError> {
        self.forget_old(now);
        let unused = self.open.iter().filter(|one| one.state != State::Used);
        if unused.count() >= MAXIMUM_OPEN {
            return Err(PairingError::TooMany);
        }
        let id = Uuid::new_v4();
        self.open.push(Pairing {
            id,
            scopes,
            expires,
            secret: secret.hash(),
            claimed_by: None,
            confirmation,
            state: State::Unused,
        });
        Ok(id)
    }

    /// Somebody shows the secret of a link. `claim` is who it is, should it be the first.
    pub(super) fn show(
        &mut self,
        secret: &str,
        ticket: Option<&str>,
        fresh: Fresh,
        claim: impl FnOnce() -> Claim,
        now: Instant,
    ) -> Shown {
        let place = self.open.iter().position(|one| one.secret.is_of(secret));
        let Some(place) = place else {
            return Shown::Unknown;
        };
        if self.open[place].expires <= now {
            self.open.remove(place);
            return Shown::Over;
        }
        let pairing = &mut self.open[place];
        if let Some(claimed_by) = &pairing.claimed_by
            && !ticket.is_some_and(|ticket| claimed_by.is_of(ticket))
        {
            return Shown::Over;
        }
        let scopes = pairing.scopes;
        match (&pairing.state, pairing.confirmation) {
            (State::Unused, Confirmation::NotNeeded) => {
                pairing.state = State::Used;
                Shown::In { name: None, scopes }
            }
            (State::Unused, Confirmation::Needed) => {
                let claim = claim();
                let code = claim.code.clone();
                pairing.state = State::Claimed(claim);
                pairing.claimed_by = Some(fresh.hash());
                Shown::Waiting {
                    code,
                    expires: pairing.expires,
                    ticket: Some(fresh),
                }
            }
            (State::Claimed(claim), _) => Shown::Waiting {
                code: claim.code.clone(),
                expires: pairing.expires,
                ticket: None,
            },
            (State::Confirmed { name }, _) => {
                let name = Some(name.clone());
                pairing.state = State::Used;
                Shown::In { name, scopes }
            }
            (State::Refused, _) => Shown::Refused,
            (State::Used, _) => Shown::Over,
        }
    }

    pub(super) fn confirm(
        &mut self,
        id: Uuid,
        code: &str,
        name: String,
        scopes: Scopes,
        now: Instant,
    ) -> Result<(), PairingError> {
        self.forget_old(now);
        let pairing = self.find(id)?;
        match &pairing.state {
            State::Unused => return Err(PairingError::Unused),
            State::Claimed(claim) if claim.code == code => {}
            State::Claimed(_) => return Err(PairingError::OtherCode),
            State::Confirmed { .. } | State::Refused | State::Used => {
                return Err(PairingError::Unknown);
            }
        }
        pairing.state = State::Confirmed { name };
        pairing.scopes = scopes;
        Ok(())
    }

    /// The device that waits is told; a link that nobody used is gone.
    pub(super) fn refuse(&mut self, id: Uuid, now: Instant) -> Result<(), PairingError> {
        self.forget_old(now);
        let pairing = self.find(id)?;
        match pairing.state {
            State::Unused => self.open.retain(|one| one.id != id),
            State::Used => return Err(PairingError::Unknown),
            State::Claimed(_) | State::Confirmed { .. } | State::Refused => {
                pairing.state = State::Refused;
            }
        }
        Ok(())
    }

    /// Those that somebody can still do something about.
    pub(super) fn waiting(&self, now: Instant) -> impl Iterator<Item = &Pairing> {
        self.open.iter().filter(move |one| {
            one.confirmation == Confirmation::Needed
                && one.expires > now
                && matches!(one.state, State::Unused | State::Claimed(_))
        })
    }

    fn find(&mut self, id: Uuid) -> Result<&mut Pairing, PairingError> {
        let found = self.open.iter_mut().find(|one| one.id == id);
        found.ok_or(PairingError::Unknown)
    }

    fn forget_old(&mut self, now: Instant) {
        self.open.retain(|one| one.expires > now);
    }
}

#[cfg(test)]
mod tests;
