//! Letting devices in, changing them and showing them the door. Each is on
//! record before it holds; only the end of a device holds at once.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use sayso_protocol::{
    ChangeDevice, Claim, ConfirmPairing, Device, MadeToken, NewToken, Pairing, Scope,
};
use sayso_store::{AuditActor, AuditKind, AuditRecord, DeviceId, UnixMillis, Write};
use serde_json::{Value, json};
use uuid::Uuid;

use super::attempts::Guess;
use super::credential::{self, Fresh};
use super::devices::{BROWSER_LASTS, Kind, Known};
use super::pairings::{Confirmation, LINK_LASTS, PRINTED_LINK_LASTS, PairingError, Shown};
use super::password::PasswordError;
use super::scopes::{Identity, Pass, Scopes};
use super::{Access, wall_time};
use crate::hub::NotWritten;

const LONGEST_NAME: usize = 80;
const LONGEST_TOKEN_LIFE: u32 = 3650;

/// Why nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    #[error("There is no such device.")]
    UnknownDevice,
    #[error(transparent)]
    Pairing(#[from] PairingError),
    #[error("The link was used already, or its time is over. `sayso pair` prints a new one.")]
    Over,
    #[error("This link is not known. `sayso pair` prints a new one.")]
    UnknownLink,
    #[error("`name` must have 1 to {LONGEST_NAME} characters.")]
    Name,
    #[error("`expires_in_days` must be from 1 to {LONGEST_TOKEN_LIFE}.")]
    Expiry,
    #[error("`scopes` must not hold what this device may not do itself: {}.", .0.as_str())]
    Beyond(Scope),
    #[error("There are too many devices. Revoke some first.")]
    TooMany,
    #[error("Too many wrong tries. Wait and try again.")]
    Wait(Duration),
    #[error("That is not the password.")]
    WrongPassword,
    #[error("No password is set.")]
    NoPassword,
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error(transparent)]
    NotWritten(#[from] NotWritten),
    #[error("The system gives no random numbers.")]
    Random(#[from] getrandom::Error),
    #[error("Something went wrong; see the log.")]
    Fault,
}

/// Somebody who shows the secret of a link, as the server sees it.
#[derive(Clone, Copy, Debug)]
pub struct Newcomer<'a> {
    pub label: &'a str,
    pub address: IpAddr,
    /// Where an extension comes from; a browser that shows one of our pages has none.
    pub origin: Option<&'a str>,
}

/// How far somebody with a link has come.
#[derive(Debug)]
pub enum Entered {
    /// What its cookie holds from now on, or the token of an extension.
    In(String),
    Waiting {
        code: String,
        expires_at: Timestamp,
        /// To be shown with the next try, so that no other device takes its place.
        ticket: Option<Fresh>,
    },
    Refused,
}

impl Access {
    /// A link for the terminal of whoever runs the server.
    pub fn printed_link(&self) -> Result<Fresh, AccessError> {
        let (secret, now) = (Fresh::make()?, Instant::now());
        self.state().pairings.add(
            &secret,
            Scopes::all(),
            Confirmation::NotNeeded,
            now + PRINTED_LINK_LASTS,
            now,
        )?;
        Ok(secret)
    }

    /// A link for another device, which somebody confirms here.
    pub fn make_link(
        &self,
        pass: &Pass,
        scopes: &[Scope],
    ) -> Result<(Fresh, Pairing), AccessError> {
        let scopes = within(pass, scopes)?;
        let (secret, now) = (Fresh::make()?, Instant::now());
        let mut state = self.state();
        let until = now + LINK_LASTS;
        let id = state
            .pairings
            .add(&secret, scopes, Confirmation::Needed, until, now)?;
        drop(state);
        self.tell();
        let pairing = Pairing {
            pairing_id: id,
            scopes: scopes.list(),
            expires_at: wall_time(until, now),
            claim: None,
        };
        Ok((secret, pairing))
    }

