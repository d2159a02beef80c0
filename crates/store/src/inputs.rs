//! Large inputs, each kept once.
//!
//! What an agent wants to write stands in its request, in the transcript and in the history. Whoever writes one of these
//! asks here for its text without the input, and the readers put it back ([`whole`]). How it is found is no business of
//! the callers': an input is what a request holds, and what holds it in full elsewhere is about that request.

use std::borrow::Cow;

use memchr::memmem;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, ToSql, params};

use crate::audit::AuditRecord;
use crate::ids::ById;
use crate::requests::key;
use crate::rows::{EntryRow, RequestId, RequestRow, SessionId};
use crate::sha256::{self, sha256};
use crate::write::execute;

/// An input of fewer bytes is kept wherever it stands.
pub(crate) const LARGE: usize = 2048;
/// What a text says beside the input is shorter than this, or the text is kept as it is.
const LONGEST_REST: usize = 16 * 1024;
/// The beginning by which an input is looked for.
const BEGINNING: usize = 32;
/// So many places with this beginning are looked at. An agent chooses its inputs, and could make this slow.
const MOST_PLACES: usize = 8;
/// In a text without its input.
pub(crate) const DIGEST: usize = sha256::BYTES;
const PLACE_DIGITS: usize = 8;

/// A text as it is stored.
#[derive(Debug)]
pub(crate) enum Stored<'a> {
    Whole(&'a str),
    /// See `migrations/0013_inputs.sql`.
    WithoutInput(Vec<u8>),
}

impl ToSql for Stored<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Whole(text) => ValueRef::Text(text.as_bytes()),
            Self::WithoutInput(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// In SQL, the text that a column holds in either form. Null where its input is missing.
macro_rules! whole {
    ($column:literal) => {
        concat!(
            "iif(typeof(",
            $column,
            ") <> 'blob', ",
            $column,
            ", CAST(substr(",
            $column,
            ", 41, CAST(CAST(substr(",
            $column,
            ", 33, 8) AS TEXT) AS INTEGER)) || (SELECT inputs.text FROM input_uses JOIN inputs \
             ON inputs.number = input_uses.number WHERE input_uses.digest = substr(",
            $column,
            ", 1, 32)) || substr(",
            $column,
            ", 41 + CAST(CAST(substr(",
            $column,
            ", 33, 8) AS TEXT) AS INTEGER)) AS TEXT))"
        )
    };
}

pub(crate) use whole;

/// The large inputs of one group of jobs, and how often each is used.
#[derive(Debug)]
pub(crate) struct Inputs<'a> {
    connection: &'a Connection,
    known: Vec<Input<'a>>,
    by_request: ById<RequestId, Option<usize>>,
    by_session: ById<SessionId, Vec<usize>>,
}

#[derive(Debug)]
struct Input<'a> {
    digest: [u8; DIGEST],
    text: Cow<'a, str>,
    uses: i64,
}

impl<'a> Inputs<'a> {
    pub(crate) fn new(connection: &'a Connection) -> Self {
        Self {
            connection,
            known: Vec::new(),
            by_request: ById::default(),
            by_session: ById::default(),
        }
    }

    /// A request of this group, before anything that may hold its input is written.
    pub(crate) fn ask(&mut self, row: &'a RequestRow) {
        if row.input.len() < LARGE {
            return;
        }
        let of_session = self.by_session.entry(row.session_id).or_default();
        let same = of_session
            .iter()
            .find(|place| self.known[**place].text == *row.input);
        let place = match same {
            Some(place) => *place,
            None => {
                of_session.push(self.known.len());
                self.known.push(Input {
                    digest: sha256(row.input.as_bytes()),
                    text: Cow::Borrowed(&row.input),
                    uses: 0,
                });
                self.known.len() - 1
            }
        };
        self.by_request.insert(row.id, Some(place));
    }

