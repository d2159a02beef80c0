//! The devices that are let in, as they are known in memory.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use sayso_protocol::{Device, DeviceKind};
use sayso_store::{DeviceId, DeviceRow, UnixMillis, Write};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::credential::{Fresh, Hash};
use super::scopes::Scopes;

/// A browser that was away for longer has to be paired again.
pub const BROWSER_LASTS: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How often it is written down that a device was there.
const SEEN_EVERY: Duration = Duration::from_secs(5 * 60);
/// How many devices there may be.
pub(super) const MAXIMUM: usize = 500;

/// How a device shows itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Browser,
    Token,
    /// A browser's extension. Its token is good from this origin, which its browser names, and no other.
    Extension {
        origin: String,
    },
}

impl Kind {
    fn read(row: &DeviceRow) -> Option<Self> {
        match (row.kind.as_str(), &row.origin) {
            ("browser", None) => Some(Self::Browser),
            ("token", None) => Some(Self::Token),
            ("extension", Some(origin)) => Some(Self::Extension {
                origin: origin.clone(),
            }),
            _ => None,
        }
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Browser => "browser",
            Self::Token => "token",
            Self::Extension { .. } => "extension",
        }
    }

    fn wire(&self) -> DeviceKind {
        match self {
            Self::Browser => DeviceKind::Browser,
            Self::Token => DeviceKind::Token,
            Self::Extension { .. } => DeviceKind::Extension,
        }
    }

    fn origin(&self) -> Option<String> {
        match self {
            Self::Browser | Self::Token => None,
            Self::Extension { origin } => Some(origin.clone()),
        }
    }

    /// Whether it stays known as long as it comes back.
    fn comes_back(&self) -> bool {
        match self {
            Self::Browser | Self::Extension { .. } => true,
            Self::Token => false,
        }
    }
}

#[derive(Debug)]
pub(super) struct Known {
    pub(super) id: Uuid,
    kind: Kind,
    pub(super) name: String,
    pub(super) scopes: Scopes,
    hash: Hash,
    created_at: Timestamp,
    last_seen_at: Timestamp,
    noted_at: Timestamp,
    pub(super) expires_at: Option<Timestamp>,
    connections: u32,
    /// Ends when the device's rights have changed or are gone.
    changed: CancellationToken,
}

