// Adds to the usage counts of facts.
//
// params:
//   $namespace : STRING
//   $rows      : LIST<[id, uses, at]>, sorted by id, each id once; `at` an instant as text, UTC
// returns: nothing
//
// why: rows in the order of their keys, so that counters lock in one order. Unknown ids match nothing.
CYPHER 25
UNWIND $rows AS row
MATCH (fact:Fact {namespace: $namespace, id: row[0]}) WHERE NOT fact:Placeholder
SET fact.access_count = coalesce(fact.access_count, 0) + row[1], fact.last_accessed_at = datetime(row[2])
