//! Reads. They never wait for the writer and see what was committed before they began.

use futures_util::{Stream, TryStreamExt};
use sqlx::sqlite::SqliteRow;
use sqlx::{FromRow, QueryBuilder, Row};
use uuid::Uuid;

use crate::columns::{decision_columns, entry_columns, request_columns, requests_of_sessions};
use crate::error::ReadError;
use crate::open::Store;
use crate::requests::key;
use crate::rows::{
    DecisionCursor, DecisionRow, EntryRow, RequestId, RequestRow, RequestStatus, SessionId,
    SessionRow, UnixMillis,
};

/// How much of a transcript is read at once.
const ENTRIES_BYTES: usize = 1024 * 1024;

/// Which requests to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestFilter {
    All,
    Status(RequestStatus),
    Session(SessionId),
}

/// Where a page of the history begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageStart {
    Newest,
    /// Behind the last row of the page before, see [`DecisionRow::cursor`].
    Before(DecisionCursor),
}

/// A request and, once it is over, how it ended.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestWithDecision {
    pub request: RequestRow,
    pub decision: Option<DecisionRow>,
}

impl FromRow<'_, SqliteRow> for RequestWithDecision {
    fn from_row(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        let decided: Option<RequestId> = row.try_get("request_id")?;
        Ok(Self {
            request: RequestRow::from_row(row)?,
            decision: decided.map(|_| DecisionRow::from_row(row)).transpose()?,
        })
    }
}

/// A line of the history.
#[derive(Debug, Clone, PartialEq, FromRow)]
pub struct DecidedRequest {
    #[sqlx(flatten)]
    pub decision: DecisionRow,
    #[sqlx(flatten)]
    pub request: RequestSummary,
}

/// What the history says about a request: what was asked, where and by whom.
#[derive(Debug, Clone, PartialEq, FromRow)]
pub struct RequestSummary {
    pub session_id: SessionId,
    pub session_title: String,
    pub kind: String,
    pub tool_name: String,
    pub agent_label: Option<String>,
    /// JSON, verbatim.
    pub input: String,
    pub input_digest: String,
    pub created_at: UnixMillis,
}

impl Store {
    /// Newest first, archived ones too.
    pub async fn sessions(&self) -> Result<Vec<SessionRow>, ReadError> {
        Ok(
            sqlx::query_as("SELECT * FROM sessions ORDER BY created_at DESC, id DESC")
                .fetch_all(self.reader().await)
                .await?,
        )
    }

    pub async fn session(&self, id: SessionId) -> Result<Option<SessionRow>, ReadError> {
        Ok(sqlx::query_as("SELECT * FROM sessions WHERE id = $1")
            .bind(id)
            .fetch_optional(self.reader().await)
            .await?)
    }

    /// The transcript behind number `after_seq`, in order; 0 is before the first. Ends at `limit` entries or
    /// with the entry that reaches [`ENTRIES_BYTES`], because a single entry may hold a whole file.
    pub async fn entries(
        &self,
        session_id: SessionId,
        after_seq: i64,
        limit: u32,
    ) -> Result<Vec<EntryRow>, ReadError> {
        let rows = sqlx::query_as::<_, EntryRow>(concat!(
            "SELECT ",
            entry_columns!(),
            " WHERE sessions.id = $1 AND seq > $2 ORDER BY seq LIMIT $3"
        ))
        .bind(session_id)
        .bind(after_seq)
        .bind(i64::from(limit))
        .fetch(self.reader().await);
        Ok(read_some(rows).await?)
    }

    /// The transcript before number `before_seq`, its last `limit` entries in order; fewer where they
    /// would reach [`ENTRIES_BYTES`], but never none while there are some.
    pub async fn entries_before(
        &self,
        session_id: SessionId,
        before_seq: i64,
        limit: u32,
    ) -> Result<Vec<EntryRow>, ReadError> {
        let rows = sqlx::query_as::<_, EntryRow>(concat!(
            "SELECT ",
            entry_columns!(),
            " WHERE sessions.id = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3"
        ))
        .bind(session_id)
        .bind(before_seq)
        .bind(i64::from(limit))
        .fetch(self.reader().await);
        let mut entries = read_some(rows).await?;
        entries.reverse();
        Ok(entries)
    }

