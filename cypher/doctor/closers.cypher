// Records in the middle of chains of replacement that still hold, a page at a time: what cycles are made of.
//
// params:
//   $namespace : STRING
//   $kind      : STRING    `fact` or `entity`
//   $after     : STRING    the last id of the page before; '': from the start
//   $limit     : INTEGER
// returns, in order:
//   id     : STRING   a closed record that itself replaced another
//   closer : STRING   the closed record of its kind that replaced it
//
// why: both ends of a chain can be in no cycle, and most chains have no middle.
CYPHER 25
CALL () {
  WITH 1 AS go WHERE $kind = 'fact'
  MATCH (n:Fact {namespace: $namespace}) WHERE n.id > $after AND NOT n.live AND EXISTS { (n)-[:SUPERSEDES]->() }
  RETURN n, n.invalidated_by AS closer
 UNION ALL
  WITH 1 AS go WHERE $kind = 'entity'
  MATCH (n:Entity {namespace: $namespace}) WHERE n.id > $after AND NOT n.live AND EXISTS { (n)-[:SUPERSEDES]->() }
  RETURN n, n.superseded_by AS closer
}
WITH n, closer WHERE EXISTS { MATCH (n)<-[:SUPERSEDES]-(newer) WHERE newer.id = closer AND NOT newer.live }
RETURN n.id AS id, closer
ORDER BY id LIMIT $limit
