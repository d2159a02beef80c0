CREATE TABLE _sqlx_migrations (
    version BIGINT PRIMARY KEY,
    description TEXT NOT NULL,
    installed_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    success BOOLEAN NOT NULL,
    checksum BLOB NOT NULL,
    execution_time BIGINT NOT NULL
);
INSERT INTO _sqlx_migrations VALUES (1, 'initial', '2026-11-18 12:48:36', 1, X'0F4F191A3CEB0A89A84A9ACCB91E6EC2FDCF3C1650D04FEC3EF2592ECC6BE0748ABA4E8CFCD2B469A10EF1D976C35A0E', 3584521);
INSERT INTO _sqlx_migrations VALUES (10, 'extensions', '2026-11-18 12:48:36', 1, X'08EF539D9BF64A3FDE705E2F5159DC87E831D339FD1E5CA958E8A8C9CF5544048E8ABA61CA96F20FD81C18108CAAC6F2', 616180);
INSERT INTO _sqlx_migrations VALUES (11, 'log', '2026-11-18 12:48:36', 1, X'31871DCF07CB176D47183071ABC9211EA23F1A6F3F7E9B4B1271E5E6BAD53F861BC8545F7EB80C34B4C255FB56EBB14B', 433528);
INSERT INTO _sqlx_migrations VALUES (12, 'smaller rows', '2026-11-18 12:48:36', 1, X'D0298549E3E5A4B7258E294056DAFA16C490D61C1ECEADE1489A20AA62729B09BB30DBCD25D49BD2AB87220CDF7DE149', 2715213);
INSERT INTO _sqlx_migrations VALUES (2, 'conversations', '2026-11-18 12:48:36', 1, X'111B4C320B8801A2CCA57C500978B048F3345957A4AF9FFFACCC3A8695DA0010906D8F86F08E59ECC542B35344A9D9D3', 1552538);
INSERT INTO _sqlx_migrations VALUES (3, 'rules', '2026-11-18 12:48:36', 1, X'54849A949F3F6B7CEE3FD20E81F4EBF38B8CBB7A21FCA12BD3EE317CB4DDBE6A3143587191A2480C00CBDE2386760B44', 553186);
INSERT INTO _sqlx_migrations VALUES (4, 'alerts', '2026-11-18 12:48:36', 1, X'8BE65A6A5307D6AC8235FD90EFDD0CA002F5B15741E1E7BBECC6916020AA873AE6E0D6066E1234BA03D704D1B2FFF63F', 584602);
INSERT INTO _sqlx_migrations VALUES (5, 'audit', '2026-11-18 12:48:36', 1, X'68389A6E0FC4F08DD00429FA745F64D5DCB210DD30B93EA14B3CDBA5CDBD24F3BF3C35831F4376B4E72BBD55FD7EBA58', 703000);
INSERT INTO _sqlx_migrations VALUES (6, 'runners', '2026-11-18 12:48:36', 1, X'244BCA4548A5A99C2C45753A98EBFE39C25D988960E6FCA9F018EF07E779E9169101FB42DE3B2D1E05718FB702A2DE08', 1129356);
INSERT INTO _sqlx_migrations VALUES (7, 'devices', '2026-11-18 12:48:36', 1, X'6581A0F69B2295332EEC19D8DAB5189F1A7DE3777B1695FFDC832D02A24681BC9FF5F58FE2F31832A8D38BB067922068', 576160);
INSERT INTO _sqlx_migrations VALUES (8, 'transcript size', '2026-11-18 12:48:36', 1, X'C25B4EC7501A3A8EA370554AFAA4BF30BEA63D3620B2843EBF46CEADC1761D7F9B2534CB439DEBBFC8280CDC75521420', 652524);
INSERT INTO _sqlx_migrations VALUES (9, 'notifications', '2026-11-18 12:48:36', 1, X'AC8A80122AD06E9F07665B85F0D972B27004A88AA91441B90D82FEFB921E8B7EA47CFF2A220A9426C07ED35555BA5BD6', 536531);
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
, title_fixed BOOLEAN NOT NULL DEFAULT FALSE, restricted BOOLEAN NOT NULL DEFAULT FALSE, context TEXT, alert TEXT, run_after BIGINT NOT NULL DEFAULT 0, counted_line BIGINT NOT NULL DEFAULT 0, transcript_bytes BIGINT NOT NULL DEFAULT 0, number BIGINT);
INSERT INTO sessions VALUES ('00000000-0000-0000-0000-000000000001', 'session 1 — „Grüße“', '/srv/project', 'claude', '5d0c', 'assistant_turn', 'default', NULL, 1001, 2000, NULL, NULL, '{ "z":1.0,"a" : 12345678901234567890, "t":"\u0000 \ud83d\ude00 😀 '' $1 ",
"z":2 }', NULL, NULL, 0, 0, NULL, NULL, 0, 0, 83, 1);
CREATE TABLE queued_messages (
    ordinal    INTEGER PRIMARY KEY,
    message_id TEXT    NOT NULL UNIQUE,
    session_id TEXT    NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    at         BIGINT  NOT NULL,
    content    TEXT    NOT NULL
);
INSERT INTO queued_messages VALUES (1, '00000000-0000-0000-0000-000000000009', '00000000-0000-0000-0000-000000000001', 6000, 'first');
CREATE TABLE trusted_folders (
    path         TEXT   NOT NULL PRIMARY KEY,
    digest       TEXT   NOT NULL,
    trusted_at   BIGINT NOT NULL,
    client_label TEXT   NOT NULL
);
INSERT INTO trusted_folders VALUES ('/srv/a', '1', 7000, 'phone');
CREATE TABLE agent_facts (
    agent  TEXT NOT NULL PRIMARY KEY,
    models TEXT NOT NULL
);
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
INSERT INTO rules VALUES ('00000000-0000-0000-0000-000000000001', 'Bash(ls:*)', 'allow', NULL, '/srv/project', 3, 9000, 'Reads only.', '["ls -l"]', '[]', 1, 1, 'Firefox on Linux', 0, NULL);
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
INSERT INTO audit VALUES (1, 1001, 'outcome', '00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000001', '/srv/projekt-ü1', 'Bash1', 'denied', 'rule', 'phone 1', X'0E856792C8E32C77DBDCB1A74582C65B818673215B4E1416E3954CB0324A68E8', X'41DFBC552E7769DDEBA3098D38F7D96A36400FFE19CD694B8DC60A91D98D9C8E', 'cargo test --package p1 😀', '{ "1":1.0,"a" : 12345678901234567890, "t":"\u0000 \ud83d\ude00 😀 '' $1 ",
"1":2 }');
INSERT INTO audit VALUES (2, 1020, 'access', NULL, NULL, '/srv/projekt-ü20', 'Bash20', 'allowed', 'server', 'phone 20', X'41DFBC552E7769DDEBA3098D38F7D96A36400FFE19CD694B8DC60A91D98D9C8E', X'8AD11D8519645CD0FC0741DB0F24745E115FB8047F638ADEF167ED0EAF5D6CDC', 'cargo test --package p20 😀', '{ "20":1.0,"a" : 12345678901234567890, "t":"\u0000 \ud83d\ude00 😀 '' $1 ",
"20":2 }');
INSERT INTO audit VALUES (3, 1003, 'rule', '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000003', '/srv/projekt-ü3', 'Bash3', '', 'timeout', 'phone 3', X'8AD11D8519645CD0FC0741DB0F24745E115FB8047F638ADEF167ED0EAF5D6CDC', X'FDF37B1EB73453FD4F2E1E8308917E75009482C55F07C4D8E15D30BFC9A9E504', 'cargo test --package p3 😀', '{ "3":1.0,"a" : 12345678901234567890, "t":"\u0000 \ud83d\ude00 😀 '' $1 ",
"3":2 }');
CREATE TABLE audit_signed (
    only    INTEGER PRIMARY KEY CHECK (only = 1),
    ordinal BIGINT  NOT NULL
);
INSERT INTO audit_signed VALUES (1, 2);
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
, origin TEXT);
INSERT INTO devices VALUES ('00000000-0000-0000-0000-000000000001', 'browser', 'Firefox on Linux', X'00000000000000000000000000000001', 'view answer', 1, 1, NULL, NULL);
CREATE TABLE password (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    hash TEXT    NOT NULL
);
INSERT INTO password VALUES (1, '$argon2id$kept');
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
INSERT INTO notification_channels VALUES ('00000000-0000-0000-0000-000000000001', 'web_push', '00000000-0000-0000-0000-000000000001', 'The phone', '{"auth":"kept"}', '{}', 1, NULL);
CREATE TABLE log_applied (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    seq  BIGINT  NOT NULL
);
INSERT INTO log_applied VALUES (1, 0);
CREATE TABLE entries (
    session BIGINT NOT NULL,
    seq     BIGINT NOT NULL,
    at      BIGINT NOT NULL,
    body    TEXT   NOT NULL,
    line    BIGINT,
    part    BIGINT,
    PRIMARY KEY (session, seq)
);
INSERT INTO entries VALUES (1, 1, 3001, '{ "z":1.0,"a" : 12345678901234567890, "t":"\u0000 \ud83d\ude00 😀 '' $1 ",
"z":2 }', NULL, NULL);
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
INSERT INTO requests VALUES (1, X'0000000000000000000000000000000B', 1, '"native-11"', 'tool_approval', 'Bash', 'toolu_1', NULL, 'explorer', '{ "z":1.0,"a" : 12345678901234567890, "t":"\u0000 \ud83d\ude00 😀 '' $1 ",
"z":2 }', 'sha256:00', '{ "z":1.0,"a" : 12345678901234567890, "t":"\u0000 \ud83d\ude00 😀 '' $1 ",
"z":2 }', '{}', 4000, 304000, NULL, 0, 'open', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO requests VALUES (2, X'0000000000000000000000000000000C', 1, '"native-12"', 'tool_approval', 'Bash', 'toolu_1', NULL, 'explorer', '{ "z":1.0,"a" : 12345678901234567890, "t":"\u0000 \ud83d\ude00 😀 '' $1 ",
"z":2 }', 'sha256:00', '{ "z":1.0,"a" : 12345678901234567890, "t":"\u0000 \ud83d\ude00 😀 '' $1 ",
"z":2 }', '{}', 4000, 304000, NULL, 0, 'decided', 'denied', 'human', 'client-1', 'phone', '{ "z":1.0,"a" : 12345678901234567890, "t":"\u0000 \ud83d\ude00 😀 '' $1 ",
"z":2 }', 'go on', 5000, 'pending', NULL);
CREATE INDEX sessions_by_creation ON sessions (created_at, id);
CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the history is append-only');
END;
CREATE UNIQUE INDEX sessions_by_number ON sessions (number);
CREATE INDEX requests_by_session ON requests (session);
CREATE INDEX requests_unfinished ON requests (status) WHERE status = 'open' OR delivery = 'pending';
CREATE TRIGGER sessions_go_with_all_that_is_theirs AFTER DELETE ON sessions
BEGIN
    DELETE FROM entries WHERE session = OLD.number;
    DELETE FROM requests WHERE session = OLD.number;
END;
CREATE INDEX audit_by_session ON audit (session_id);
