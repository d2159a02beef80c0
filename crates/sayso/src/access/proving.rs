//! The second proof before something risky: a password, good for a while.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use sayso_store::Write;

use super::attempts::Guess;
use super::managing::{AccessError, entry};
use super::scopes::{Identity, Pass, Proof};
use super::{Access, State, password, wall_time};

/// How long it need not be asked for again.
const LASTS: Duration = Duration::from_secs(5 * 60);

/// Who has given the password lately.
#[derive(Debug, Default)]
pub(super) struct Proofs {
    until: HashMap<Identity, Instant>,
}

impl Proofs {
    pub(super) fn until(&self, identity: Identity, now: Instant) -> Option<Timestamp> {
        let until = *self.until.get(&identity)?;
        (until > now).then(|| wall_time(until, now))
    }

    fn give(&mut self, identity: Identity, now: Instant) {
        self.until.retain(|_, until| *until > now);
        self.until.insert(identity, now + LASTS);
    }

    pub(super) fn forget(&mut self, identity: Identity) {
        self.until.remove(&identity);
    }
}

impl State {
    pub(super) fn proof_of(&self, identity: Identity) -> Proof {
        let given = self.proofs.until(identity, Instant::now()).is_some();
        if self.password.is_none() || given {
            Proof::Given
        } else {
            Proof::Missing
        }
    }
}

impl Access {
    /// Takes the password. Wrong ones have to wait, longer each time.
    pub async fn prove(
        &self,
        pass: &Pass,
        password: String,
        from: IpAddr,
    ) -> Result<Timestamp, AccessError> {
        self.check_password(pass, Some(password), from).await?;
        let (mut state, now) = (self.state(), Instant::now());
        state.proofs.give(pass.identity, now);
        Ok(wall_time(now + LASTS, now))
    }

    /// Sets the password, changes it, or removes it.
    pub async fn set_password(
        &self,
        pass: &Pass,
        current: Option<String>,
        new: Option<String>,
        from: IpAddr,
    ) -> Result<(), AccessError> {
        if self.state().password.is_some() {
            self.check_password(pass, current, from).await?;
        }
        let hash = match new {
            Some(new) => Some(blocking(move || password::hash(&new)).await??),
            None => None,
        };
        let word = match hash {
            Some(_) => "password set",
            None => "password removed",
        };
        let writes = vec![
            Write::SetPassword(hash.clone()),
            entry(pass, word, "", &serde_json::json!({})),
        ];
        self.inner.hub.write(writes).await?;
        let mut state = self.state();
        state.password = hash;
        // Whoever knew the old one shows that they know the new one.
        state.proofs = Proofs::default();
        Ok(())
    }

    async fn check_password(
        &self,
        pass: &Pass,
        password: Option<String>,
        from: IpAddr,
    ) -> Result<(), AccessError> {
        let Some(hash) = self.state().password.clone() else {
            return Err(AccessError::NoPassword);
        };
        // Counted before it is looked at: many tries at once are many tries.
        let guess = Guess::Password(pass.identity);
        self.count_wrong(from, guess)?;
        let Some(password) = password else {
            return Err(AccessError::WrongPassword);
        };
        if !blocking(move || password::is(&password, &hash)).await? {
            return Err(AccessError::WrongPassword);
        }
        self.state().attempts.right(from, guess);
        Ok(())
    }
}

/// Hashing takes its time, and nobody else should wait for it.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, AccessError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| AccessError::Fault)
}