    /// A request's input.
    pub(crate) fn input(&mut self, row: &'a RequestRow) -> Stored<'a> {
        match self.by_request.get(&row.id) {
            Some(Some(place)) => self.known[*place].used_in(&row.input),
            Some(None) | None => Stored::Whole(&row.input),
        }
    }

    /// What the agent said. It has its input together with the request, and does not count as a use.
    pub(crate) fn raw(&self, row: &'a RequestRow) -> Stored<'a> {
        match self.by_request.get(&row.id) {
            Some(Some(place)) => self.known[*place].cut(&row.raw),
            Some(None) | None => Stored::Whole(&row.raw),
        }
    }

    /// An entry of the transcript, which holds the input of one of the session's requests in this group or none.
    pub(crate) fn entry<'b>(&mut self, row: &'b EntryRow) -> Stored<'b> {
        if row.body.len() < LARGE {
            return Stored::Whole(&row.body);
        }
        let of_session = self.by_session.get(&row.session_id);
        for place in of_session.into_iter().flatten() {
            let stored = self.known[*place].used_in(&row.body);
            if matches!(stored, Stored::WithoutInput(_)) {
                return stored;
            }
        }
        Stored::Whole(&row.body)
    }

    /// An entry of the history, which may be about a request of an earlier group.
    pub(crate) fn record<'b>(&mut self, record: &'b AuditRecord) -> rusqlite::Result<Stored<'b>> {
        let whole = Stored::Whole(&record.body);
        let Some(request) = record.request_id.filter(|_| record.body.len() >= LARGE) else {
            return Ok(whole);
        };
        let place = match self.by_request.get(&request) {
            Some(place) => *place,
            None => self.look_up(request)?,
        };
        Ok(match place {
            Some(place) => self.known[place].used_in(&record.body),
            None => whole,
        })
    }

    fn look_up(&mut self, request: RequestId) -> rusqlite::Result<Option<usize>> {
        let stored = self
            .connection
            .prepare_cached(
                "SELECT input_uses.digest, inputs.text FROM requests \
                 JOIN input_uses ON input_uses.digest = substr(requests.input, 1, 32) \
                 JOIN inputs ON inputs.number = input_uses.number \
                 WHERE requests.id = ?1 AND typeof(requests.input) = 'blob'",
            )?
            .query_row([key(&request)], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let place = stored.map(|(digest, text)| {
            let text = Cow::Owned(text);
            let uses = 0;
            self.known.push(Input { digest, text, uses });
            self.known.len() - 1
        });
        self.by_request.insert(request, place);
        Ok(place)
    }

    /// Writes those that are new, and counts the uses of all. In the transaction of what uses them.
    pub(crate) fn keep(self) -> rusqlite::Result<()> {
        for input in self.known.iter().filter(|input| input.uses > 0) {
            let counted = execute(
                self.connection,
                "UPDATE input_uses SET uses = uses + ?1 WHERE digest = ?2",
                params![input.uses, &input.digest[..]],
            )?;
            if counted == 0 {
                execute(
                    self.connection,
                    "INSERT INTO inputs (text) VALUES (?1)",
                    [&input.text],
                )?;
                execute(
                    self.connection,
                    "INSERT INTO input_uses (digest, number, uses) VALUES (?1, ?2, ?3)",
                    params![
                        &input.digest[..],
                        self.connection.last_insert_rowid(),
                        input.uses
                    ],
                )?;
            }
        }
        Ok(())
    }
}

impl Input<'_> {
    fn used_in<'b>(&mut self, text: &'b str) -> Stored<'b> {
        let stored = self.cut(text);
        self.uses += i64::from(matches!(stored, Stored::WithoutInput(_)));
        stored
    }

    fn cut<'b>(&self, text: &'b str) -> Stored<'b> {
        let Some(start) = self.place_in(text.as_bytes()) else {
            return Stored::Whole(text);
        };
        let end = start + self.text.len();
        let rest = text.len() - self.text.len();
        let mut stored = Vec::with_capacity(DIGEST + PLACE_DIGITS + rest);
        stored.extend_from_slice(&self.digest);
        stored.extend_from_slice(format!("{start:0PLACE_DIGITS$}").as_bytes());
        stored.extend_from_slice(&text.as_bytes()[..start]);
        stored.extend_from_slice(&text.as_bytes()[end..]);
        Stored::WithoutInput(stored)
    }

    fn place_in(&self, text: &[u8]) -> Option<usize> {
        let input = self.text.as_bytes();
        let rest = text.len().checked_sub(input.len())?;
        if rest > LONGEST_REST {
            return None;
        }
        let beginning = &input[..BEGINNING];
        memmem::find_iter(&text[..rest + BEGINNING], beginning)
            .take(MOST_PLACES)
            .find(|start| text[*start..].starts_with(input))
    }
}
