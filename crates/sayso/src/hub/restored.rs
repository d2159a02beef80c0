//! What a session's records say of an agent that an earlier server started.

use std::path::Path;
use std::time::Duration;

use sayso_broker::{Allowance, ClockView, Decision, RequestId, RestoredRequest, Timestamp};
use sayso_claude::{AgentEvent, ControlSession, RawJson};
use sayso_protocol::RequestDetail;
use sayso_store::{RequestWithDecision, Store, UnixMillis};

use super::records;
use super::run::AllowedTool;
use super::sessions::Session;
use super::transcript::Place;
use crate::agents::claude;

/// All that is read of one session before its agent is taken over.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// What its agent's lines led to, of those that come again.
    pub(super) stored: Vec<Place>,
    /// Its requests by the agent's own ids, each with the tool use that it is about.
    pub(super) asked: Vec<(String, Option<String>)>,
    pub(super) unfinished: Vec<RequestWithDecision>,
    /// Tools that may be running.
    pub(super) under_way: Vec<RequestWithDecision>,
}

impl Records {
    /// `since` is when the agent started, `first_line` the first of its lines that can still be had.
    pub(super) async fn read(
        store: &Store,
        session: &Session,
        since: UnixMillis,
        first_line: Option<u64>,
    ) -> anyhow::Result<Self> {
        let id = sayso_store::SessionId(session.id.0);
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let run_after = number(session.run_after);
        let first_line = first_line.map_or(i64::MAX, number);
        let (stored, asked, unfinished, under_way) = tokio::try_join!(
            store.entries_of_lines(id, run_after, first_line),
            store.native_ids(id, since),
            store.unfinished_requests(id),
            store.tools_under_way(id, since),
        )?;
        Ok(Self {
            stored: stored.into_iter().filter_map(place).collect(),
            asked,
            unfinished,
            under_way,
        })
    }
}

fn place((line, part): (i64, i64)) -> Option<Place> {
    Some(Place {
        line: u64::try_from(line).ok()?,
        part: u32::try_from(part).ok()?,
    })
}

/// A request as the agent made it, open again for both sides. `None` when it cannot be read: then the agent
/// waits for an answer that only stopping it can replace, and its session says so.
pub(super) fn request(
    session: &mut ControlSession,
    cwd: &Path,
    unfinished: RequestWithDecision,
) -> Option<RestoredRequest> {
    let RequestWithDecision { request, decision } = unfinished;
    let native_id: String = serde_json::from_str(&request.native_id).ok()?;
    let detail: RequestDetail = serde_json::from_str(&request.detail).unwrap_or_default();
    let raw = RawJson::parse_text(request.raw.to_string()).ok()?;
    let event: AgentEvent = session.restore(&native_id, &raw, detail.input_faithful)?;
    let mut ask = claude::restored(event, &request, cwd)?;
    ask.id = sayso_broker::RequestId(request.id.0);
    ask.digest.clone_from(&request.input_digest);
    ask.detail = sayso_broker::Json::new(&request.detail);
    ask.raw = None;
    let remaining = request
        .held_remaining_ms
        .and_then(|left| u64::try_from(left).ok());
    Some(RestoredRequest {
        ask: Box::new(ask),
        created_at: Timestamp(request.created_at.0),
        clock: ClockView {
            deadline: request.deadline.map(|at| Timestamp(at.0)),
            remaining: remaining.map(Duration::from_millis),
            held: request.held,
        },
        decided: decision.and_then(|row| records::resolution(&row)),
    })
}

/// A tool that was allowed and has not ended, as far as is known.
pub(super) fn allowed(tool: &RequestWithDecision) -> Option<(String, AllowedTool)> {
    let allowed = AllowedTool {
        request: RequestId(tool.request.id.0),
        name: tool.request.tool_name.clone(),
    };
    Some((tool.request.tool_use_id.clone()?, allowed))
}

/// What was changed before it was allowed, for the agent's model. `None` when nothing was.
pub(super) fn edit(session: &mut ControlSession, tool: &RequestWithDecision) -> Option<()> {
    let resolution = records::resolution(tool.decision.as_ref()?)?;
    let Some(Decision::Allow(Allowance {
        updated_input: Some(ran),
        ..
    })) = resolution.decision
    else {
        return None;
    };
    let asked = RawJson::parse_text(tool.request.input.to_string()).ok()?;
    let ran = RawJson::parse_text(ran.as_str().to_owned()).ok()?;
    session.restore_edit(tool.request.tool_use_id.as_ref()?, &asked, &ran);
    Some(())
}
