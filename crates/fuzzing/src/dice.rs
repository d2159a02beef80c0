//! Chance that can be repeated.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Small, fast, and the same for the same seed.
#[derive(Debug)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn roll(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 up to and without `end`; 0 when there is nothing to choose from.
    pub fn below(&mut self, end: usize) -> usize {
        let rolled = usize::try_from(self.roll() >> 33).unwrap_or(0);
        rolled.checked_rem(end).unwrap_or(0)
    }

    pub fn byte(&mut self) -> u8 {
        self.roll().to_le_bytes()[7]
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }
}

/// Another one in each run, small enough to be typed.
pub(crate) fn any_seed() -> u64 {
    RandomState::new().build_hasher().finish() >> 24
}
