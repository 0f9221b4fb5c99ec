// Sets when messages were learnt, as it was where they come from.
//
// params:
//   $namespace : STRING
//   $rows      : LIST<MAP>, sorted by id, each id once: {id: STRING, recorded_at: ZONED DATETIME (UTC)}
// returns: nothing
CYPHER 25
UNWIND $rows AS row
MATCH (m:Message {namespace: $namespace, id: row.id}) WHERE NOT m:Placeholder
SET m.recorded_at = row.recorded_at
