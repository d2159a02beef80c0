//! An agent's text as pieces, each sent once, whether it streamed or not.

use std::collections::HashMap;

use sayso_protocol::{Delta, DeltaKind};
use uuid::Uuid;

use super::native::Text;

type Block = (Uuid, String, u32);

/// How much of each text was sent already.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    sent: HashMap<Block, String>,
}

impl Stream {
    /// The text that is new, if any.
    pub(crate) fn delta(&mut self, session: Uuid, delta: &Delta) -> Option<String> {
        if delta.kind != DeltaKind::Text {
            return None;
        }
        let block = (session, delta.message_id.clone(), delta.index);
        let sent = self.sent.entry(block).or_default();
        let new = if delta.restart {
            delta.text.strip_prefix(sent.as_str())?
        } else {
            delta.text.as_str()
        };
        sent.push_str(new);
        Some(new.to_owned()).filter(|new| !new.is_empty())
    }

    /// The whole text has come: what of it was not sent yet.
    pub(crate) fn finish(&mut self, session: Uuid, text: &Text) -> Option<String> {
        let block = (session, text.message_id.clone(), text.index);
        let sent = self.sent.remove(&block).unwrap_or_default();
        let new = text.text.strip_prefix(sent.as_str())?;
        Some(new.to_owned()).filter(|new| !new.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    const SESSION: Uuid = Uuid::from_u128(1);

    fn delta(text: &str, restart: bool) -> Delta {
        Delta {
            message_id: "m".to_owned(),
            index: 0,
            kind: DeltaKind::Text,
            text: text.to_owned(),
            restart,
        }
    }

    fn whole(text: &str) -> Text {
        Text {
            message_id: "m".to_owned(),
            index: 0,
            text: text.to_owned(),
            parent_tool_use_id: None,
        }
    }

    #[test]
    fn every_piece_is_sent_once() {
        let mut stream = Stream::default();
        assert_eq!(
            stream.delta(SESSION, &delta("He", true)).as_deref(),
            Some("He")
        );
        assert_eq!(
            stream.delta(SESSION, &delta("llo", false)).as_deref(),
            Some("llo")
        );
        assert_eq!(stream.delta(SESSION, &delta("Hello", true)), None);
        assert_eq!(
            stream.finish(SESSION, &whole("Hello!")).as_deref(),
            Some("!")
        );
        assert_eq!(
            stream.finish(SESSION, &whole("Hello!")).as_deref(),
            Some("Hello!")
        );
    }
}
