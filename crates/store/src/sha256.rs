//! SHA-256. Everything that an agent wants to do is hashed, and where a processor has no instructions for that, this
//! library takes three fifths of the time of others (`docs/decisions/0022-large-inputs-are-kept-once.md`).

use ring::digest::{Context, Digest, SHA256, digest};

pub(crate) const BYTES: usize = 32;

pub(crate) fn sha256(bytes: &[u8]) -> [u8; BYTES] {
    array(&digest(&SHA256, bytes))
}

/// What is hashed piece by piece.
pub(crate) struct Hasher(Context);

impl Hasher {
    pub(crate) fn new() -> Self {
        Self(Context::new(&SHA256))
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn finish(self) -> [u8; BYTES] {
        array(&self.0.finish())
    }
}

fn array(digest: &Digest) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    bytes.copy_from_slice(digest.as_ref());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the standard, FIPS 180-4.
    #[test]
    fn it_is_the_hash_that_the_standard_tells() {
        let expected = [
            0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40, 0xde, 0x5d, 0xae,
            0x22, 0x23, 0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61,
            0xf2, 0x00, 0x15, 0xad,
        ];
        assert_eq!(sha256(b"abc"), expected);
        let mut hasher = Hasher::new();
        hasher.update(b"a");
        hasher.update(b"bc");
        assert_eq!(hasher.finish(), expected);
    }
}
