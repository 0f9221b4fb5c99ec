// Passes, latest first.
//
// params:
//   $namespace      : STRING
//   $limit, $offset : INTEGER
// returns:
//   pass : MAP   the record's fields
CYPHER 25
MATCH (p:Pass {namespace: $namespace}) WHERE p.at IS NOT NULL
WITH p ORDER BY p.at DESC, p.id SKIP $offset LIMIT $limit
RETURN p {.id, .kind, .changes, .is_hard, .undoes, .undone_by, is_erased: coalesce(p.is_erased, false), at: toString(p.at)} AS pass
ORDER BY p.at DESC, p.id
