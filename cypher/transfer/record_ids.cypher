// Ids of stored records of one kind, a page at a time.
//
// params:
//   $namespace : STRING
//   $kind      : STRING    kind of record; `message`: those alone that are in no episode, since an episode brings its own
//   $after     : STRING    the last id of the page before; '': from the start
//   $limit     : INTEGER
// returns:
//   id : STRING   in order
//
// why: one branch runs. Each takes its order from the index of the key, so that a page reads no more than it gives.
CYPHER 25
CALL () {
  WITH 1 AS go WHERE $kind = 'entity'
  MATCH (n:Entity {namespace: $namespace}) WHERE n.id > $after AND NOT n:Placeholder
  RETURN n.id AS id ORDER BY n.namespace, n.id LIMIT $limit
 UNION ALL
  WITH 1 AS go WHERE $kind = 'relationship'
  MATCH ()-[r:RELATES_TO]->() WHERE r.namespace = $namespace AND r.id > $after
  RETURN r.id AS id ORDER BY r.namespace, r.id LIMIT $limit
 UNION ALL
  WITH 1 AS go WHERE $kind = 'message'
  MATCH (n:Message {namespace: $namespace})
  WHERE n.id > $after AND NOT n:Placeholder AND NOT EXISTS { (n)<-[:HAS_MESSAGE]-() }
  RETURN n.id AS id ORDER BY n.namespace, n.id LIMIT $limit
 UNION ALL
  WITH 1 AS go WHERE $kind = 'episode'
  MATCH (n:Episode {namespace: $namespace}) WHERE n.id > $after AND NOT n:Placeholder
  RETURN n.id AS id ORDER BY n.namespace, n.id LIMIT $limit
 UNION ALL
  WITH 1 AS go WHERE $kind = 'fact'
  MATCH (n:Fact {namespace: $namespace}) WHERE n.id > $after AND NOT n:Placeholder
  RETURN n.id AS id ORDER BY n.namespace, n.id LIMIT $limit
 UNION ALL
  WITH 1 AS go WHERE $kind = 'theme'
  MATCH (n:Theme {namespace: $namespace}) WHERE n.id > $after AND NOT n:Placeholder
  RETURN n.id AS id ORDER BY n.namespace, n.id LIMIT $limit
}
RETURN id
ORDER BY id
