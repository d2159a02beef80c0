-- Times are unix milliseconds, ids are UUIDs as text, and whatever an agent or a human wrote as
-- JSON is kept as the text it came as, so that it can be shown and compared byte for byte.

CREATE TABLE sessions (
    id               TEXT   NOT NULL PRIMARY KEY,
    title            TEXT   NOT NULL,
    cwd              TEXT   NOT NULL,
    agent            TEXT   NOT NULL,
    agent_session_id TEXT,
    state            TEXT   NOT NULL,
    permission_mode  TEXT   NOT NULL,
    model            TEXT,
    created_at       BIGINT NOT NULL,
    state_changed_at BIGINT NOT NULL,
    ended_reason     TEXT,
    error            TEXT,
    usage            TEXT,
    policies         TEXT,
    archived_at      BIGINT
);

CREATE INDEX sessions_by_creation ON sessions (created_at, id);

CREATE TABLE entries (
    session_id TEXT   NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seq        BIGINT NOT NULL,
    at         BIGINT NOT NULL,
    body       TEXT   NOT NULL,
    PRIMARY KEY (session_id, seq)
);

-- `ordinal` is the order in which requests were opened; two can share a millisecond.
CREATE TABLE requests (
    ordinal           INTEGER PRIMARY KEY,
    id                TEXT    NOT NULL UNIQUE,
    session_id        TEXT    NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
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
    status            TEXT    NOT NULL
);

CREATE INDEX requests_by_status ON requests (status, ordinal);
CREATE INDEX requests_by_session ON requests (session_id, ordinal);

CREATE TABLE decisions (
    request_id   TEXT   NOT NULL PRIMARY KEY REFERENCES requests (id) ON DELETE CASCADE,
    outcome      TEXT   NOT NULL,
    decided_by   TEXT   NOT NULL,
    client_id    TEXT,
    client_label TEXT,
    decision     TEXT   NOT NULL,
    message      TEXT,
    at           BIGINT NOT NULL,
    delivery     TEXT   NOT NULL,
    delivered_at BIGINT
);

CREATE INDEX decisions_by_time ON decisions (at, request_id);
