//! The history: every decision and what became of it.

use jiff::Timestamp;
use serde::Serialize;
use uuid::Uuid;

use crate::RawJson;

/// The answer to `GET /api/history`: newest first.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HistoryPage {
    pub entries: Vec<HistoryEntry>,
    /// `before` of the next page; null on the last one.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub next: Option<i64>,
}

/// One line of it. Likely secrets in `text` are masked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HistoryEntry {
    #[cfg_attr(test, ts(type = "number"))]
    pub seq: i64,
    #[cfg_attr(test, ts(type = "string"))]
    pub at: Timestamp,
    /// `decision`, `outcome`, `alert`, `rule`, `mode`, `session`; later versions may add some.
    pub kind: String,
    pub session_id: Option<Uuid>,
    pub request_id: Option<Uuid>,
    /// The folder that the session works in.
    pub project: Option<String>,
    pub tool_name: Option<String>,
    /// One word: `allowed`, `denied`, `answered`, `expired`, `withdrawn`, `orphaned`; `ran`, `failed`;
    /// `added`, `changed`, `removed`; `started`, `ended`; the mode.
    pub outcome: String,
    /// `human`, `rule`, `mode`, `timeout`, `policy`, `agent`, `server`.
    pub by: String,
    /// The device, the rule's text, the mode.
    pub by_name: String,
    pub text: String,
}

/// The answer to `GET /api/history/{seq}`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HistoryDetail {
    pub entry: HistoryEntry,
    /// The whole record, exactly as it was written: nothing is masked.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub record: RawJson,
    /// Other entries about the same request, oldest first.
    pub related: Vec<HistoryEntry>,
}

/// The answer to `GET /api/history/check`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HistoryCheck {
    pub good: bool,
    /// How many were checked; 0 when something is wrong.
    #[cfg_attr(test, ts(type = "number"))]
    pub entries: i64,
    /// What is wrong, in one sentence, and with which entry first.
    pub problem: Option<String>,
    #[cfg_attr(test, ts(type = "number | null"))]
    pub first_bad: Option<i64>,
}
