// Who names some records, closed ones too. The records themselves may be gone.
//
// params:
//   $namespace : STRING
//   $messages, $episodes, $facts, $entities : LIST<STRING>   ids
// returns (one row):
//   citing_facts, facts_of_episodes, facts_of_entities, derived_facts, holding_episodes, listing_episodes, listing_themes,
//   relationships : LIST<STRING>   ids, sorted, each once; of derived facts those that were made from none but $facts
CYPHER 25
CALL () {
  UNWIND $messages AS id
  MATCH (:Message {namespace: $namespace, id: id})<-[:CITES]-(n:Fact)
  WITH DISTINCT n.id AS found ORDER BY found
  RETURN collect(found) AS citing_facts
}
CALL () {
  UNWIND $episodes AS id
  MATCH (:Episode {namespace: $namespace, id: id})<-[:FROM_EPISODE]-(n:Fact)
  WITH DISTINCT n.id AS found ORDER BY found
  RETURN collect(found) AS facts_of_episodes
}
CALL () {
  UNWIND $entities AS id
  MATCH (:Entity {namespace: $namespace, id: id})<-[:MENTIONS|SUBJECT|OBJECT]-(n:Fact)
  WITH DISTINCT n.id AS found ORDER BY found
  RETURN collect(found) AS facts_of_entities
}
CALL () {
  UNWIND $facts AS id
  MATCH (:Fact {namespace: $namespace, id: id})<-[:DERIVED_FROM]-(n:Fact)
  WITH DISTINCT n WHERE NOT EXISTS { (n)-[:DERIVED_FROM]->(source:Fact) WHERE NOT source.id IN $facts }
  WITH n.id AS found ORDER BY found
  RETURN collect(found) AS derived_facts
}
CALL () {
  UNWIND $messages AS id
  MATCH (:Message {namespace: $namespace, id: id})<-[:HAS_MESSAGE]-(n:Episode)
  WITH DISTINCT n.id AS found ORDER BY found
  RETURN collect(found) AS holding_episodes
}
CALL () {
  UNWIND $facts AS id
  MATCH (:Fact {namespace: $namespace, id: id})<-[:HAS_FACT]-(n:Episode)
  WITH DISTINCT n.id AS found ORDER BY found
  RETURN collect(found) AS listing_episodes
}
CALL () {
  UNWIND $facts AS id
  MATCH (:Fact {namespace: $namespace, id: id})<-[:HAS_FACT]-(n:Theme)
  WITH DISTINCT n.id AS found ORDER BY found
  RETURN collect(found) AS listing_themes
}
CALL () {
  UNWIND $entities AS id
  MATCH (:Entity {namespace: $namespace, id: id})-[r:RELATES_TO]-()
  WITH DISTINCT r.id AS found ORDER BY found
  RETURN collect(found) AS relationships
}
RETURN citing_facts, facts_of_episodes, facts_of_entities, derived_facts, holding_episodes, listing_episodes, listing_themes, relationships
