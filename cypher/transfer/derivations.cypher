// From which facts others were made, a page of the derived ones at a time.
//
// params:
//   $namespace : STRING
//   $after     : STRING    the last derived fact of the page before; '': from the start
//   $limit     : INTEGER
// returns:
//   id      : STRING         the derived fact, stored or not, in order
//   sources : LIST<STRING>   in order
CYPHER 25
MATCH (derived:Fact {namespace: $namespace}) WHERE derived.id > $after AND EXISTS { (derived)-[:DERIVED_FROM]->() }
WITH derived ORDER BY derived.namespace, derived.id LIMIT $limit
RETURN derived.id AS id,
       COLLECT { MATCH (derived)-[:DERIVED_FROM]->(source:Fact) RETURN DISTINCT source.id AS id ORDER BY id } AS sources
ORDER BY id
