//! The key that checkpoints are signed with, in a file of its own beside the database.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};

use super::chain::{Hash, HistoryId};
use super::hex;
use crate::lock::{beside, private};

/// The file's name in the data folder.
pub const KEY_FILE: &str = "audit.key";

/// What signs a history. Made once, for one history, and never part of a backup.
#[derive(Clone)]
pub struct AuditKey {
    history: HistoryId,
    signing: SigningKey,
}

/// What is needed to check a history, and cannot sign one.
#[derive(Clone, PartialEq, Eq)]
pub struct Trust {
    pub history: HistoryId,
    public: VerifyingKey,
}

/// Why there is no key to sign with.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("the key {} cannot be used ({source}); check that its folder is writable and has room", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error(
        "{} is not a key that Sayso made; put the right one back, or move it away to begin with a new one",
        path.display()
    )]
    Unreadable { path: PathBuf },
    #[error("there is no randomness for a key: {0}")]
    Random(getrandom::Error),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyFile {
    history: HistoryId,
    secret: String,
}

impl AuditKey {
    pub(crate) fn random() -> Result<Self, KeyError> {
        let (mut history, mut secret) = ([0; 16], [0; 32]);
        getrandom::fill(&mut history).map_err(KeyError::Random)?;
        getrandom::fill(&mut secret).map_err(KeyError::Random)?;
        Ok(Self::new(HistoryId(history), &secret))
    }

    pub(crate) fn new(history: HistoryId, secret: &[u8; 32]) -> Self {
        Self {
            history,
            signing: SigningKey::from_bytes(secret),
        }
    }

    /// The key of the data folder, if there is one.
    pub(crate) fn load(folder: &Path) -> Result<Option<Self>, KeyError> {
        let path = folder.join(KEY_FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(KeyError::Unreadable { path });
            }
            Err(source) => return Err(KeyError::Io { path, source }),
        };
        let parse = || {
            let file: KeyFile = serde_json::from_str(&text).ok()?;
            Some(Self::new(file.history, &hex::decode(&file.secret)?))
        };
        parse().map(Some).ok_or(KeyError::Unreadable { path })
    }

    /// The key of the data folder, made when there is none. The caller holds the folder's lock.
    pub(crate) fn kept_in(folder: &Path) -> Result<Self, KeyError> {
        let path = folder.join(KEY_FILE);
        if let Some(key) = Self::load(folder)? {
            make_private(&path).map_err(|source| KeyError::Io { path, source })?;
            return Ok(key);
        }
        let key = Self::random()?;
        let file = KeyFile {
            history: key.history,
            secret: hex::encode(key.signing.as_bytes()),
        };
        serde_json::to_vec(&file)
            .map_err(io::Error::from)
            .and_then(|text| write_whole(&path, &text))
            .map_err(|source| KeyError::Io { path, source })?;
        Ok(key)
    }

    pub(crate) fn trust(&self) -> Trust {
        Trust {
            history: self.history,
            public: self.signing.verifying_key(),
        }
    }

    pub(crate) fn history(&self) -> HistoryId {
        self.history
    }

    pub(crate) fn sign(&self, statement: &Hash) -> [u8; 64] {
        self.signing.sign(&statement.0).to_bytes()
    }
}

impl fmt::Debug for AuditKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AuditKey")
            .field("history", &self.history)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Trust {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Trust")
            .field("history", &self.history)
            .field("public", &self.fingerprint())
            .finish()
    }
}

impl Trust {
    /// The public key, to be noted where nobody who can write here can write.
    pub fn fingerprint(&self) -> String {
        hex::encode(self.public.as_bytes())
    }

    pub(crate) fn vouches_for(&self, statement: &Hash, signature: &[u8; 64]) -> bool {
        let signature = Signature::from_bytes(signature);
        self.public.verify_strict(&statement.0, &signature).is_ok()
    }
}

fn make_private(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Writes a private file that is there whole or not at all, also after a loss of power.
pub(crate) fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let temporary = beside(path, ".new");
    let mut file = private(OpenOptions::new().write(true).create(true))
        .truncate(true)
        .open(&temporary)?;
    file.write_all(content)?;
    file.sync_all()?;
    drop(file);
    fs::rename(&temporary, path)?;
    match path.parent() {
        Some(folder) => fs::File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}
