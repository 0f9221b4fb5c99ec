// What names entities that are to be left by all, and that the plan does not know.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   ids of entities to which no relationship may lead
//   $unnamed   : LIST<STRING>   those of them that no fact may name either
//   $facts     : LIST<STRING>   ids of facts that the plan knows: the edges of their statements follow them
// returns (one row):
//   facts         : LIST<STRING>   ids of other facts that mention them or state something of them, each once
//   relationships : LIST<STRING>   ids of relationships at them, closed ones too, but for the edges of known facts, each once
//
// why: the entities are locked by then, and an edge takes the locks of both its ends, however many others there are: so
// whoever names one has committed before or comes after.
CYPHER 25
CALL () {
  UNWIND $unnamed AS id
  MATCH (:Entity {namespace: $namespace, id: id})<-[:MENTIONS|SUBJECT|OBJECT]-(fact:Fact)
  WHERE NOT fact.id IN $facts
  RETURN collect(DISTINCT fact.id) AS facts
}
CALL () {
  UNWIND $ids AS id
  MATCH (:Entity {namespace: $namespace, id: id})-[edge:RELATES_TO]-()
  WHERE edge.fact_id IS NULL OR NOT edge.fact_id IN $facts
  RETURN collect(DISTINCT edge.id) AS relationships
}
RETURN facts, relationships
