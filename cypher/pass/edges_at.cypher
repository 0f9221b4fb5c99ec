// Relationships at entities that are to be removed, closed ones too.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   ids of entities
// returns (one row):
//   relationships : LIST<STRING>   ids, each once
CYPHER 25
UNWIND $ids AS id
MATCH (:Entity {namespace: $namespace, id: id})-[edge:RELATES_TO]-()
RETURN collect(DISTINCT edge.id) AS relationships
