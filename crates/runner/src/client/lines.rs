/// What is needed for more than this is given back: there is one of these for each agent.
const KEPT_CAPACITY: usize = 8 * 1024;

/// Bytes of an agent's output that become lines, one at a time.
#[derive(Debug)]
pub(super) struct Lines {
    buffer: Vec<u8>,
    /// Bytes before this one were handed out.
    start: usize,
    /// From the start on, how many bytes hold no line end.
    searched: usize,
    limit: usize,
}

impl Lines {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            limit,
        }
    }

    /// Where to read so many bytes to: append to it.
    pub(super) fn space(&mut self, bytes: usize) -> &mut Vec<u8> {
        self.buffer.drain(..self.start);
        self.start = 0;
        self.buffer.reserve(bytes);
        &mut self.buffer
    }

    /// How many bytes were not handed out.
    pub(super) fn rest(&self) -> usize {
        self.buffer.len() - self.start
    }

    fn find_end(&mut self) -> Option<usize> {
        let from = self.start + self.searched;
        let unsearched = self.buffer.get(from..).unwrap_or_default();
        match memchr::memchr(b'\n', unsearched) {
            Some(offset) => {
                self.searched += offset;
                Some(from + offset).filter(|_| self.searched <= self.limit)
            }
            None => {
                self.searched += unsearched.len();
                None
            }
        }
    }

    pub(super) fn has_line(&mut self) -> bool {
        self.find_end().is_some()
    }

    /// The next line is longer than any may be. What to do about it is not decided here.
    pub(super) fn is_too_long(&self) -> bool {
        self.searched > self.limit
    }

    /// Without its line end; `None` when more bytes are needed.
    pub(super) fn next_line(&mut self) -> Option<Vec<u8>> {
        let end = self.find_end()?;
        let line = self.buffer.get(self.start..end)?.to_vec();
        self.start = end + 1;
        self.searched = 0;
        if self.rest() == 0 && self.buffer.capacity() > KEPT_CAPACITY {
            self.buffer = Vec::new();
            self.start = 0;
        }
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    fn cut(parts: &[&[u8]], limit: usize) -> (Vec<Vec<u8>>, usize, bool) {
        let mut lines = Lines::new(limit);
        let mut cut = Vec::new();
        for part in parts {
            lines.space(part.len()).extend_from_slice(part);
            cut.extend(std::iter::from_fn(|| lines.next_line()));
        }
        (cut, lines.rest(), lines.is_too_long())
    }

    #[test]
    fn a_line_may_be_as_long_as_the_limit_and_no_longer() {
        let lines = |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect();
        assert_eq!(cut(&[b"abc\n"], 3), (lines(&["abc"]), 0, false));
        assert_eq!(cut(&[b"a\nabcd\n"], 3), (lines(&["a"]), 5, true));
        assert_eq!(cut(&[b"a\nab", b"c"], 3), (lines(&["a"]), 3, false));
        assert_eq!(cut(&[b"a\nab", b"cd"], 3), (lines(&["a"]), 4, true));
    }

    /// The lines of all parts together, and how much is behind the last of them.
    fn cut_as_one(parts: &[&[u8]]) -> (Vec<Vec<u8>>, usize, bool) {
        let whole = parts.concat();
        let mut lines: Vec<_> = whole
            .split(|byte| *byte == b'\n')
            .map(<[u8]>::to_vec)
            .collect();
        let rest = lines.pop().unwrap().len();
        (lines, rest, false)
    }

    #[test]
    fn a_long_line_is_handed_out_whole_with_whatever_it_came() {
        let long = [vec![b'a'; 2 * KEPT_CAPACITY], b"\n".to_vec()].concat();
        let (begun, ended) = long.split_at(KEPT_CAPACITY);
        for parts in [
            vec![&long[..], b"b\n"],
            vec![begun, ended, b"b\nc"],
            vec![&long[..], &long[..], begun],
            vec![b"b\n", begun, ended],
            vec![&[&b"b\n"[..], &long, &long].concat(), b"c\n"],
            vec![&[&long, &b"b"[..]].concat(), b"\n", &long[..]],
        ] {
            assert_eq!(cut(&parts, 1 << 20), cut_as_one(&parts));
        }
    }

    proptest! {
        #[test]
        fn lines_are_the_same_however_they_arrive(
            parts in prop::collection::vec(prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 1..40), 0..12),
        ) {
            let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
            prop_assert_eq!(cut(&parts, 1 << 20), cut_as_one(&parts));
        }
    }
}
