//! A map by text that is quick to say no.

use std::collections::HashMap;

/// Asked about every command of a text, nearly all of which are about something
/// else. Length and first byte tell that without hashing, so that a megabyte of
/// commands is looked up in milliseconds.
#[derive(Debug)]
pub(crate) struct Texts<V> {
    /// For each first byte, the lengths that occur with it as bits; the last
    /// bit stands for all longer ones.
    lengths: [u32; 256],
    values: HashMap<String, V>,
}

impl<V> Default for Texts<V> {
    fn default() -> Self {
        Self {
            lengths: [0; 256],
            values: HashMap::new(),
        }
    }
}

impl<V: Default> Texts<V> {
    /// The value for `text`, which is there from now on.
    pub(crate) fn entry(&mut self, text: String) -> &mut V {
        let (first, length) = shape(&text);
        self.lengths[first] |= length;
        self.values.entry(text).or_default()
    }
}

impl<V> Texts<V> {
    pub(crate) fn get(&self, text: &str) -> Option<&V> {
        let (first, length) = shape(text);
        if self.lengths[first] & length == 0 {
            return None;
        }
        self.values.get(text)
    }

    pub(crate) fn contains(&self, text: &str) -> bool {
        self.get(text).is_some()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.values.values()
    }
}

/// The first byte of `text`, and its length as one bit.
fn shape(text: &str) -> (usize, u32) {
    let first = text.bytes().next().unwrap_or_default();
    (usize::from(first), 1 << text.len().min(31))
}

#[cfg(test)]
mod tests {
    use super::Texts;

    #[test]
    fn texts_of_any_shape_are_found_and_no_others() {
        let long = "x".repeat(100);
        let there = [
            "",
            "a",
            "ab",
            "ac",
            "b",
            "é",
            &long,
            &long[..31],
            &long[..32],
        ];
        let mut texts: Texts<usize> = Texts::default();
        for (number, text) in there.into_iter().enumerate() {
            *texts.entry(text.to_owned()) = number;
        }
        for (number, text) in there.into_iter().enumerate() {
            assert_eq!(texts.get(text), Some(&number), "{text}");
        }
        for text in ["c", "ba", "aa", "abc", "è", &long[..30], &long[..33]] {
            assert!(!texts.contains(text), "{text}");
        }
        assert_eq!(texts.values().sum::<usize>(), 36);
        assert!(!texts.is_empty() && Texts::<()>::default().is_empty());
    }
}
