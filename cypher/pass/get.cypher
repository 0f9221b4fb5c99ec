// One pass.
//
// params:
//   $namespace : STRING
//   $id        : STRING
// returns (no row or one):
//   pass : MAP   the record's fields
CYPHER 25
MATCH (p:Pass {namespace: $namespace, id: $id})
RETURN p {.id, .kind, .changes, .is_hard, .undoes, .undone_by, is_erased: coalesce(p.is_erased, false), at: toString(p.at)} AS pass