    /// The number of the last entry, 0 if there is none.
    pub async fn last_seq(&self, session_id: SessionId) -> Result<i64, ReadError> {
        Ok(sqlx::query_scalar(
            "SELECT COALESCE(MAX(seq), 0) FROM entries \
             WHERE session = (SELECT number FROM sessions WHERE id = $1)",
        )
        .bind(session_id)
        .fetch_one(self.reader().await)
        .await?)
    }

    /// All that wait, in the order in which they were asked.
    pub async fn open_requests(&self) -> Result<Vec<RequestRow>, ReadError> {
        // In the words of the index that holds those that are not over.
        Ok(sqlx::query_as(concat!(
            "SELECT ",
            request_columns!(),
            " FROM ",
            requests_of_sessions!(),
            " WHERE (status = 'open' OR delivery = 'pending') AND status = 'open' ORDER BY ordinal"
        ))
        .fetch_all(self.reader().await)
        .await?)
    }

    /// Newest first.
    pub async fn requests(
        &self,
        filter: RequestFilter,
        limit: u32,
    ) -> Result<Vec<RequestRow>, ReadError> {
        let select = concat!(
            "SELECT ",
            request_columns!(),
            " FROM ",
            requests_of_sessions!()
        );
        let mut query = QueryBuilder::new(select);
        match filter {
            RequestFilter::All => {}
            RequestFilter::Status(status) => {
                query.push(" WHERE status = ").push_bind(status);
            }
            RequestFilter::Session(session_id) => {
                query.push(" WHERE sessions.id = ").push_bind(session_id);
            }
        }
        query.push(" ORDER BY ordinal DESC LIMIT ");
        query.push_bind(i64::from(limit));
        let rows = query.build_query_as();
        Ok(rows.fetch_all(self.reader().await).await?)
    }

    /// The last request of this kind in the session that was asked before the given one.
    pub async fn request_before(
        &self,
        session_id: SessionId,
        kind: &str,
        id: RequestId,
    ) -> Result<Option<RequestRow>, ReadError> {
        Ok(sqlx::query_as(concat!(
            "SELECT ",
            request_columns!(),
            " FROM ",
            requests_of_sessions!(),
            " WHERE sessions.id = $1 AND kind = $2 \
             AND ordinal < (SELECT ordinal FROM requests WHERE id = $3) \
             ORDER BY ordinal DESC LIMIT 1"
        ))
        .bind(session_id)
        .bind(kind)
        .bind(key(&id))
        .fetch_optional(self.reader().await)
        .await?)
    }

    pub async fn request(&self, id: RequestId) -> Result<Option<RequestWithDecision>, ReadError> {
        Ok(sqlx::query_as(concat!(
            "SELECT ",
            request_columns!(),
            ", ",
            decision_columns!(),
            " FROM ",
            requests_of_sessions!(),
            " WHERE requests.id = $1"
        ))
        .bind(key(&id))
        .fetch_optional(self.reader().await)
        .await?)
    }

    /// All decisions, newest first. They are looked through from the first to the last; what is shown is the history.
    pub async fn decisions(
        &self,
        start: PageStart,
        limit: u32,
    ) -> Result<Vec<DecidedRequest>, ReadError> {
        let before = match start {
            PageStart::Newest => DecisionCursor {
                at: UnixMillis(i64::MAX),
                request_id: RequestId(Uuid::max()),
            },
            PageStart::Before(cursor) => cursor,
        };
        Ok(sqlx::query_as(concat!(
            "SELECT ",
            request_columns!(),
            ", ",
            decision_columns!(),
            ", sessions.title AS session_title FROM ",
            requests_of_sessions!(),
            " WHERE outcome IS NOT NULL AND (at, requests.id) < ($1, $2) \
             ORDER BY at DESC, requests.id DESC LIMIT $3"
        ))
        .bind(before.at)
        .bind(key(&before.request_id))
        .bind(i64::from(limit))
        .fetch_all(self.reader().await)
        .await?)
    }
}

/// Reads rows until they are large enough together.
async fn read_some(
    mut rows: impl Stream<Item = Result<EntryRow, sqlx::Error>> + Unpin,
) -> Result<Vec<EntryRow>, sqlx::Error> {
    let mut entries = Vec::new();
    let mut bytes = 0;
    while bytes < ENTRIES_BYTES
        && let Some(row) = rows.try_next().await?
    {
        bytes += row.body.len();
        entries.push(row);
    }
    Ok(entries)
}
