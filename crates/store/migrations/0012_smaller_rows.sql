-- Less to write for each request: sessions have a number, by which others refer to them, a request's id is 16 bytes, its
-- decision stands in its own row, and indexes hold no more than what is looked for.
ALTER TABLE sessions ADD COLUMN number BIGINT;
UPDATE sessions SET number = rowid;
CREATE UNIQUE INDEX sessions_by_number ON sessions (number);

ALTER TABLE entries RENAME TO old_entries;
CREATE TABLE entries (
    session BIGINT NOT NULL,
    seq     BIGINT NOT NULL,
    at      BIGINT NOT NULL,
    body    TEXT   NOT NULL,
    line    BIGINT,
    part    BIGINT,
    PRIMARY KEY (session, seq)
);
INSERT INTO entries (session, seq, at, body, line, part)
SELECT sessions.number, seq, at, body, line, part
FROM old_entries JOIN sessions ON sessions.id = old_entries.session_id
ORDER BY old_entries.rowid;
DROP TABLE old_entries;

ALTER TABLE requests RENAME TO old_requests;
CREATE TABLE requests (
    ordinal           INTEGER PRIMARY KEY,
    id                BLOB    NOT NULL UNIQUE,
    session           BIGINT  NOT NULL,
    native_id         TEXT    NOT NULL,
    kind              TEXT    NOT NULL,
    tool_name         TEXT    NOT NULL,
    tool_use_id       TEXT,
    agent_id          TEXT,
    agent_label       TEXT,
    input             TEXT    NOT NULL,
    input_digest      TEXT    NOT NULL,
    raw               TEXT    NOT NULL,
    detail            TEXT    NOT NULL,
    created_at        BIGINT  NOT NULL,
    deadline          BIGINT,
    held_remaining_ms BIGINT,
    held              BOOLEAN NOT NULL,
    status            TEXT    NOT NULL,
    -- The decision; before there is one it has no outcome.
    outcome           TEXT,
    decided_by        TEXT,
    client_id         TEXT,
    client_label      TEXT,
    decision          TEXT,
    message           TEXT,
    at                BIGINT,
    delivery          TEXT,
    delivered_at      BIGINT
);
INSERT INTO requests (
    ordinal, id, session, native_id, kind, tool_name, tool_use_id, agent_id, agent_label, input, input_digest, raw,
    detail, created_at, deadline, held_remaining_ms, held, status, outcome, decided_by, client_id, client_label,
    decision, message, at, delivery, delivered_at
)
SELECT
    ordinal, unhex(old_requests.id, '-'), sessions.number, native_id, kind, tool_name, tool_use_id, agent_id,
    agent_label, input, input_digest, raw, detail, old_requests.created_at, deadline, held_remaining_ms, held, status,
    outcome, decided_by, client_id, client_label, decision, message, at, delivery, delivered_at
FROM old_requests
JOIN sessions ON sessions.id = old_requests.session_id
LEFT JOIN decisions ON decisions.request_id = old_requests.id
ORDER BY ordinal;
DROP TABLE decisions;
DROP TABLE old_requests;

CREATE INDEX requests_by_session ON requests (session);
-- Those that are not over, which are few.
CREATE INDEX requests_unfinished ON requests (status) WHERE status = 'open' OR delivery = 'pending';

-- Whoever adds a row has just looked for the number of its session, so no reference has to be checked again.
CREATE TRIGGER sessions_go_with_all_that_is_theirs AFTER DELETE ON sessions
BEGIN
    DELETE FROM entries WHERE session = OLD.number;
    DELETE FROM requests WHERE session = OLD.number;
END;

-- A time is looked for from the newest entry on, as words are.
DROP INDEX audit_by_time;
-- The number of an entry is part of every index.
DROP INDEX audit_by_session;
CREATE INDEX audit_by_session ON audit (session_id);
