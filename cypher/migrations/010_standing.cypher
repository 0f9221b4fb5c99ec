// Of each fact whether it counts, as one number that the vector index filters by: see fact.put. Vector indexes whose filters
// a newer library has changed are dropped before these statements and made anew after them.
CYPHER 25 MATCH (f:Fact) WHERE f.live IS NOT NULL AND f.standing IS NULL
CALL (f) {
  SET f.standing = CASE WHEN coalesce(f.quarantined, false) THEN CASE WHEN f.live THEN 1 ELSE 2 END WHEN f.live THEN 0 ELSE -1 END
} IN TRANSACTIONS OF 10000 ROWS;
