// Relationships that begin or end at one of some entities, closed ones too, by id.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   of entities
// returns:
//   id : STRING
CYPHER 25
UNWIND $ids AS id
MATCH (:Entity {namespace: $namespace, id: id})-[r:RELATES_TO]-()
WITH DISTINCT r
RETURN r.id AS id
ORDER BY id
