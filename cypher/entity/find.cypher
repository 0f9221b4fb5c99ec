// Entities by id: all, or those of one type.
//
// params:
//   $namespace           : STRING
//   $entity_type         : STRING | NULL
//   $include_invalidated : BOOLEAN
//   $limit, $offset      : INTEGER
// returns:
//   entity : MAP   the record's fields, as in entity.get
CYPHER 25
CALL () {
  WITH 1 AS go WHERE $entity_type IS NULL
  MATCH (n:Entity {namespace: $namespace}) WHERE n.id >= '' AND n.live IS NOT NULL
    AND ($include_invalidated OR n.invalidated_at IS NULL)
  RETURN n ORDER BY n.id SKIP $offset LIMIT $limit
 UNION ALL
  WITH 1 AS go WHERE $entity_type IS NOT NULL
  MATCH (n:Entity {namespace: $namespace, entity_type: $entity_type}) WHERE n.id >= '' AND n.live IS NOT NULL
    AND ($include_invalidated OR n.invalidated_at IS NULL)
  RETURN n ORDER BY n.id SKIP $offset LIMIT $limit
}
RETURN n {.id, .name, .entity_type, .attributes, .superseded_by,
  created_at: toString(n.created_at), updated_at: toString(n.updated_at), invalidated_at: toString(n.invalidated_at),
  .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
  provenance_created_at: toString(n.provenance_created_at),
  embedding: CASE WHEN n.embedding_1 IS NOT NULL THEN vector(n.embedding_1, 384, FLOAT32) END} AS entity
ORDER BY n.id
