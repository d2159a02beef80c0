-- Decisions that a human wants remembered.
CREATE TABLE rules (
    id           TEXT    NOT NULL PRIMARY KEY,
    rule         TEXT    NOT NULL,
    effect       TEXT    NOT NULL,
    -- A session's rules end with it.
    session_id   TEXT    REFERENCES sessions (id) ON DELETE CASCADE,
    project      TEXT,
    uses_left    BIGINT,
    expires_at   BIGINT,
    reason       TEXT,
    matches      TEXT    NOT NULL,
    matches_not  TEXT    NOT NULL,
    enabled      BOOLEAN NOT NULL,
    created_at   BIGINT  NOT NULL,
    client_label TEXT    NOT NULL,
    hits         BIGINT  NOT NULL,
    last_hit_at  BIGINT
);
