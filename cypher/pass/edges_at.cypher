// Relationships at entities that are to be removed, closed ones too.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   ids of entities
//   $facts     : LIST<STRING>   ids of facts that the plan knows: the edges of their statements follow them
// returns (one row):
//   relationships : LIST<STRING>   ids of the others, each once
CYPHER 25
UNWIND $ids AS id
MATCH (:Entity {namespace: $namespace, id: id})-[edge:RELATES_TO]-()
WHERE edge.fact_id IS NULL OR NOT edge.fact_id IN $facts
RETURN collect(DISTINCT edge.id) AS relationships
