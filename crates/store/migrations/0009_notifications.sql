-- Where humans are told that something waits for them. A push subscription belongs to a device and goes with it.
CREATE TABLE notification_channels (
    id          TEXT   NOT NULL PRIMARY KEY,
    kind        TEXT   NOT NULL,
    device_id   TEXT   UNIQUE REFERENCES devices (id) ON DELETE CASCADE,
    name        TEXT   NOT NULL,
    -- JSON: where it goes and the secrets for that, and what is sent when.
    target      TEXT   NOT NULL,
    settings    TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    -- JSON: what became of the last try.
    last_result TEXT
);
