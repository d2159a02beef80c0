-- How far the log in front of the database is written here: its records up to this number.
CREATE TABLE log_applied (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    seq  BIGINT  NOT NULL
);
INSERT INTO log_applied (only, seq) VALUES (1, 0);
