// Puts vectors of another space on records, beside those that are read now. Run behind reembedding.lock.
//
// params:
//   $namespace : STRING
//   $new       : STRING   `embedding_<n>` of that space
//   $kind      : STRING   as in reembedding.missing, or episode, or theme
//   $rows : LIST<MAP>:
//     key    : LIST<ANY>       of the record
//     text   : STRING | NULL   from which the vector was made: a record whose text has changed is passed over, and so is
//                              an episode or theme that has got vectors of its own to be made from; of these NULL: from them
//     vector : VECTOR | NULL   NULL: none can be made, which is noted on the record
// returns (one row):
//   put : INTEGER
CYPHER 25
UNWIND $rows AS row
CALL (row) {
  WITH row WHERE $kind = 'message'
  MATCH (n:Message {namespace: $namespace, id: row.key[0]}) WHERE coalesce(n.speaker, n.role) + ': ' + n.content = row.text
  RETURN n
 UNION ALL
  WITH row WHERE $kind = 'entity'
  MATCH (n:Entity {namespace: $namespace, id: row.key[0]}) WHERE n.name = row.text
  RETURN n
 UNION ALL
  WITH row WHERE $kind = 'episode'
  MATCH (n:Episode {namespace: $namespace, id: row.key[0]})
  WHERE row.text IS NULL OR (n.topic = row.text AND NOT EXISTS { MATCH (n)-[:HAS_MESSAGE]->(m) WHERE m[$new] IS NOT NULL })
  RETURN n
 UNION ALL
  WITH row WHERE $kind = 'fact'
  MATCH (n:Fact {namespace: $namespace, id: row.key[0]}) WHERE n.content = row.text
  RETURN n
 UNION ALL
  WITH row WHERE $kind = 'theme'
  MATCH (n:Theme {namespace: $namespace, id: row.key[0]})
  WHERE row.text IS NULL OR NOT EXISTS { MATCH (n)-[:HAS_FACT]->(f) WHERE f[$new] IS NOT NULL }
  RETURN n
 UNION ALL
  WITH row WHERE $kind = 'tier_item'
  MATCH (n:TierItem {namespace: $namespace, tier: row.key[0], scope: row.key[1], id: row.key[2]}) WHERE n.text = row.text
  RETURN n
 UNION ALL
  WITH row WHERE $kind = 'kept'
  MATCH (n:PassEntry {namespace: $namespace, pass_id: row.key[0], position: row.key[1]})
  WHERE coalesce(n.before, '') = coalesce(row.text, '')
  RETURN n
}
WITH n, row WHERE coalesce(n.embedding_1, n.embedding) IS NOT NULL
SET n['no_' + $new] = CASE WHEN row.vector IS NULL THEN true END
WITH n, row
CALL (n, row) {
  WITH n, row WHERE row.vector IS NOT NULL
  CALL db.create.setNodeVectorProperty(n, $new, row.vector)
}
RETURN count(*) AS put
