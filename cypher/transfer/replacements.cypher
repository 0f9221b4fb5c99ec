// Which records took the place of which, a page of the replaced ones at a time.
//
// params:
//   $namespace : STRING
//   $kind      : STRING    `fact` or `entity`
//   $after     : STRING    the last replaced id of the page before; '': from the start
//   $limit     : INTEGER   replaced records, each with all that replaced it
// returns:
//   replacement : MAP   the record's fields, in the order of older id, newer id and pass
CYPHER 25
CALL () {
  WITH 1 AS go WHERE $kind = 'fact'
  MATCH (older:Fact {namespace: $namespace}) WHERE older.id > $after AND EXISTS { (older)<-[:SUPERSEDES]-() }
  RETURN older ORDER BY older.namespace, older.id LIMIT $limit
 UNION ALL
  WITH 1 AS go WHERE $kind = 'entity'
  MATCH (older:Entity {namespace: $namespace}) WHERE older.id > $after AND EXISTS { (older)<-[:SUPERSEDES]-() }
  RETURN older ORDER BY older.namespace, older.id LIMIT $limit
}
MATCH (newer)-[edge:SUPERSEDES]->(older)
RETURN {record_kind: $kind, newer_id: newer.id, older_id: older.id, at: toString(edge.at), reason: edge.reason,
        pass_id: edge.pass_id, undone_by: edge.undone_by} AS replacement
ORDER BY older.id, newer.id, edge.pass_id
