-- Agents outlive the server: which line of an agent's output an entry comes from, so that a line that is read
-- again after a restart is not told twice. Lines are counted anew for each of a session's agents, which all come
-- after the entry `run_after`.
ALTER TABLE entries ADD COLUMN line BIGINT;
ALTER TABLE entries ADD COLUMN part BIGINT;
ALTER TABLE sessions ADD COLUMN run_after BIGINT NOT NULL DEFAULT 0;
-- The last line that is counted in `usage`.
ALTER TABLE sessions ADD COLUMN counted_line BIGINT NOT NULL DEFAULT 0;
-- A human stopped the clock; otherwise a stopped one runs on when somebody looks.
ALTER TABLE requests ADD COLUMN held BOOLEAN NOT NULL DEFAULT FALSE;
