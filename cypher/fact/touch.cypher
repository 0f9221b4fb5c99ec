// Adds to the usage counts of facts.
//
// params:
//   $namespace : STRING
//   $rows      : LIST<MAP>, sorted by id, each id once: {id: STRING, uses: INTEGER, at: ZONED DATETIME (UTC)}
// returns: nothing
//
// why: rows in the order of their keys, so that counters lock in one order. Unknown ids match nothing.
CYPHER 25
UNWIND $rows AS row
MATCH (fact:Fact {namespace: $namespace, id: row.id}) WHERE NOT fact:Placeholder
SET fact.access_count = coalesce(fact.access_count, 0) + row.uses, fact.last_accessed_at = row.at
