//! Rows that several measurements begin with.

use sayso_store::{SessionId, SessionRow, UnixMillis};

/// A session at work that nothing has happened in yet.
pub(crate) fn session(id: SessionId) -> SessionRow {
    SessionRow {
        id,
        title: "Work on the store".to_owned(),
        cwd: "/srv/project".to_owned(),
        agent: "claude".to_owned(),
        agent_session_id: None,
        state: "assistant_turn".to_owned(),
        permission_mode: "default".to_owned(),
        model: None,
        created_at: UnixMillis(1),
        state_changed_at: UnixMillis(1),
        ended_reason: None,
        error: None,
        usage: None,
        policies: None,
        archived_at: None,
        title_fixed: false,
        restricted: false,
        context: None,
        alert: None,
        run_after: 0,
        counted_line: 0,
        transcript_bytes: 0,
    }
}