    /// Somebody shows the secret of a link.
    pub async fn enter(
        &self,
        secret: &str,
        ticket: Option<&str>,
        newcomer: Newcomer<'_>,
    ) -> Result<Entered, AccessError> {
        let from = newcomer.address;
        let label = match newcomer.origin {
            None => newcomer.label.to_owned(),
            Some(_) => format!("Extension in {}", newcomer.label),
        };
        let (fresh, code, now) = (Fresh::make()?, six_digits()?, Instant::now());
        let claim = || Claim {
            name: label.clone(),
            address: from.to_string(),
            code,
        };
        let shown = self
            .state()
            .pairings
            .show(secret, ticket, fresh, claim, now);
        // Whoever has a link is let in however many were wrong before.
        if matches!(shown, Shown::Unknown) {
            self.count_wrong(from, Guess::Secret)?;
            return Err(AccessError::UnknownLink);
        }
        self.tell();
        match shown {
            Shown::In { name, scopes } => {
                let name = name.unwrap_or(label);
                let kind = match newcomer.origin.map(str::to_owned) {
                    None => Kind::Browser,
                    Some(origin) => Kind::Extension { origin },
                };
                let by = Pass {
                    label: name.clone(),
                    ..Pass::sayso()
                };
                Ok(Entered::In(self.let_in(&by, kind, name, scopes).await?))
            }
            Shown::Waiting {
                code,
                expires,
                ticket,
            } => Ok(Entered::Waiting {
                code,
                expires_at: wall_time(expires, now),
                ticket,
            }),
            Shown::Refused => Ok(Entered::Refused),
            Shown::Over => Err(AccessError::Over),
            Shown::Unknown => Err(AccessError::UnknownLink),
        }
    }

    /// A browser whose human has shown the server's own token.
    pub async fn let_owner_in(&self, label: &str) -> Result<String, AccessError> {
        let by = Pass {
            label: label.to_owned(),
            ..Pass::sayso()
        };
        self.let_in(&by, Kind::Browser, label.to_owned(), Scopes::all())
            .await
    }

    async fn let_in(
        &self,
        by: &Pass,
        kind: Kind,
        name: String,
        scopes: Scopes,
    ) -> Result<String, AccessError> {
        let expires = Timestamp::now().checked_add(BROWSER_LASTS).ok();
        let (_, shown) = self.add(by, kind, name, scopes, expires).await?;
        Ok(shown)
    }

    pub async fn make_token(
        &self,
        pass: &Pass,
        wanted: NewToken,
    ) -> Result<MadeToken, AccessError> {
        let scopes = within(pass, &wanted.scopes)?;
        let name = checked_name(&wanted.name)?;
        let expires_at = match wanted.expires_in_days {
            Some(days) if (1..=LONGEST_TOKEN_LIFE).contains(&days) => {
                let life = Duration::from_secs(u64::from(days) * 24 * 60 * 60);
                Timestamp::now().checked_add(life).ok()
            }
            Some(_) => return Err(AccessError::Expiry),
            None => None,
        };
        let kind = Kind::Token;
        let (device, token) = self.add(pass, kind, name, scopes, expires_at).await?;
        Ok(MadeToken { device, token })
    }

    async fn add(
        &self,
        by: &Pass,
        kind: Kind,
        name: String,
        scopes: Scopes,
        expires_at: Option<Timestamp>,
    ) -> Result<(Device, String), AccessError> {
        let (secret, now) = (Fresh::make()?, Timestamp::now());
        let mut writes = Vec::new();
        {
            let mut state = self.state();
            let expired = state.devices.take_expired(now).into_iter();
            writes.extend(expired.map(|old| Write::RemoveDevice(DeviceId(old.id))));
            if state.devices.is_full() {
                return Err(AccessError::TooMany);
            }
        }
        let word = match kind {
            Kind::Browser | Kind::Extension { .. } => "device let in",
            Kind::Token => "token made",
        };
        let known = Known::new(kind, name, scopes, &secret, expires_at, now);
        let (device, shown) = (known.wire(), credential::shown(known.id, &secret));
        writes.push(Write::PutDevice(known.row()));
        writes.push(entry(by, word, &device.name, &json!(device)));
        self.inner.hub.write(writes).await?;
        self.state().devices.add(known);
        self.tell();
        Ok((device, shown))
    }

