-- A tool ran that nobody allowed, and no human has seen it yet.
ALTER TABLE sessions ADD COLUMN alert TEXT;
