//! The history, for people who look something up and for scripts that keep a copy.

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::IntoResponse;
use futures_util::stream;
use jiff::Timestamp;
use sayso_protocol::{ErrorCode, HistoryCheck, HistoryDetail, HistoryEntry, HistoryPage};
use sayso_store::audit::AuditReader;
use sayso_store::{AuditActor, AuditCursor, AuditFilter, AuditKind, AuditRow, UnixMillis};
use serde::Deserialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::Web;
use super::refused::Refused;
use super::rest::Answer;
use crate::audit::{ExportFormat, Secrets, exported_header, exported_row, record, subject};
use crate::mask::mask;

const PAGE: u32 = 50;
const LONGEST_PAGE: u32 = 500;
/// A line of a list; the whole text is in the detail.
const TEXT: usize = 500;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    session_id: Option<Uuid>,
    project: Option<String>,
    tool: Option<String>,
    outcome: Option<String>,
    by: Option<String>,
    kind: Option<String>,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    search: Option<String>,
    before: Option<i64>,
    limit: Option<u32>,
    format: Option<String>,
}

impl Wanted {
    fn filter(self) -> Result<AuditFilter, Refused> {
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        let word = |name: &str, text: Option<String>, known: Vec<&'static str>| {
            let text = given(text);
            match &text {
                Some(word) if !known.contains(&word.as_str()) => {
                    let text = format!("`{name}` must be one of {}.", known.join(", "));
                    Err(Refused::new(ErrorCode::InvalidMessage, text))
                }
                _ => Ok(text),
            }
        };
        let kinds = AuditKind::ALL.map(AuditKind::as_str).to_vec();
        let actors = AuditActor::ALL.map(AuditActor::as_str).to_vec();
        let millis = |at: Timestamp| UnixMillis(at.as_millisecond());
        Ok(AuditFilter {
            kind: word("kind", self.kind, kinds)?,
            actor_kind: word("by", self.by, actors)?,
            session_id: self.session_id.map(|id| id.to_string()),
            request_id: None,
            project: given(self.project),
            tool_name: given(self.tool),
            outcome: given(self.outcome),
            since: self.since.map(millis),
            until: self.until.map(millis),
            search: given(self.search),
        })
    }
}

pub(super) async fn page(State(web): State<Web>, Query(wanted): Query<Wanted>) -> Answer {
    let limit = wanted.limit.unwrap_or(PAGE).clamp(1, LONGEST_PAGE);
    let cursor = wanted
        .before
        .map_or(AuditCursor::Newest, AuditCursor::Before);
    let filter = wanted.filter()?;
    let rows = web.store.audit_page(&filter, cursor, limit).await?;
    let next = match rows.last().map(|row| row.seq) {
        Some(last) => {
            let behind = AuditCursor::Before(last);
            let more = web.store.audit_page(&filter, behind, 1).await?;
            (!more.is_empty()).then_some(last)
        }
        None => None,
    };
    let entries = rows.iter().map(entry).collect();
    Ok(Json(HistoryPage { entries, next }).into_response())
}

pub(super) async fn detail(State(web): State<Web>, Path(seq): Path<i64>) -> Answer {
    let Some(row) = web.store.audit_entry(seq).await? else {
        let text = "The history has no such entry.";
        return Err(Refused::new(ErrorCode::UnknownRequest, text));
    };
    let mut related = Vec::new();
    if row.request_id.is_some() {
        let filter = AuditFilter {
            request_id: row.request_id.clone(),
            ..AuditFilter::default()
        };
        let cursor = AuditCursor::After(0);
        related = web.store.audit_page(&filter, cursor, LONGEST_PAGE).await?;
    }
    related.retain(|other| other.seq != seq);
    let record = RawValue::from_string(record(&row.body).into_owned()).or_else(|_| {
        // Not what this version writes, but shown all the same.
        serde_json::value::to_raw_value(&row.body)
    });
    match record {
        Ok(record) => Ok(Json(HistoryDetail {
            entry: entry(&row),
            record: record.into(),
            related: related.iter().map(entry).collect(),
        })
        .into_response()),
        Err(error) => Err(Refused::new(ErrorCode::Internal, error.to_string())),
    }
}

