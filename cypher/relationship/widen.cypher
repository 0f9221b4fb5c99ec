// Lets stored relationships begin earlier.
//
// params:
//   $namespace : STRING
//   $rows      : LIST<MAP>, sorted by id: {id : STRING, valid_from : ZONED DATETIME (UTC)}
// returns: nothing
CYPHER 25
UNWIND $rows AS row
MATCH ()-[r:RELATES_TO {namespace: $namespace, id: row.id}]->()
SET r.valid_from = row.valid_from
