//! The server's own token: whoever shows it is the owner.

use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq;

/// A token shorter than this could be guessed.
const SHORTEST: usize = 16;

/// The server's token. Not printed by `Debug`, compared in constant time.
#[derive(Clone)]
pub struct Secret(String);

#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    #[error("The token is too short: it must have at least {SHORTEST} characters.")]
    TooShort,
    #[error("The token may hold letters, digits, `-`, `_` and `.` only.")]
    Unprintable,
    #[error("The token in {} cannot be read or written: {source}.", path.display())]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("The system gives no random numbers: {0}.")]
    Random(getrandom::Error),
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

impl Secret {
    pub fn new(token: &str) -> Result<Self, SecretError> {
        if token.len() < SHORTEST {
            return Err(SecretError::TooShort);
        }
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if !token.bytes().all(fits) {
            return Err(SecretError::Unprintable);
        }
        Ok(Self(token.to_owned()))
    }

    /// Where the one of a data folder is kept.
    pub fn file(folder: &Path) -> PathBuf {
        folder.join("token")
    }

    /// Reads the token kept in the data folder, or makes one on the first start.
    pub fn kept_in(folder: &Path) -> Result<Self, SecretError> {
        let path = Self::file(folder);
        let failed = |source| SecretError::File {
            path: path.clone(),
            source,
        };
        match std::fs::read_to_string(&path) {
            Ok(token) => return Self::new(token.trim()),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(SecretError::Random)?;
        let token = URL_SAFE_NO_PAD.encode(bytes);
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(failed)?;
        file.write_all(token.as_bytes()).map_err(failed)?;
        Self::new(&token)
    }

    pub fn expose(&self) -> &str {
        &self.0
    }

    pub(crate) fn is(&self, token: &str) -> bool {
        self.0.as_bytes().ct_eq(token.as_bytes()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kept_token_is_made_once_and_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let made = Secret::kept_in(folder.path()).unwrap();
        let read = Secret::kept_in(folder.path()).unwrap();
        assert!(made.is(read.expose()));
        let mode = std::fs::metadata(folder.path().join("token"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn the_token_is_not_printed() {
        let secret = Secret::new("0123456789abcdef").unwrap();
        assert!(!format!("{secret:?}").contains("0123"));
    }

    #[test]
    fn weak_and_odd_tokens_are_refused() {
        assert!(matches!(Secret::new("short"), Err(SecretError::TooShort)));
        assert!(matches!(
            Secret::new("0123456789abcdef\n"),
            Err(SecretError::Unprintable)
        ));
    }
}
