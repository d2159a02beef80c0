-- What the human named a session stays, whatever its agent would call it.
ALTER TABLE sessions ADD COLUMN title_fixed BOOLEAN NOT NULL DEFAULT FALSE;
-- The agent runs without the folder's own settings.
ALTER TABLE sessions ADD COLUMN restricted BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE sessions ADD COLUMN context TEXT;

-- Messages of the human that the agent has not read yet, oldest first.
CREATE TABLE queued_messages (
    ordinal    INTEGER PRIMARY KEY,
    message_id TEXT    NOT NULL UNIQUE,
    session_id TEXT    NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    at         BIGINT  NOT NULL,
    content    TEXT    NOT NULL
);

-- Folders whose own settings the human accepted, with a digest of what they were.
CREATE TABLE trusted_folders (
    path         TEXT   NOT NULL PRIMARY KEY,
    digest       TEXT   NOT NULL,
    trusted_at   BIGINT NOT NULL,
    client_label TEXT   NOT NULL
);

-- What an agent said of itself when it last ran.
CREATE TABLE agent_facts (
    agent  TEXT NOT NULL PRIMARY KEY,
    models TEXT NOT NULL
);
