use uuid::Uuid;

/// Of each record.
pub(crate) const RECORD_BYTES: usize = 17;

const WRITTEN: u8 = 1;
const ACKNOWLEDGED: u8 = 2;
const PASSED: u8 = 3;

/// What a borrower notes in `told`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Record {
    /// The line with this id is in the way, or has passed it.
    Written(Uuid),
    /// All lines up to this one are stored.
    Acknowledged(u64),
    /// So are those up to this one, and `said` has nothing of them any more: the line after it begins there.
    Passed { seq: u64, offset: u64 },
}

impl Record {
    pub(crate) fn bytes(self) -> [u8; RECORD_BYTES] {
        let (kind, content) = match self {
            Self::Written(id) => (WRITTEN, *id.as_bytes()),
            Self::Acknowledged(seq) => (ACKNOWLEDGED, pair(seq, 0)),
            Self::Passed { seq, offset } => (PASSED, pair(seq, offset)),
        };
        let mut bytes = [kind; RECORD_BYTES];
        for (place, byte) in bytes.iter_mut().skip(1).zip(content) {
            *place = byte;
        }
        bytes
    }

    /// All that are whole: whoever was killed may have left half of one, which counts for nothing.
    pub(crate) fn read_all(bytes: &[u8]) -> impl Iterator<Item = Self> {
        let (records, _) = bytes.as_chunks::<RECORD_BYTES>();
        records.iter().filter_map(Self::read)
    }

    fn read(bytes: &[u8; RECORD_BYTES]) -> Option<Self> {
        let (kind, content) = bytes.split_first()?;
        let (first, second) = content.split_first_chunk()?;
        let seq = u64::from_le_bytes(*first);
        match *kind {
            WRITTEN => Uuid::from_slice(content).ok().map(Self::Written),
            ACKNOWLEDGED => Some(Self::Acknowledged(seq)),
            PASSED => {
                let offset = u64::from_le_bytes(second.try_into().ok()?);
                Some(Self::Passed { seq, offset })
            }
            _ => None,
        }
    }
}

fn pair(first: u64, second: u64) -> [u8; 16] {
    (u128::from(second) << 64 | u128::from(first)).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn records_are_read_as_they_were_made_and_half_a_one_is_none() {
        let records = [
            Record::Written(Uuid::from_u128(u128::MAX - 9)),
            Record::Acknowledged(7),
            Record::Passed {
                seq: u64::MAX,
                offset: 1 << 40,
            },
        ];
        let bytes: Vec<u8> = records.iter().flat_map(|record| record.bytes()).collect();
        let read = |bytes: &[u8]| Record::read_all(bytes).collect::<Vec<_>>();
        assert_eq!(read(&bytes), records);
        assert_eq!(read(&bytes[..2 * RECORD_BYTES + 16]), records[..2]);
    }
}
