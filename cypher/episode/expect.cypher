// Locks episodes and counts their messages, so that a writer can tell whether another one came first.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   sorted, each once
//   $put       : LIST<STRING>   those of them that this transaction will put
// returns, a row per id:
//   id : STRING, messages : INTEGER   0 when the episode is not stored
//
// why: MERGE makes a placeholder where nothing is stored, so that two writers of one new episode meet at its key; REMOVE
// locks what is there. The put that follows in this transaction fills the placeholder.
CYPHER 25
UNWIND $ids AS id
CALL (id) {
  WITH id WHERE id IN $put
  MERGE (episode:Episode {namespace: $namespace, id: id}) ON CREATE SET episode:Placeholder
  RETURN episode
 UNION ALL
  WITH id WHERE NOT id IN $put
  OPTIONAL MATCH (episode:Episode {namespace: $namespace, id: id})
  RETURN episode
}
REMOVE episode.fresh
WITH episode, id
RETURN id, CASE WHEN episode IS NULL OR episode:Placeholder THEN 0
                ELSE COUNT { (episode)-[:HAS_MESSAGE]->(m) WHERE NOT m:Placeholder } END AS messages
