use super::{Line, LineError, MAX_LINE_BYTES, MAX_NOISE_BYTES, Received, inspect};

/// Cuts bytes into lines without IO: push what arrived, then take lines until there is none.
#[derive(Debug)]
pub struct LineSplitter {
    buffer: Vec<u8>,
    /// Bytes before this one were given out already.
    start: usize,
    /// Bytes before this one hold no line end.
    searched: usize,
    limit: usize,
}

/// A buffer that grew for one huge line is given back afterwards.
const KEPT_CAPACITY: usize = 1024 * 1024;

impl Default for LineSplitter {
    fn default() -> Self {
        Self::with_limit(MAX_LINE_BYTES)
    }
}

impl LineSplitter {
    pub fn with_limit(limit: usize) -> Self {
        Self {
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            limit,
        }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.searched -= self.start;
            self.start = 0;
            if self.buffer.capacity() > KEPT_CAPACITY && self.buffer.len() < KEPT_CAPACITY {
                self.buffer.shrink_to(KEPT_CAPACITY);
            }
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole line; `None` when more bytes are needed. Blank lines are passed over.
    pub fn next_line(&mut self) -> Result<Option<Received>, LineError> {
        loop {
            let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
            let Some(offset) = memchr::memchr(b'\n', unsearched) else {
                self.searched = self.buffer.len();
                return self.within_limit(self.buffer.len()).map(|()| None);
            };
            let end = self.searched + offset;
            self.within_limit(end)?;
            let line = classify(self.buffer.get(self.start..end).unwrap_or_default())?;
            self.start = end + 1;
            self.searched = self.start;
            if line.is_some() {
                return Ok(line);
            }
        }
    }

    /// Called once at the end of the output: what is left has no line end.
    pub fn finish(&mut self) -> Result<Option<Received>, LineError> {
        let rest = self.buffer.get(self.start..).unwrap_or_default();
        if rest.trim_ascii_start().starts_with(b"{") {
            return Err(LineError::Truncated { bytes: rest.len() });
        }
        let noise = classify(rest)?;
        self.start = self.buffer.len();
        self.searched = self.start;
        Ok(noise)
    }

    fn within_limit(&self, end: usize) -> Result<(), LineError> {
        if end - self.start > self.limit {
            Err(LineError::TooLong { limit: self.limit })
        } else {
            Ok(())
        }
    }
}

/// The same as [`classify`] for a line that need not be kept: most are taken over as they are.
pub fn classify_owned(line: Vec<u8>) -> Result<Option<Received>, LineError> {
    if !line.starts_with(b"{") || !line.ends_with(b"}") {
        return classify(&line);
    }
    let text = String::from_utf8(line).map_err(|error| LineError::NotUtf8 {
        position: error.utf8_error().valid_up_to(),
    })?;
    let findings = inspect::inspect(text.as_bytes())?;
    Ok(Some(Received::Json(inspect::repair(text, &findings))))
}

/// A line that was framed by somebody else; `None` for a blank one.
pub fn classify(line: &[u8]) -> Result<Option<Received>, LineError> {
    let line = line.trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    if !line.starts_with(b"{") {
        let kept = line.get(..MAX_NOISE_BYTES).unwrap_or(line);
        let mut noise = String::from_utf8_lossy(kept).into_owned();
        // What is no text takes more room as the signs that stand for it.
        noise.truncate(noise.floor_char_boundary(MAX_NOISE_BYTES));
        return Ok(Some(Received::Noise(noise)));
    }
    let text = std::str::from_utf8(line).map_err(|error| LineError::NotUtf8 {
        position: error.valid_up_to(),
    })?;
    let findings = inspect::inspect(line)?;
    let line: Line = inspect::repair(text.to_owned(), &findings);
    Ok(Some(Received::Json(line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_given_away_is_read_like_one_that_is_kept() {
        let lines: [&[u8]; 12] = [
            b"",
            b"  ",
            b"{}",
            b" {} ",
            b"{",
            b"{}\r",
            b"{\"a\":\"\\ud800\"}",
            b"{\"a\":\"\xff\"}",
            b"\xff{}",
            b"debug: {}",
            b"[1]",
            &[b'{'; 200],
        ];
        for line in lines {
            let shown = |read: Result<Option<Received>, LineError>| format!("{read:?}");
            let owned = shown(classify_owned(line.to_vec()));
            assert_eq!(owned, shown(classify(line)), "{line:?}");
        }
    }
}
