-- Who may come in. A secret is kept as its hash; a device that is revoked is forgotten, and the history tells.
CREATE TABLE devices (
    id           TEXT   NOT NULL PRIMARY KEY,
    kind         TEXT   NOT NULL,
    name         TEXT   NOT NULL,
    secret_hash  BLOB   NOT NULL UNIQUE,
    -- Words with spaces between them.
    scopes       TEXT   NOT NULL,
    created_at   BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    expires_at   BIGINT
);

-- What is asked for before risky actions: the hash of a password, in PHC form.
CREATE TABLE password (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    hash TEXT    NOT NULL
);
