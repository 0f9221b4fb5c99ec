// How many records of each kind a namespace holds.
//
// params:
//   $namespace : STRING
// returns, a row per kind:
//   kind         : STRING    `message`, `episode`, `fact`, `theme`, `entity`, `relationship`
//   stored       : INTEGER   closed ones among them, placeholders not
//   closed       : INTEGER   superseded or invalidated
//   placeholders : INTEGER   named but not stored
//   embedded     : INTEGER   with a vector of the namespace's embedding space
//
// why: `live` is missing on placeholders, so one property tells all three apart.
CYPHER 25
CALL () {
  MATCH (n:Message {namespace: $namespace})
  RETURN 1 AS place, 'message' AS kind, count(n.live) AS stored, count(CASE WHEN NOT n.live THEN 1 END) AS closed,
         count(CASE WHEN n:Placeholder THEN 1 END) AS placeholders, count(n.embedding_1) AS embedded
  UNION ALL
  MATCH (n:Episode {namespace: $namespace})
  RETURN 2 AS place, 'episode' AS kind, count(n.live) AS stored, count(CASE WHEN NOT n.live THEN 1 END) AS closed,
         count(CASE WHEN n:Placeholder THEN 1 END) AS placeholders, count(n.embedding_1) AS embedded
  UNION ALL
  MATCH (n:Fact {namespace: $namespace})
  RETURN 3 AS place, 'fact' AS kind, count(n.live) AS stored, count(CASE WHEN NOT n.live THEN 1 END) AS closed,
         count(CASE WHEN n:Placeholder THEN 1 END) AS placeholders, count(n.embedding_1) AS embedded
  UNION ALL
  MATCH (n:Theme {namespace: $namespace})
  RETURN 4 AS place, 'theme' AS kind, count(n.live) AS stored, count(CASE WHEN NOT n.live THEN 1 END) AS closed,
         count(CASE WHEN n:Placeholder THEN 1 END) AS placeholders, count(n.embedding_1) AS embedded
  UNION ALL
  MATCH (n:Entity {namespace: $namespace})
  RETURN 5 AS place, 'entity' AS kind, count(n.live) AS stored, count(CASE WHEN NOT n.live THEN 1 END) AS closed,
         count(CASE WHEN n:Placeholder THEN 1 END) AS placeholders, count(n.embedding_1) AS embedded
  UNION ALL
  MATCH (:Entity {namespace: $namespace})-[r:RELATES_TO]->()
  RETURN 6 AS place, 'relationship' AS kind, count(r) AS stored, count(CASE WHEN NOT r.live THEN 1 END) AS closed,
         0 AS placeholders, 0 AS embedded
}
RETURN kind, stored, closed, placeholders, embedded
ORDER BY place
