use uuid::Uuid;

use crate::loan::HEADER_BYTES;

/// What a client has done with the agent's pipes and the runner does not know yet.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Left {
    /// Of lines that the agent has.
    pub(super) ids: Vec<Uuid>,
    /// The last line for the agent, and what the agent has not got of it.
    pub(super) unfinished: Option<(Uuid, Vec<u8>)>,
    pub(super) acknowledged: u64,
    /// What the agent has said after that.
    pub(super) said: Vec<u8>,
}

impl Left {
    /// What was said begins after this line; what is acknowledged of it is of no more use.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "nothing is lent")
    )]
    pub(super) fn pass_acknowledged(&mut self, mut line: u64) {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', &self.said) {
            if line >= self.acknowledged {
                break;
            }
            line += 1;
            start = end + 1;
        }
        self.said.drain(..start);
        // More than there is cannot be acknowledged.
        self.acknowledged = line;
    }
}

/// What is in the way is of the last line that was noted, or the next one as a whole: that one was not noted, so it
/// does not count. A header tells: no line begins with a line end, and only the last byte of one is one.
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "nothing is lent")
)]
pub(super) fn unfinished(mut way: Vec<u8>, noted: Option<Uuid>) -> Option<(Uuid, Vec<u8>)> {
    let noted = noted.filter(|_| !way.is_empty())?;
    if let Some((header, line)) = way.split_at_checked(HEADER_BYTES)
        && !line.is_empty()
        && let Some((b'\n', id)) = header.split_first()
    {
        if id != noted.as_bytes() {
            return None;
        }
        way.drain(..HEADER_BYTES);
    }
    Some((noted, way))
}
