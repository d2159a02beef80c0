//! What is found when pipes come back.

#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "nothing is lent there")
)]

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

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn left(acknowledged: u64, said: &str, begins_after: u64) -> (u64, String) {
        let mut left = Left {
            ids: Vec::new(),
            unfinished: None,
            acknowledged,
            said: said.as_bytes().to_vec(),
        };
        left.pass_acknowledged(begins_after);
        let said = String::from_utf8(left.said).unwrap();
        (left.acknowledged, said)
    }

    #[test]
    fn what_is_acknowledged_is_passed_and_no_more_than_there_is() {
        assert_eq!(left(4, "5\n6\nhal", 4), (4, "5\n6\nhal".to_owned()));
        assert_eq!(left(5, "5\n6\nhal", 4), (5, "6\nhal".to_owned()));
        assert_eq!(left(6, "5\n6\nhal", 4), (6, "hal".to_owned()));
        assert_eq!(left(9, "5\n6\nhal", 4), (6, "hal".to_owned()));
        assert_eq!(left(2, "5\n6\nhal", 4), (4, "5\n6\nhal".to_owned()));
    }

    /// What is in the way when the client is killed at each step of a line.
    #[test]
    fn the_rest_of_a_line_is_told_from_one_that_was_not_noted() {
        let [before, id] = [7, 9].map(Uuid::from_u128);
        let header = |id: Uuid| [b"\n", id.as_bytes().as_slice()].concat();
        let with_header = [header(id).as_slice(), b"line\n"].concat();
        let rest = |text: &str| Some((id, text.as_bytes().to_vec()));

        assert_eq!(unfinished(with_header.clone(), None), None);
        assert_eq!(unfinished(with_header.clone(), Some(before)), None);
        assert_eq!(unfinished(with_header, Some(id)), rest("line\n"));
        assert_eq!(unfinished(b"line\n".to_vec(), Some(id)), rest("line\n"));
        assert_eq!(unfinished(b"\n".to_vec(), Some(id)), rest("\n"));
        assert_eq!(unfinished(Vec::new(), Some(id)), None);
        // The shortest line that there is.
        let empty = [header(id).as_slice(), b"\n"].concat();
        assert_eq!(unfinished(empty.clone(), Some(id)), rest("\n"));
        assert_eq!(unfinished(empty, Some(before)), None);
    }
}