    pub fn confirm(
        &self,
        pass: &Pass,
        id: Uuid,
        wanted: &ConfirmPairing,
    ) -> Result<(), AccessError> {
        let scopes = within(pass, &wanted.scopes)?;
        let name = checked_name(&wanted.name)?;
        let now = Instant::now();
        self.state()
            .pairings
            .confirm(id, &wanted.code, name, scopes, now)?;
        self.tell();
        Ok(())
    }

    pub fn refuse(&self, id: Uuid) -> Result<(), AccessError> {
        self.state().pairings.refuse(id, Instant::now())?;
        self.tell();
        Ok(())
    }

    pub async fn change(
        &self,
        pass: &Pass,
        id: Uuid,
        wanted: ChangeDevice,
    ) -> Result<Device, AccessError> {
        let name = wanted.name.as_deref().map(checked_name).transpose()?;
        let scopes = wanted.scopes.as_deref();
        let scopes = scopes.map(|scopes| within(pass, scopes)).transpose()?;
        let row = {
            let state = self.state();
            let known = state.devices.get(id, Timestamp::now());
            let mut row = known.ok_or(AccessError::UnknownDevice)?.row();
            if let Some(name) = &name {
                row.name.clone_from(name);
            }
            if let Some(scopes) = scopes {
                row.scopes = scopes.words();
            }
            row
        };
        let body = json!({"device_id": id, "scopes": row.scopes});
        let entry = entry(pass, "device changed", &row.name, &body);
        let writes = vec![Write::PutDevice(row), entry];
        self.inner.hub.write(writes).await?;
        let mut state = self.state();
        state.devices.change(id, name, scopes);
        let known = state.devices.get(id, Timestamp::now());
        let device = known.map(Known::wire).ok_or(AccessError::UnknownDevice)?;
        drop(state);
        self.tell();
        Ok(device)
    }

    /// Shows a device the door: at once, and for good when it is written.
    pub async fn revoke(&self, pass: &Pass, id: Uuid) -> Result<(), AccessError> {
        let known = {
            let mut state = self.state();
            state.proofs.forget(Identity::Device(id));
            state.devices.remove(id)
        };
        let known = known.ok_or(AccessError::UnknownDevice)?;
        self.tell();
        let body = json!({"device_id": id});
        let entry = entry(pass, "device revoked", &known.name, &body);
        let writes = vec![Write::RemoveDevice(DeviceId(id)), entry];
        Ok(self.inner.hub.write(writes).await?)
    }
}

/// Nobody gives away more than they have.
fn within(pass: &Pass, scopes: &[Scope]) -> Result<Scopes, AccessError> {
    match scopes.iter().find(|scope| !pass.scopes.has(**scope)) {
        Some(beyond) => Err(AccessError::Beyond(*beyond)),
        None => Ok(Scopes::of(scopes)),
    }
}

fn checked_name(name: &str) -> Result<String, AccessError> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > LONGEST_NAME {
        return Err(AccessError::Name);
    }
    Ok(name.to_owned())
}

fn six_digits() -> Result<String, getrandom::Error> {
    let number = getrandom::u32()? % 1_000_000;
    Ok(format!("{number:06}"))
}

/// What the history tells.
pub(crate) fn entry(by: &Pass, outcome: &str, subject: &str, body: &Value) -> Write {
    Write::AppendAudit(AuditRecord {
        at: UnixMillis(Timestamp::now().as_millisecond()),
        kind: AuditKind::Access,
        session_id: None,
        request_id: None,
        project: None,
        tool_name: None,
        outcome: outcome.to_owned(),
        actor_kind: AuditActor::Human,
        actor_label: by.label.clone(),
        text: subject.to_owned(),
        body: body.to_string(),
    })
}
