-- An extension of a browser is a device whose token is good from its own origin alone.
ALTER TABLE devices ADD COLUMN origin TEXT;
