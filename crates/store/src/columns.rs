//! What is selected for each kind of row. Rows refer to their session by its number, hold ids as bytes, and may have
//! their input elsewhere; whoever reads them sees nothing of it.

/// The columns of an [`EntryRow`](crate::EntryRow), and what they are read from.
macro_rules! entry_columns {
    () => {
        concat!(
            "sessions.id AS session_id, seq, at, ",
            crate::inputs::whole!("body"),
            " AS body, line, part FROM sessions JOIN entries ON entries.session = sessions.number"
        )
    };
}

/// The columns of a [`RequestRow`](crate::RequestRow). Rows hold the number of their session, and ids as bytes.
macro_rules! request_columns {
    () => {
        concat!(
            "hex(requests.id) AS id, sessions.id AS session_id, native_id, kind, tool_name, \
             tool_use_id, agent_id, agent_label, ",
            crate::inputs::whole!("input"),
            " AS input, input_digest, ",
            crate::inputs::whole!("raw"),
            " AS raw, detail, requests.created_at AS created_at, deadline, held_remaining_ms, \
             held, status"
        )
    };
}

/// Those of a [`DecisionRow`](crate::DecisionRow), all of them null where there is none.
macro_rules! decision_columns {
    () => {
        "iif(outcome IS NULL, NULL, hex(requests.id)) AS request_id, outcome, decided_by, \
         client_id, client_label, decision, message, at, delivery, delivered_at"
    };
}

/// What both are read from.
macro_rules! requests_of_sessions {
    () => {
        "requests JOIN sessions ON sessions.number = requests.session"
    };
}

pub(crate) use {decision_columns, entry_columns, request_columns, requests_of_sessions};
