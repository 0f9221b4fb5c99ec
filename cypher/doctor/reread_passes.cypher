// Passes a page at a time, to be read again.
//
// params:
//   $namespace : STRING
//   $after     : STRING    the last id of the page before; '': from the start
//   $limit     : INTEGER
// returns, in order:
//   record : MAP   the record's fields, as in pass.get
CYPHER 25
MATCH (n:Pass {namespace: $namespace}) WHERE n.id > $after
WITH n ORDER BY n.namespace, n.id LIMIT $limit
RETURN n {.id, .kind, .changes, .is_hard, .undoes, .undone_by, is_erased: coalesce(n.is_erased, false), at: toString(n.at)} AS record
ORDER BY n.id
