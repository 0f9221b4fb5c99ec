// What passes did to records, a page at a time, to be read again.
//
// params:
//   $namespace : STRING
//   $after     : STRING    pass of the last entry of the page before; '': from the start
//   $position  : INTEGER   its place; -1: from the start
//   $limit     : INTEGER
// returns, in order:
//   pass_id  : STRING
//   position : INTEGER
//   record   : MAP   the record's fields without the embedding, as in pass.entries
CYPHER 25
MATCH (n:PassEntry {namespace: $namespace})
WHERE n.pass_id >= $after AND n.position >= 0 AND (n.pass_id > $after OR n.position > $position)
WITH n ORDER BY n.namespace, n.pass_id, n.position LIMIT $limit
RETURN n.pass_id AS pass_id, n.position AS position,
  n {.record_kind, .record_id, .action, .reason, .superseded_by, .fields, .before, .refers_to, .fingerprint, .uses_after,
  last_use_after: toString(n.last_use_after)} AS record
ORDER BY n.pass_id, n.position
