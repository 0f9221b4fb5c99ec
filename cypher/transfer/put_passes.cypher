// Writes passes as they were where they come from, without what they did to each record.
//
// params:
//   $namespace : STRING
//   $rows      : LIST<MAP>, sorted by id, each id once: {id: STRING, properties: MAP}   absent ones as null
// returns: nothing
CYPHER 25
UNWIND $rows AS row
MERGE (pass:Pass {namespace: $namespace, id: row.id})
SET pass += row.properties
