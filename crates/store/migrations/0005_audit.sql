-- Everything that was decided, and what became of it. It refers to nothing, so that it outlives the
-- sessions and requests it speaks of. Each row holds the hash of itself and of the one before; what
-- is small and often looked for stands before the long texts.
CREATE TABLE audit (
    seq         INTEGER PRIMARY KEY,
    at          BIGINT NOT NULL,
    kind        TEXT   NOT NULL,
    session_id  TEXT,
    request_id  TEXT,
    project     TEXT,
    tool_name   TEXT,
    outcome     TEXT   NOT NULL,
    actor_kind  TEXT   NOT NULL,
    actor_label TEXT   NOT NULL,
    previous    BLOB   NOT NULL,
    hash        BLOB   NOT NULL,
    text        TEXT   NOT NULL,
    body        TEXT   NOT NULL
);

CREATE INDEX audit_by_session ON audit (session_id, seq);
CREATE INDEX audit_by_time ON audit (at);

-- Against our own mistakes. Whoever means harm drops it first, and is found by the hashes.
CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the history is append-only');
END;

-- The number of the last signed checkpoint. The checkpoints are kept in a file of their own, and
-- this is how the removal of its last lines is noticed.
CREATE TABLE audit_signed (
    only    INTEGER PRIMARY KEY CHECK (only = 1),
    ordinal BIGINT  NOT NULL
);
