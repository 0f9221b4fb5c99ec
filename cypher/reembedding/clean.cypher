// Removes vectors of a space that nobody reads any more from records of one kind, a page at a time.
//
// params:
//   $namespace : STRING
//   $gone      : STRING      `embedding_<n>` of that space
//   $kind      : STRING      as in reembedding.counts
//   $after     : LIST<ANY>   as in reembedding.missing
//   $limit     : INTEGER     the most records to look at
// returns (one row):
//   last    : LIST<ANY> | NULL   key of the last record looked at; NULL: there was none
//   removed : INTEGER            vectors
//
// why: what a pass kept before vectors had numbers is in `embedding`; it is of the space that is left, unless another one
// was never made of it.
CYPHER 25
CALL () {
  WITH 1 AS go WHERE $kind = 'message'
  MATCH (n:Message {namespace: $namespace}) WHERE n.id > $after[0]
  WITH n ORDER BY n.namespace, n.id LIMIT $limit
  RETURN n, [n.id] AS key
 UNION ALL
  WITH 1 AS go WHERE $kind = 'entity'
  MATCH (n:Entity {namespace: $namespace}) WHERE n.id > $after[0]
  WITH n ORDER BY n.namespace, n.id LIMIT $limit
  RETURN n, [n.id] AS key
 UNION ALL
  WITH 1 AS go WHERE $kind = 'episode'
  MATCH (n:Episode {namespace: $namespace}) WHERE n.id > $after[0]
  WITH n ORDER BY n.namespace, n.id LIMIT $limit
  RETURN n, [n.id] AS key
 UNION ALL
  WITH 1 AS go WHERE $kind = 'fact'
  MATCH (n:Fact {namespace: $namespace}) WHERE n.id > $after[0]
  WITH n ORDER BY n.namespace, n.id LIMIT $limit
  RETURN n, [n.id] AS key
 UNION ALL
  WITH 1 AS go WHERE $kind = 'theme'
  MATCH (n:Theme {namespace: $namespace}) WHERE n.id > $after[0]
  WITH n ORDER BY n.namespace, n.id LIMIT $limit
  RETURN n, [n.id] AS key
 UNION ALL
  WITH 1 AS go WHERE $kind = 'tier_item'
  MATCH (n:TierItem {namespace: $namespace})
  WHERE n.tier >= $after[0] AND n.scope >= '' AND n.id >= ''
    AND (n.tier > $after[0] OR n.scope > $after[1] OR (n.scope = $after[1] AND n.id > $after[2]))
  WITH n ORDER BY n.namespace, n.tier, n.scope, n.id LIMIT $limit
  RETURN n, [n.tier, n.scope, n.id] AS key
 UNION ALL
  WITH 1 AS go WHERE $kind = 'kept'
  MATCH (n:PassEntry {namespace: $namespace})
  WHERE n.pass_id >= $after[0] AND n.position >= 0 AND (n.pass_id > $after[0] OR n.position > $after[1])
  WITH n ORDER BY n.namespace, n.pass_id, n.position LIMIT $limit
  RETURN n, [n.pass_id, n.position] AS key
}
WITH n, key, n[$gone] IS NOT NULL AS had,
     n:PassEntry AND n.embedding IS NOT NULL AND (n.embedding_1 IS NOT NULL OR n.no_embedding_1 IS NOT NULL) AS had_bare
FOREACH (go IN CASE WHEN had THEN [1] ELSE [] END | SET n[$gone] = null)
FOREACH (go IN CASE WHEN had_bare THEN [1] ELSE [] END | SET n.embedding = null)
FOREACH (go IN CASE WHEN n['no_' + $gone] IS NOT NULL OR n.no_embedding_1 IS NOT NULL THEN [1] ELSE [] END |
  SET n['no_' + $gone] = null, n.no_embedding_1 = null)
WITH key, had OR had_bare AS removed ORDER BY key DESC
RETURN collect(key)[0] AS last, count(CASE WHEN removed THEN 1 END) AS removed
