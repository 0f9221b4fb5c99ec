// The key that locks take off records. A server skips the removal of a key that nothing has ever had, and its lock with it:
// the first writers of an empty database would not wait for each other. No record keeps the key, so this index stays empty.
CYPHER 25 CREATE INDEX lock_mark IF NOT EXISTS FOR (n:EntityName) ON (n.fresh);
