//! One job as it stands in the log.
//!
//! A record is a head and the writes behind it. The head says how long they are, which number the record has and
//! whether it counts; a checksum covers the number and the writes, so that half a record and what an earlier turn of
//! the file left are told from a record.
//!
//! The writes are MessagePack. What a row says is told by its place; the versions before told it by its name. Both are
//! read alike, because MessagePack tells a list from a map. So fields of rows that stand in the log keep their order, and
//! a new one comes last and has a default.

use crate::write::Write;

/// Length, checksum, number, state; all little-endian.
pub(super) const HEAD: usize = 4 + 4 + 8 + 1;
/// Where in a record its state stands.
pub(super) const STATE: u64 = 16;
/// Not covered by the checksum: a record that did not get to the disk is taken back in place.
pub(super) const COUNTS: u8 = 1;
pub(super) const TAKEN_BACK: u8 = 2;

/// A record that was read.
#[derive(Debug, PartialEq)]
pub(crate) struct Record {
    pub(crate) seq: u64,
    /// `None` when it was taken back.
    pub(crate) writes: Option<Vec<Write>>,
}

/// Why what follows is no record of ours, or none that can be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoRecord {
    /// The end of the log, or a record that was never finished.
    End,
    /// The record is whole, but what it says is not known here.
    Unreadable { seq: u64, why: String },
}

/// Appends a record. An error leaves the buffer as it was.
pub(super) fn append(
    buffer: &mut Vec<u8>,
    seq: u64,
    writes: &[Write],
) -> Result<(), rmp_serde::encode::Error> {
    let start = buffer.len();
    buffer.resize(start + HEAD, 0);
    if let Err(error) = rmp_serde::encode::write(buffer, writes) {
        buffer.truncate(start);
        return Err(error);
    }
    let length = u32::try_from(buffer.len() - start - HEAD).unwrap_or(u32::MAX);
    let checksum = checksum(seq, &buffer[start + HEAD..]);
    let head = &mut buffer[start..start + HEAD];
    head[0..4].copy_from_slice(&length.to_le_bytes());
    head[4..8].copy_from_slice(&checksum.to_le_bytes());
    head[8..16].copy_from_slice(&seq.to_le_bytes());
    head[16] = COUNTS;
    Ok(())
}

/// Reads the record at the beginning of `bytes`, and says how long it is.
pub(super) fn read(bytes: &[u8]) -> Result<(Record, usize), NoRecord> {
    let head = bytes.get(..HEAD).ok_or(NoRecord::End)?;
    let number = |from: usize| -> u32 {
        head[from..from + 4]
            .iter()
            .rev()
            .fold(0, |number, byte| number << 8 | u32::from(*byte))
    };
    let seq = u64::from(number(12)) << 32 | u64::from(number(8));
    let end = HEAD.saturating_add(number(0) as usize);
    let payload = bytes.get(HEAD..end).ok_or(NoRecord::End)?;
    let counts = match head[16] {
        COUNTS => true,
        TAKEN_BACK => false,
        _ => return Err(NoRecord::End),
    };
    if checksum(seq, payload) != number(4) {
        return Err(NoRecord::End);
    }
    let writes = counts
        .then(|| rmp_serde::from_slice(payload))
        .transpose()
        .map_err(|error| NoRecord::Unreadable {
            seq,
            why: error.to_string(),
        })?;
    Ok((Record { seq, writes }, end))
}

fn checksum(seq: u64, payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&seq.to_le_bytes());
    hasher.update(payload);
    hasher.finalize()
}
