//! Secrets of devices: made here, kept as hashes, compared in constant time.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use uuid::Uuid;

/// 256 random bits as text. Not printed by `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct Fresh(String);

impl Fresh {
    pub fn make() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Self(URL_SAFE_NO_PAD.encode(bytes)))
    }

    pub fn expose(&self) -> &str {
        &self.0
    }

    pub(super) fn hash(&self) -> Hash {
        Hash::of(&self.0)
    }
}

impl std::fmt::Debug for Fresh {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Fresh(…)")
    }
}

/// What is kept of a secret. A secret has 256 random bits, so a plain hash is
/// as hard to turn back as a slow one.
#[derive(Clone, Debug)]
pub(super) struct Hash([u8; 32]);

impl Hash {
    pub(super) fn of(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn is_of(&self, secret: &str) -> bool {
        self.0.ct_eq(&Self::of(secret).0).into()
    }
}

/// The text that a device shows: which one it is, and its secret.
pub(super) fn shown(id: Uuid, secret: &Fresh) -> String {
    format!("{}.{}", id.simple(), secret.expose())
}

pub(super) fn read_shown(text: &str) -> Option<(Uuid, &str)> {
    let (id, secret) = text.split_once('.')?;
    Some((Uuid::try_parse(id).ok()?, secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_known_by_its_hash_alone() {
        let secret = Fresh::make().unwrap();
        let kept = Hash::read(secret.hash().bytes()).unwrap();
        assert!(kept.is_of(secret.expose()));
        let (id, other) = (Uuid::from_u128(7), Fresh::make().unwrap());
        let expose = secret.expose();
        for wrong in [
            "",
            other.expose(),
            &expose[1..],
            &format!("{expose}x"),
            "\0",
            "null",
        ] {
            assert!(!kept.is_of(wrong), "{wrong:?}");
        }
        let text = shown(id, &secret);
        assert_eq!(read_shown(&text), Some((id, expose)));
        assert!(!format!("{secret:?}").contains(expose));
    }

    #[test]
    fn what_is_no_credential_is_nobody() {
        for text in ["", ".", "x.y", "abc", "[]", &".".repeat(100_000)] {
            assert_eq!(read_shown(text), None, "{}", text.len());
        }
    }
}
