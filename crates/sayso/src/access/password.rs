//! The password that is asked for before something risky.

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};

/// Shorter ones are guessed.
const SHORTEST: usize = 8;
/// Longer ones are a mistake, and cost time.
const LONGEST: usize = 1024;

#[derive(Debug, thiserror::Error)]
pub enum PasswordError {
    #[error("`new` must have {SHORTEST} to {LONGEST} characters.")]
    Length,
    #[error("The password could not be hashed: {0}.")]
    Hash(String),
}

/// Slow on purpose: tens of milliseconds.
pub(super) fn hash(password: &str) -> Result<String, PasswordError> {
    if !(SHORTEST..=LONGEST).contains(&password.chars().count()) {
        return Err(PasswordError::Length);
    }
    let failed = |error: argon2::password_hash::Error| PasswordError::Hash(error.to_string());
    let hash = Argon2::default()
        .hash_password(password.as_bytes())
        .map_err(failed)?;
    Ok(hash.to_string())
}

pub(super) fn is(password: &str, hash: &str) -> bool {
    password.len() <= 4 * LONGEST
        && PasswordHash::new(hash).is_ok_and(|hash| {
            Argon2::default()
                .verify_password(password.as_bytes(), &hash)
                .is_ok()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_known_by_its_hash() {
        let kept = hash("correct horse").unwrap();
        assert!(!kept.contains("correct"));
        assert!(is("correct horse", &kept));
        for wrong in ["", "correct horsE", "correct horse ", &"x".repeat(10_000)] {
            assert!(!is(wrong, &kept), "{}", wrong.len());
        }
        assert!(!is("correct horse", "not a hash"));
        assert_ne!(kept, hash("correct horse").unwrap(), "salted");
    }

    #[test]
    fn short_and_endless_passwords_are_refused() {
        for password in ["", "1234567", &"x".repeat(1025)] {
            assert!(matches!(hash(password), Err(PasswordError::Length)));
        }
    }
}
