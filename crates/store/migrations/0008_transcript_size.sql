-- How many bytes a session's transcript has, so that it can have a limit without being read.
ALTER TABLE sessions ADD COLUMN transcript_bytes BIGINT NOT NULL DEFAULT 0;
UPDATE sessions SET transcript_bytes = (
    SELECT COALESCE(SUM(LENGTH(CAST(body AS BLOB))), 0) FROM entries WHERE entries.session_id = sessions.id
);
