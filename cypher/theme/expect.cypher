// Locks themes and counts their facts, so that a writer can tell whether another one came first.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   sorted, each once
//   $put       : LIST<STRING>   those of them that this transaction will put
// returns, a row per id:
//   id : STRING, facts : INTEGER   0 when the theme is not stored
//
// why: as in episode.expect.
CYPHER 25
UNWIND $ids AS id
CALL (id) {
  WITH id WHERE id IN $put
  MERGE (theme:Theme {namespace: $namespace, id: id}) ON CREATE SET theme:Placeholder
  RETURN theme
 UNION ALL
  WITH id WHERE NOT id IN $put
  OPTIONAL MATCH (theme:Theme {namespace: $namespace, id: id})
  RETURN theme
}
REMOVE theme.fresh
WITH theme, id
RETURN id, CASE WHEN theme IS NULL OR theme:Placeholder THEN 0 ELSE COUNT { (theme)-[:HAS_FACT]->() } END AS facts