/// Sends page after page as it is read, so that the longest history needs no memory.
pub(super) async fn export(State(web): State<Web>, Query(wanted): Query<Wanted>) -> Answer {
    let format = match wanted.format.as_deref() {
        None | Some("jsonl") => ExportFormat::Jsonl,
        Some("csv") => ExportFormat::Csv,
        Some(_) => {
            return Err(Refused::new(
                ErrorCode::InvalidMessage,
                "`format` must be jsonl or csv.",
            ));
        }
    };
    let filter = wanted.filter()?;
    let start = (web.store.audit().await, filter, Some(0));
    let pages = stream::unfold(start, move |(reader, filter, after)| async move {
        let after = after?;
        let (bytes, next) = match export_page(&reader, &filter, format, after).await {
            Ok(Some((bytes, last))) => (Ok(bytes), Some(last)),
            Ok(None) => return None,
            Err(error) => (Err(error), None),
        };
        Some((bytes, (reader, filter, next)))
    });
    let (kind, name) = match format {
        ExportFormat::Jsonl => ("application/jsonl", "sayso-history.jsonl"),
        ExportFormat::Csv => ("text/csv; charset=utf-8", "sayso-history.csv"),
    };
    let attachment = format!("attachment; filename=\"{name}\"");
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_DISPOSITION, attachment),
    ];
    Ok((headers, Body::from_stream(pages)).into_response())
}

async fn export_page(
    reader: &AuditReader,
    filter: &AuditFilter,
    format: ExportFormat,
    after: i64,
) -> Result<Option<(Bytes, i64)>, std::io::Error> {
    let page = reader.page(filter, AuditCursor::After(after), LONGEST_PAGE);
    let rows = page.await.map_err(std::io::Error::other)?;
    let mut bytes = Vec::new();
    if after == 0 {
        exported_header(format, &mut bytes)?;
    }
    for row in &rows {
        exported_row(row, format, Secrets::Shown, &mut bytes).map_err(std::io::Error::other)?;
    }
    let last = rows.last().map(|row| row.seq);
    match last {
        None if bytes.is_empty() => Ok(None),
        None => Ok(Some((bytes.into(), i64::MAX))),
        Some(last) => Ok(Some((bytes.into(), last))),
    }
}

pub(super) async fn check(State(web): State<Web>) -> Answer {
    let verified = web.store.audit().await.verify().await;
    let verified =
        verified.map_err(|error| Refused::new(ErrorCode::StoreUnavailable, error.to_string()))?;
    let check = match verified {
        Ok(verified) => HistoryCheck {
            good: true,
            entries: verified.range.map_or(0, |(first, last)| last - first + 1),
            problem: None,
            first_bad: None,
        },
        Err(finding) => HistoryCheck {
            good: false,
            entries: 0,
            problem: Some(finding.to_string()),
            first_bad: finding.first_bad_entry(),
        },
    };
    Ok(Json(check).into_response())
}

fn entry(row: &AuditRow) -> HistoryEntry {
    let uuid = |text: &Option<String>| text.as_deref().and_then(|text| text.parse().ok());
    let text: String = mask(subject(row)).chars().take(TEXT).collect();
    HistoryEntry {
        seq: row.seq,
        at: Timestamp::from_millisecond(row.at.0).unwrap_or(Timestamp::UNIX_EPOCH),
        kind: row.kind.clone(),
        session_id: uuid(&row.session_id),
        request_id: uuid(&row.request_id),
        project: row.project.clone(),
        tool_name: row.tool_name.clone(),
        outcome: row.outcome.clone(),
        by: row.actor_kind.clone(),
        by_name: row.actor_label.clone(),
        text,
    }
}
