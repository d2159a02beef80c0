-- Large inputs, each once. What holds one (an entry, a request, an entry of the history) has a BLOB in the place of its
-- text: the input's SHA-256, eight digits that say where in the text it stands, and the text without it.
CREATE TABLE inputs (
    number INTEGER PRIMARY KEY,
    text   TEXT    NOT NULL
);

-- Apart from them, because their number of uses changes and they do not.
CREATE TABLE input_uses (
    digest BLOB   NOT NULL PRIMARY KEY,
    number BIGINT NOT NULL,
    uses   BIGINT NOT NULL
) WITHOUT ROWID;

CREATE TRIGGER unused_inputs_are_removed AFTER UPDATE OF uses ON input_uses WHEN NEW.uses < 1
BEGIN
    DELETE FROM inputs WHERE number = NEW.number;
    DELETE FROM input_uses WHERE digest = NEW.digest;
END;

CREATE TRIGGER entries_give_up_their_inputs AFTER DELETE ON entries WHEN typeof(OLD.body) = 'blob'
BEGIN
    UPDATE input_uses SET uses = uses - 1 WHERE digest = substr(OLD.body, 1, 32);
END;

-- What the agent said of it (`raw`) holds the same input, and goes earlier or with it.
CREATE TRIGGER requests_give_up_their_inputs AFTER DELETE ON requests WHEN typeof(OLD.input) = 'blob'
BEGIN
    UPDATE input_uses SET uses = uses - 1 WHERE digest = substr(OLD.input, 1, 32);
END;

CREATE TRIGGER audit_gives_up_its_inputs AFTER DELETE ON audit WHEN typeof(OLD.body) = 'blob'
BEGIN
    UPDATE input_uses SET uses = uses - 1 WHERE digest = substr(OLD.body, 1, 32);
END;
