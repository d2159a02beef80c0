//! The envelope that everything has, on the socket and in the journal:
//!
//! ```text
//! length u32 | checksum u32 | kind u8 | body        (little endian; length and checksum cover kind and body)
//! ```
//!
//! A line in the journal is byte for byte the frame that a client gets. So the runner makes it once, and what it
//! sends later is read from a file and not made again.

use thiserror::Error;

/// Before the kind.
pub(crate) const PREFIX_BYTES: usize = 8;

/// What a frame may have beyond the line it carries.
pub(crate) const FRAME_OVERHEAD: usize = 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    pub(crate) kind: u8,
    pub(crate) body: &'a [u8],
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FrameError {
    #[error("a frame of {length} bytes is longer than the limit of {limit}")]
    TooLong { length: usize, limit: usize },
    #[error("a frame without content")]
    Empty,
    #[error("a frame whose checksum is wrong")]
    Checksum,
    #[error("a frame of kind {0}, which is not known")]
    UnknownKind(u8),
    #[error("a frame of kind {0} that cannot be read")]
    Malformed(u8),
}

/// Appends one frame whose body is written by `body`.
pub(crate) fn append(buffer: &mut Vec<u8>, kind: u8, body: impl FnOnce(&mut Vec<u8>)) {
    let start = buffer.len();
    buffer.extend_from_slice(&[0; PREFIX_BYTES]);
    buffer.push(kind);
    body(buffer);
    let content = buffer.get(start + PREFIX_BYTES..).unwrap_or_default();
    // Every caller is held to a limit far below; a longer frame would be refused by its checksum.
    let length = u32::try_from(content.len()).unwrap_or(u32::MAX);
    let checksum = crc32fast::hash(content);
    if let Some(prefix) = buffer.get_mut(start..start + PREFIX_BYTES) {
        let (left, right) = prefix.split_at_mut(4);
        left.copy_from_slice(&length.to_le_bytes());
        right.copy_from_slice(&checksum.to_le_bytes());
    }
}

/// How long the frame at the start of `bytes` is, prefix and all; `None` when that is not known yet.
pub(crate) fn length(bytes: &[u8]) -> Option<usize> {
    let content = u32::from_le_bytes(array(bytes, 0)?);
    usize::try_from(content)
        .ok()
        .map(|content| content + PREFIX_BYTES)
}

/// The frame at the start of `bytes` and its length; `None` when it is not whole yet.
pub(crate) fn parse(bytes: &[u8], limit: usize) -> Result<Option<(Frame<'_>, usize)>, FrameError> {
    let Some(length) = length(bytes) else {
        return Ok(None);
    };
    if length == PREFIX_BYTES {
        return Err(FrameError::Empty);
    }
    if length > limit {
        return Err(FrameError::TooLong { length, limit });
    }
    let (Some(checksum), Some(content)) = (array(bytes, 4), bytes.get(PREFIX_BYTES..length)) else {
        return Ok(None);
    };
    if crc32fast::hash(content) != u32::from_le_bytes(checksum) {
        return Err(FrameError::Checksum);
    }
    let (kind, body) = content.split_first().ok_or(FrameError::Empty)?;
    Ok(Some((Frame { kind: *kind, body }, length)))
}

pub(crate) fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIMIT: usize = 1 << 20;

    fn frame(kind: u8, body: &[u8]) -> Vec<u8> {
        let mut buffer = Vec::new();
        append(&mut buffer, kind, |buffer| buffer.extend_from_slice(body));
        buffer
    }

    proptest! {
        #[test]
        fn a_frame_is_read_as_it_was_made_and_never_before_it_is_whole(
            kind: u8, body: Vec<u8>, rest: Vec<u8>, cut: prop::sample::Index,
        ) {
            let mut bytes = frame(kind, &body);
            let whole = bytes.len();
            prop_assert_eq!(parse(&bytes[..cut.index(whole)], LIMIT), Ok(None));
            bytes.extend_from_slice(&rest);
            prop_assert_eq!(parse(&bytes, LIMIT), Ok(Some((Frame { kind, body: &body }, whole))));
        }

        #[test]
        fn a_changed_byte_is_noticed(kind: u8, body: Vec<u8>, at: prop::sample::Index, change in 1u8..) {
            let mut bytes = frame(kind, &body);
            let whole = bytes.len();
            bytes[at.index(whole)] ^= change;
            prop_assert!(!matches!(parse(&bytes, LIMIT), Ok(Some((_, length))) if length == whole));
        }
    }

    #[test]
    fn zeros_are_no_frame() {
        assert_eq!(parse(&[0; 64], LIMIT), Err(FrameError::Empty));
    }

    #[test]
    fn a_frame_beyond_the_limit_is_refused_by_its_length_alone() {
        let bytes = frame(1, &[7; 100]);
        let refused = FrameError::TooLong {
            length: 109,
            limit: 108,
        };
        assert_eq!(parse(&bytes[..4], 108), Err(refused));
    }
}
