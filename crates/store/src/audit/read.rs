//! Reading the history, in pages. Entries are read as they are stored and not checked: that is what
//! [`AuditReader::verify`] is for.

use futures_util::TryStreamExt;
use sqlx::{QueryBuilder, Sqlite};

use super::check::AuditReader;
use super::record::AuditRow;
use crate::error::ReadError;
use crate::inputs::whole;
use crate::open::Store;
use crate::rows::UnixMillis;

/// How much is read at once; one entry may hold a whole file.
const PAGE_BYTES: usize = 1024 * 1024;

/// Which entries to read: those that everything given here fits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    pub kind: Option<String>,
    pub session_id: Option<String>,
    pub request_id: Option<String>,
    /// This folder and those below it.
    pub project: Option<String>,
    pub tool_name: Option<String>,
    pub outcome: Option<String>,
    pub actor_kind: Option<String>,
    /// Not before.
    pub since: Option<UnixMillis>,
    /// Before.
    pub until: Option<UnixMillis>,
    /// Words that all occur in the entry's text or in the name of who did it, in any order; the size of ASCII letters is the same.
    pub search: Option<String>,
}

/// Where a page begins and which way it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditCursor {
    /// Newest first.
    Newest,
    /// Newest first, behind the last entry of the page before.
    Before(i64),
    /// Oldest first, behind this entry; 0 for the very first.
    After(i64),
}

impl AuditReader {
    /// At most `limit` entries, and fewer where they are large. Only an empty page is the end.
    pub async fn page(
        &self,
        filter: &AuditFilter,
        cursor: AuditCursor,
        limit: u32,
    ) -> Result<Vec<AuditRow>, ReadError> {
        let mut query = self.select();
        narrow(&mut query, filter);
        match cursor {
            AuditCursor::Newest => query.push(" ORDER BY seq DESC"),
            AuditCursor::Before(seq) => query
                .push(" AND seq < ")
                .push_bind(seq)
                .push(" ORDER BY seq DESC"),
            AuditCursor::After(seq) => query
                .push(" AND seq > ")
                .push_bind(seq)
                .push(" ORDER BY seq"),
        };
        query.push(" LIMIT ").push_bind(i64::from(limit));
        let mut rows = query.build_query_as::<AuditRow>().fetch(self.pool());
        let mut page = Vec::new();
        let mut bytes = 0;
        while bytes < PAGE_BYTES
            && let Some(row) = rows.try_next().await?
        {
            bytes += row.body.len() + row.text.len();
            page.push(row);
        }
        Ok(page)
    }

    /// Entries with their inputs, which schemas before 13 do not keep apart.
    fn select(&self) -> QueryBuilder<Sqlite> {
        QueryBuilder::new(match self.keeps_inputs() {
            true => concat!(
                "SELECT seq, at, kind, session_id, request_id, project, tool_name, outcome, \
                 actor_kind, actor_label, previous, hash, text, ",
                whole!("body"),
                " AS body FROM audit WHERE 1 = 1"
            ),
            false => "SELECT * FROM audit WHERE 1 = 1",
        })
    }

    pub async fn entry(&self, seq: i64) -> Result<Option<AuditRow>, ReadError> {
        let mut query = self.select();
        query.push(" AND seq = ").push_bind(seq);
        let row = query.build_query_as::<AuditRow>();
        Ok(row.fetch_optional(self.pool()).await?)
    }
}

impl Store {
    /// See [`AuditReader::page`].
    pub async fn audit_page(
        &self,
        filter: &AuditFilter,
        cursor: AuditCursor,
        limit: u32,
    ) -> Result<Vec<AuditRow>, ReadError> {
        self.audit().await.page(filter, cursor, limit).await
    }

    pub async fn audit_entry(&self, seq: i64) -> Result<Option<AuditRow>, ReadError> {
        self.audit().await.entry(seq).await
    }
}

fn narrow(query: &mut QueryBuilder<Sqlite>, filter: &AuditFilter) {
    for (column, wanted) in [
        (" AND kind = ", &filter.kind),
        (" AND session_id = ", &filter.session_id),
        (" AND request_id = ", &filter.request_id),
        (" AND tool_name = ", &filter.tool_name),
        (" AND outcome = ", &filter.outcome),
        (" AND actor_kind = ", &filter.actor_kind),
    ] {
        if let Some(wanted) = wanted {
            query.push(column).push_bind(wanted.clone());
        }
    }
    if let Some(project) = &filter.project {
        let project = project.trim_end_matches('/');
        query
            .push(" AND (project = ")
            .push_bind(project.to_owned())
            .push(" OR project LIKE ")
            .push_bind(format!("{}/%", escaped(project)))
            .push(r" ESCAPE '\')");
    }
    if let Some(since) = filter.since {
        query.push(" AND at >= ").push_bind(since);
    }
    if let Some(until) = filter.until {
        query.push(" AND at < ").push_bind(until);
    }
    for word in filter
        .search
        .iter()
        .flat_map(|words| words.split_whitespace())
    {
        query
            .push(" AND (text LIKE ")
            .push_bind(format!("%{}%", escaped(word)))
            .push(r" ESCAPE '\' OR actor_label LIKE ")
            .push_bind(format!("%{}%", escaped(word)))
            .push(r" ESCAPE '\')");
    }
}

/// What has a meaning in a pattern, without it.
fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for sign in text.chars() {
        if matches!(sign, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(sign);
    }
    pattern
}
