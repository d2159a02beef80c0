//! The key by which push services know this server (RFC 8292), kept in the data folder.

use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use p256::SecretKey;
use p256::ecdsa::signature::Signer;
use p256::ecdsa::{Signature, SigningKey};
use p256::elliptic_curve::sec1::ToSec1Point;
use serde_json::json;

use super::encrypt::random_key;

/// A signature may be used for a day at most; half of that leaves room for clocks that differ.
const LASTS: i64 = 12 * 60 * 60;

pub(super) const FILE: &str = "vapid.key";

#[derive(Debug, thiserror::Error)]
pub(super) enum VapidError {
    #[error("The key for push messages cannot be read or written: {0}.")]
    File(#[from] std::io::Error),
    #[error(
        "`{FILE}` in the data folder is no key for push messages. Put the right one back, or delete it: then all \
         browsers have to subscribe again."
    )]
    NoKey,
    #[error("The system gives no random numbers: {0}.")]
    Random(#[from] getrandom::Error),
}

#[derive(Clone)]
pub(super) struct Vapid {
    key: SigningKey,
    public: String,
    contact: String,
}

/// Without the key.
impl std::fmt::Debug for Vapid {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Vapid").field(&self.public).finish()
    }
}

impl Vapid {
    /// The kept key, or a new one on first use.
    pub(super) fn kept_in(folder: &Path, contact: &str) -> Result<Self, VapidError> {
        let path = folder.join(FILE);
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                let bytes = URL_SAFE_NO_PAD.decode(text.trim());
                let bytes = bytes.map_err(|_| VapidError::NoKey)?;
                let key = SecretKey::from_slice(&bytes).map_err(|_| VapidError::NoKey)?;
                return Ok(Self::new(&key, contact));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
        let key = random_key()?;
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        file.write_all(URL_SAFE_NO_PAD.encode(key.to_bytes()).as_bytes())?;
        file.sync_all()?;
        Ok(Self::new(&key, contact))
    }

    fn new(key: &SecretKey, contact: &str) -> Self {
        let public = key.public_key().to_sec1_point(false);
        Self {
            key: key.into(),
            public: URL_SAFE_NO_PAD.encode(public.as_bytes()),
            contact: contact.to_owned(),
        }
    }

    /// As browsers want it.
    pub(super) fn public_key(&self) -> &str {
        &self.public
    }

    /// The header that lets a message through to a push service. `audience` is its origin.
    pub(super) fn authorization(&self, audience: &str, now: Timestamp) -> String {
        let head = json!({"typ": "JWT", "alg": "ES256"});
        let claims = json!({
            "aud": audience,
            "exp": now.as_second().saturating_add(LASTS),
            "sub": self.contact,
        });
        let encode = |part: &serde_json::Value| URL_SAFE_NO_PAD.encode(part.to_string());
        let signed = format!("{}.{}", encode(&head), encode(&claims));
        let signature: Signature = self.key.sign(signed.as_bytes());
        let signature = URL_SAFE_NO_PAD.encode(signature.to_bytes());
        format!("vapid t={signed}.{signature}, k={}", self.public)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_key_is_made_once_for_its_owner_alone_and_a_broken_one_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Vapid::kept_in(folder.path(), "mailto:a@example.org");
        let first = open().unwrap();
        assert_eq!(open().unwrap().public_key(), first.public_key());
        let path = folder.path().join(FILE);
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let kept = std::fs::read_to_string(&path).unwrap();
        assert!(!format!("{first:?}").contains(&kept));
        for broken in ["", "abc", "!", &"A".repeat(43)] {
            std::fs::write(&path, broken).unwrap();
            assert!(matches!(open(), Err(VapidError::NoKey)), "{broken:?}");
        }
    }
}
