// Texts of records of one kind that have a vector, and none of the space that the namespace moves to; a page at a time.
//
// params:
//   $namespace : STRING
//   $new       : STRING          `embedding_<n>` of the space that it moves to
//   $kind      : STRING          message, entity, fact, tier_item, or kept: vectors that the audit trail keeps
//   $after     : LIST<ANY>       key of the last record of the page before; ['', '', '']: from the start (of kept ['', -1])
//   $limit     : INTEGER
// returns, in order of the key:
//   key  : LIST<ANY>             id; of an item tier, scope and id; of what is kept pass and position
//   of   : STRING | NULL         of what is kept, the kind of record that it is kept of
//   text : STRING | NULL         what is embedded, of a message as it is spoken; of what is kept the record as JSON
//
// why: one branch runs. Each takes its order from the index of the key, so that all pages together walk a kind once.
CYPHER 25
CALL () {
  WITH 1 AS go WHERE $kind = 'message'
  MATCH (n:Message {namespace: $namespace})
  WHERE n.id > $after[0] AND n.embedding_1 IS NOT NULL AND n[$new] IS NULL AND n['no_' + $new] IS NULL
  WITH n ORDER BY n.namespace, n.id LIMIT $limit
  RETURN [n.id] AS key, null AS of, coalesce(n.speaker, n.role) + ': ' + n.content AS text
 UNION ALL
  WITH 1 AS go WHERE $kind = 'entity'
  MATCH (n:Entity {namespace: $namespace})
  WHERE n.id > $after[0] AND n.embedding_1 IS NOT NULL AND n[$new] IS NULL AND n['no_' + $new] IS NULL
  WITH n ORDER BY n.namespace, n.id LIMIT $limit
  RETURN [n.id] AS key, null AS of, n.name AS text
 UNION ALL
  WITH 1 AS go WHERE $kind = 'fact'
  MATCH (n:Fact {namespace: $namespace})
  WHERE n.id > $after[0] AND n.embedding_1 IS NOT NULL AND n[$new] IS NULL AND n['no_' + $new] IS NULL
  WITH n ORDER BY n.namespace, n.id LIMIT $limit
  RETURN [n.id] AS key, null AS of, n.content AS text
 UNION ALL
  WITH 1 AS go WHERE $kind = 'tier_item'
  MATCH (n:TierItem {namespace: $namespace})
  WHERE n.tier >= $after[0] AND n.scope >= '' AND n.id >= ''
    AND (n.tier > $after[0] OR n.scope > $after[1] OR (n.scope = $after[1] AND n.id > $after[2]))
    AND n.embedding_1 IS NOT NULL AND n[$new] IS NULL AND n['no_' + $new] IS NULL
  WITH n ORDER BY n.namespace, n.tier, n.scope, n.id LIMIT $limit
  RETURN [n.tier, n.scope, n.id] AS key, null AS of, n.text AS text
 UNION ALL
  WITH 1 AS go WHERE $kind = 'kept'
  MATCH (n:PassEntry {namespace: $namespace})
  WHERE n.pass_id >= $after[0] AND n.position >= 0 AND (n.pass_id > $after[0] OR n.position > $after[1])
    AND coalesce(n.embedding_1, n.embedding) IS NOT NULL AND n[$new] IS NULL AND n['no_' + $new] IS NULL
  WITH n ORDER BY n.namespace, n.pass_id, n.position LIMIT $limit
  RETURN [n.pass_id, n.position] AS key, n.record_kind AS of, n.before AS text
}
RETURN key, of, text
ORDER BY key
