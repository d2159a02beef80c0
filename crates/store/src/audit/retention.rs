//! Forgetting on purpose. What is removed is signed for, so that it is not taken for a theft.

use super::chain::{Hash, Head};
use super::check::CheckError;
use super::checkpoint::{CheckpointKind, Start};
use super::finding::Finding;
use super::{append, signer::Signer};
use crate::error::{ReadError, WriteError};
use crate::open::{Durability, Store};
use crate::rows::UnixMillis;
use crate::write::execute;

/// How many entries one transaction removes. More would make decisions wait.
const ENTRIES_PER_COMMIT: i64 = 500;

/// What was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    pub removed: i64,
    /// The oldest entry that is left, 0 in an empty history.
    pub first: i64,
}

/// Why the history was left as it is.
#[derive(Debug, thiserror::Error)]
pub enum RetentionError {
    /// A cut would sign what was changed.
    #[error("The history was tampered with and is left as it is. {0}")]
    Tampered(Finding),
    #[error(transparent)]
    Check(#[from] CheckError),
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error("The cut could not be signed: {0}.")]
    Sign(std::io::Error),
    #[error("A history in memory has nothing to sign it with.")]
    InMemory,
}

impl From<sqlx::Error> for RetentionError {
    fn from(error: sqlx::Error) -> Self {
        Self::Check(CheckError::Read(ReadError::from(error)))
    }
}

impl Store {
    /// Removes the entries before the first that is not older than `before`; the newest always
    /// stays, because the next one follows it. The whole history is checked first. A crash in
    /// between leaves entries that the next call removes.
    pub async fn cut_audit(
        &self,
        before: UnixMillis,
        now: UnixMillis,
    ) -> Result<Cut, RetentionError> {
        let signer = self.signer().ok_or(RetentionError::InMemory)?;
        let verified = self.audit().await.verify().await?;
        let verified = verified.map_err(RetentionError::Tampered)?;
        let (Some((oldest, newest)), Some(hash)) = (verified.range, verified.head) else {
            return Ok(Cut {
                removed: 0,
                first: 0,
            });
        };
        let kept: Option<i64> =
            sqlx::query_scalar("SELECT seq FROM audit WHERE at >= $1 ORDER BY seq LIMIT 1")
                .bind(before)
                .fetch_optional(self.reader().await)
                .await?;
        // What an earlier cut has left goes without another signature.
        let signed = verified.begins.map_or(1, |begins| begins.first);
        let first = kept.unwrap_or(newest).min(newest).max(signed);
        if first > signed {
            let start = Start {
                first,
                before: self.hash_of(first - 1).await?,
            };
            let head = Head {
                seq: newest,
                hash,
                at: now,
            };
            self.begin_file(signer, CheckpointKind::Cut, head, start)
                .await?;
        }
        self.remove_before(oldest, first).await?;
        Ok(Cut {
            removed: first - oldest,
            first,
        })
    }

    /// Accepts the history as it is found: after a backup was put in its place, or when the key is
    /// gone. The check goes on from here and tells of it; the checkpoints until now are set aside.
    pub async fn adopt_audit(&self, now: UnixMillis) -> Result<i64, RetentionError> {
        let signer = self.signer().ok_or(RetentionError::InMemory)?;
        let oldest: Option<(i64, Vec<u8>)> =
            sqlx::query_as("SELECT seq, previous FROM audit ORDER BY seq LIMIT 1")
                .fetch_optional(self.reader().await)
                .await?;
        let head = self.current_head().await?;
        let start = match &oldest {
            Some((first, previous)) => Start {
                first: *first,
                before: Hash::from_slice(previous).unwrap_or(Hash([0; 32])),
            },
            None => Start {
                first: 1,
                before: head.hash,
            },
        };
        let head = Head { at: now, ..head };
        self.begin_file(signer, CheckpointKind::Adopted, head, start)
            .await?;
        Ok(head.seq)
    }

    async fn begin_file(
        &self,
        signer: &Signer,
        kind: CheckpointKind,
        head: Head,
        start: Start,
    ) -> Result<(), RetentionError> {
        let mut ordinal = signer
            .sign_start(kind, head, start)
            .await
            .map_err(RetentionError::Sign)?;
        // Others may have been appended and signed meanwhile.
        let newest = self.current_head().await?;
        if let Some(newer) = signer
            .sign_head(newest)
            .await
            .map_err(RetentionError::Sign)?
        {
            ordinal = newer;
        }
        append::remember_signed(self.write_connection(), ordinal).await?;
        Ok(())
    }

    async fn current_head(&self) -> Result<Head, RetentionError> {
        let history = self.tail().history;
        let mut connection = self.reader().await.acquire().await?;
        Ok(append::head_of(&mut connection, history).await?)
    }

    async fn hash_of(&self, seq: i64) -> Result<Hash, RetentionError> {
        let hash: Vec<u8> = sqlx::query_scalar("SELECT hash FROM audit WHERE seq = $1")
            .bind(seq)
            .fetch_one(self.reader().await)
            .await?;
        Ok(Hash::from_slice(&hash).unwrap_or(Hash([0; 32])))
    }

    async fn remove_before(&self, oldest: i64, first: i64) -> Result<(), WriteError> {
        let mut end = oldest;
        while end < first {
            end = (end + ENTRIES_PER_COMMIT).min(first);
            self.write_connection()
                .transact_aside(Durability::Process, move |connection| {
                    execute(connection, "DELETE FROM audit WHERE seq < ?1", [end])?;
                    Ok(())
                })
                .await?;
        }
        Ok(())
    }
}