impl Known {
    pub(super) fn new(
        kind: Kind,
        name: String,
        scopes: Scopes,
        secret: &Fresh,
        expires_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Self {
        Self {
            id: Uuid::now_v7(),
            kind,
            name,
            scopes,
            hash: secret.hash(),
            created_at: now,
            last_seen_at: now,
            noted_at: now,
            expires_at,
            connections: 0,
            changed: CancellationToken::new(),
        }
    }

    /// A row that cannot be read lets nobody in.
    fn read(row: &DeviceRow) -> Option<Self> {
        let kind = Kind::read(row)?;
        let time = |at: UnixMillis| Timestamp::from_millisecond(at.0).ok();
        let last_seen_at = time(row.last_seen_at)?;
        let expires_at = match row.expires_at {
            Some(at) => Some(time(at)?),
            None => None,
        };
        Some(Self {
            id: row.id.0,
            kind,
            name: row.name.clone(),
            scopes: Scopes::parse(&row.scopes),
            hash: Hash::read(&row.secret_hash)?,
            created_at: time(row.created_at)?,
            last_seen_at,
            noted_at: last_seen_at,
            expires_at,
            connections: 0,
            changed: CancellationToken::new(),
        })
    }

    pub(super) fn row(&self) -> DeviceRow {
        let millis = |at: Timestamp| UnixMillis(at.as_millisecond());
        DeviceRow {
            id: DeviceId(self.id),
            kind: self.kind.word().to_owned(),
            name: self.name.clone(),
            secret_hash: self.hash.bytes().to_vec(),
            scopes: self.scopes.words(),
            created_at: millis(self.created_at),
            last_seen_at: millis(self.last_seen_at),
            expires_at: self.expires_at.map(millis),
            origin: self.kind.origin(),
        }
    }

    pub(super) fn wire(&self) -> Device {
        Device {
            device_id: self.id,
            kind: self.kind.wire(),
            origin: self.kind.origin(),
            name: self.name.clone(),
            scopes: self.scopes.list(),
            created_at: self.created_at,
            last_seen_at: self.last_seen_at,
            expires_at: self.expires_at,
            connections: self.connections,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Devices {
    known: BTreeMap<Uuid, Known>,
}

impl Devices {
    pub(super) fn load(rows: &[DeviceRow]) -> Self {
        let known = rows.iter().filter_map(|row| {
            let known = Known::read(row);
            if known.is_none() {
                tracing::warn!(device = %row.id, "a device cannot be read and stays out");
            }
            known
        });
        Self {
            known: known.map(|known| (known.id, known)).collect(),
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.known.len() >= MAXIMUM
    }

    pub(super) fn add(&mut self, known: Known) {
        self.known.insert(known.id, known);
    }

    /// The device, unless it has been away for too long.
    pub(super) fn get(&self, id: Uuid, now: Timestamp) -> Option<&Known> {
        let known = self.known.get(&id)?;
        let over = known.expires_at.is_some_and(|at| at <= now);
        (!over).then_some(known)
    }

    /// The device that this secret belongs to.
    pub(super) fn with_secret(
        &self,
        id: Uuid,
        kind: &Kind,
        secret: &str,
        now: Timestamp,
    ) -> Option<&Known> {
        let known = self.get(id, now)?;
        (known.kind == *kind && known.hash.is_of(secret)).then_some(known)
    }

    /// Notes that the device is there; now and then there is something to write.
    pub(super) fn seen(&mut self, id: Uuid, now: Timestamp) -> Option<Write> {
        let known = self.known.get_mut(&id)?;
        known.last_seen_at = known.last_seen_at.max(now);
        if known.kind.comes_back() {
            known.expires_at = now.checked_add(BROWSER_LASTS).ok();
        }
        let age = now.duration_since(known.noted_at);
        if age.unsigned_abs() < SEEN_EVERY {
            return None;
        }
        known.noted_at = now;
        let millis = |at: Timestamp| UnixMillis(at.as_millisecond());
        Some(Write::DeviceSeen {
            id: DeviceId(id),
            at: millis(known.last_seen_at),
            expires_at: known.expires_at.map(millis),
        })
    }

    pub(super) fn connected(&mut self, id: Uuid) -> Option<CancellationToken> {
        let known = self.known.get_mut(&id)?;
        known.connections += 1;
        Some(known.changed.clone())
    }

    pub(super) fn disconnected(&mut self, id: Uuid) {
        if let Some(known) = self.known.get_mut(&id) {
            known.connections = known.connections.saturating_sub(1);
        }
    }

    pub(super) fn remove(&mut self, id: Uuid) -> Option<Known> {
        let known = self.known.remove(&id)?;
        known.changed.cancel();
        Some(known)
    }

    /// Another name, other scopes. Open sockets learn of other scopes by connecting again.
    pub(super) fn change(&mut self, id: Uuid, name: Option<String>, scopes: Option<Scopes>) {
        let Some(known) = self.known.get_mut(&id) else {
            return;
        };
        if let Some(name) = name {
            known.name = name;
        }
        if let Some(scopes) = scopes
            && scopes != known.scopes
        {
            known.scopes = scopes;
            std::mem::take(&mut known.changed).cancel();
        }
    }

    pub(super) fn list(&self, now: Timestamp) -> Vec<Device> {
        let ids = self.known.keys();
        ids.filter_map(|id| self.get(*id, now))
            .map(Known::wire)
            .collect()
    }

    /// Those whose time is over; nothing of them needs to be kept.
    pub(super) fn take_expired(&mut self, now: Timestamp) -> Vec<Known> {
        let over = |known: &Known| known.expires_at.is_some_and(|at| at <= now);
        let ids: Vec<Uuid> = self
            .known
            .values()
            .filter(|known| over(known))
            .map(|known| known.id)
            .collect();
        ids.into_iter().filter_map(|id| self.remove(id)).collect()
    }
}

#[cfg(test)]
mod tests {
    use sayso_protocol::Scope;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn with(kind: Kind, expires: Option<i64>) -> (Devices, Uuid, Fresh) {
        let secret = Fresh::make().unwrap();
        let scopes = Scopes::of(&[Scope::Answer]);
        let known = Known::new(
            kind,
            "x".to_owned(),
            scopes,
            &secret,
            expires.map(at),
            at(0),
        );
        let (mut devices, id) = (Devices::default(), known.id);
        devices.add(known);
        (devices, id, secret)
    }

    #[test]
    fn a_device_is_known_until_its_time_is_over() {
        let (mut devices, id, secret) = with(Kind::Token, Some(10));
        let known = |devices: &Devices, second| {
            let found = devices.with_secret(id, &Kind::Token, secret.expose(), at(second));
            found.is_some()
        };
        assert!(known(&devices, 9));
        assert!(!known(&devices, 10));
        devices.seen(id, at(9));
        assert!(!known(&devices, 10), "a token's end does not move");
        assert_eq!(devices.list(at(10)), []);
        assert_eq!(devices.take_expired(at(10)).len(), 1);
        assert!(!known(&devices, 9), "gone for good");
    }

    #[test]
    fn a_browser_stays_known_while_it_comes_back() {
        let (mut devices, id, _) = with(Kind::Browser, Some(10));
        let write = devices.seen(id, at(400));
        assert!(matches!(write, Some(Write::DeviceSeen { .. })));
        assert_eq!(devices.seen(id, at(401)), None, "not written every time");
        assert!(devices.get(id, at(1000)).is_some());
    }

    #[test]
    fn what_is_one_kind_of_credential_is_no_other() {
        let extension = |origin: &str| Kind::Extension {
            origin: format!("chrome-extension://{origin}"),
        };
        let kinds = [Kind::Browser, Kind::Token, extension("a"), extension("b")];
        for own in &kinds {
            let (devices, id, secret) = with(own.clone(), None);
            for shown in &kinds {
                let found = devices.with_secret(id, shown, secret.expose(), at(1));
                assert_eq!(found.is_some(), own == shown, "{own:?} {shown:?}");
            }
        }
    }

    #[test]
    fn an_extension_without_an_origin_stays_out() {
        let (devices, id, _) = with(Kind::Token, None);
        let row = devices.get(id, at(1)).unwrap().row();
        for (kind, origin) in [
            ("extension", None),
            ("token", Some("chrome-extension://a")),
            ("browser", Some("chrome-extension://a")),
            ("phone", None),
        ] {
            let row = DeviceRow {
                kind: kind.to_owned(),
                origin: origin.map(str::to_owned),
                ..row.clone()
            };
            assert_eq!(Devices::load(&[row]).list(at(1)), [], "{kind} {origin:?}");
        }
    }

    #[test]
    fn sockets_hear_of_other_scopes_and_of_the_end() {
        let (mut devices, id, _) = with(Kind::Token, None);
        let first = devices.connected(id).unwrap();
        devices.change(id, Some("renamed".to_owned()), None);
        assert!(!first.is_cancelled(), "a name changes nothing");
        devices.change(id, None, Some(Scopes::all()));
        assert!(first.is_cancelled());
        let second = devices.connected(id).unwrap();
        assert!(!second.is_cancelled());
        devices.remove(id);
        assert!(second.is_cancelled());
        assert!(devices.connected(id).is_none());
    }

    #[test]
    fn a_row_is_read_as_it_was_written() {
        let (devices, id, secret) = with(Kind::Browser, Some(10));
        let row = devices.get(id, at(1)).unwrap().row();
        let again = Devices::load(&[row]);
        let found = again.with_secret(id, &Kind::Browser, secret.expose(), at(1));
        assert_eq!(
            found.map(Known::wire),
            devices.get(id, at(1)).map(Known::wire)
        );
    }
}
