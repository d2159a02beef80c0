//! What a dialect hears of Sayso.

use sayso_protocol::{Delta, Outcome};
use uuid::Uuid;

use super::super::native::{Line, Pending, Refused};

/// What Sayso said.
#[derive(Debug)]
pub(crate) enum News {
    /// Everything that is going on, at the beginning and whenever something was missed.
    Snapshot,
    Session(Uuid),
    SessionGone,
    Opened(Uuid),
    /// The clock of a request changed.
    Updated,
    /// It is not on the desk any more.
    Closed(Box<Pending>, Box<Outcome>),
    Line(Uuid, Line),
    Delta(Uuid, Delta),
    /// A session was started, or goes on again; the note is that of the start.
    Started {
        session: Uuid,
        note: String,
    },
    Done(About),
    Refused(About, Refused),
}

/// What an answer of Sayso's is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum About {
    Start {
        note: String,
    },
    Message(Uuid),
    Decision(Uuid),
    Mode {
        session: Uuid,
        mode: String,
    },
    Stop(Uuid),
    Watching(Uuid),
    /// Not about anything that was asked, such as the pace of the front end.
    Nothing,
}
