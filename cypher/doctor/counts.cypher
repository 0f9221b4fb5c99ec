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
// why: `live` is missing on placeholders. Counted before the kind is named, since a count with nothing to group by gives
// a row also where there is nothing.
CYPHER 25
CALL () {
  MATCH (n:Message {namespace: $namespace})
  WITH count(n.live) AS stored, count(CASE WHEN NOT n.live THEN 1 END) AS closed,
       count(CASE WHEN n:Placeholder THEN 1 END) AS placeholders, count(n.embedding_1) AS embedded
  RETURN 1 AS place, 'message' AS kind, stored, closed, placeholders, embedded
  UNION ALL
  MATCH (n:Episode {namespace: $namespace})
  WITH count(n.live) AS stored, count(CASE WHEN NOT n.live THEN 1 END) AS closed,
       count(CASE WHEN n:Placeholder THEN 1 END) AS placeholders, count(n.embedding_1) AS embedded
  RETURN 2 AS place, 'episode' AS kind, stored, closed, placeholders, embedded
  UNION ALL
  MATCH (n:Fact {namespace: $namespace})
  WITH count(n.live) AS stored, count(CASE WHEN NOT n.live THEN 1 END) AS closed,
       count(CASE WHEN n:Placeholder THEN 1 END) AS placeholders, count(n.embedding_1) AS embedded
  RETURN 3 AS place, 'fact' AS kind, stored, closed, placeholders, embedded
  UNION ALL
  MATCH (n:Theme {namespace: $namespace})
  WITH count(n.live) AS stored, count(CASE WHEN NOT n.live THEN 1 END) AS closed,
       count(CASE WHEN n:Placeholder THEN 1 END) AS placeholders, count(n.embedding_1) AS embedded
  RETURN 4 AS place, 'theme' AS kind, stored, closed, placeholders, embedded
  UNION ALL
  MATCH (n:Entity {namespace: $namespace})
  WITH count(n.live) AS stored, count(CASE WHEN NOT n.live THEN 1 END) AS closed,
       count(CASE WHEN n:Placeholder THEN 1 END) AS placeholders, count(n.embedding_1) AS embedded
  RETURN 5 AS place, 'entity' AS kind, stored, closed, placeholders, embedded
  UNION ALL
  MATCH (:Entity {namespace: $namespace})-[r:RELATES_TO]->()
  WITH count(r) AS stored, count(CASE WHEN NOT r.live THEN 1 END) AS closed
  RETURN 6 AS place, 'relationship' AS kind, stored, closed, 0 AS placeholders, 0 AS embedded
}
RETURN kind, stored, closed, placeholders, embedded
ORDER BY place
