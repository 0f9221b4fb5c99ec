// Closes live relationships.
//
// params:
//   $namespace : STRING
//   $now       : ZONED DATETIME   UTC
//   $rows      : LIST<MAP>, sorted by id, each id once: {id : STRING, invalidated_by : STRING}
// returns:
//   id : STRING   of those that were closed
CYPHER 25
UNWIND $rows AS row
MATCH ()-[r:RELATES_TO {namespace: $namespace, id: row.id}]->() WHERE r.live
SET r.invalidated_by = row.invalidated_by, r.live = false, r.closed_at = $now
RETURN r.id AS id
