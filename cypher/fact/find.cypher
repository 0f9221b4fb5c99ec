// Facts that pass every filter, newest first.
//
// params:
//   $namespace           : STRING
//   $entity_id           : STRING | NULL   facts that mention this entity
//   $theme_id            : STRING | NULL   facts in this theme
//   $tags                : LIST<STRING>    facts with one of these; []: no filter
//   $exclude_tags        : LIST<STRING>    facts with none of these
//   $include_invalidated : BOOLEAN         closed facts too
//   $limit, $offset      : INTEGER
// returns:
//   fact : MAP   the record's fields, as in fact.get
//
// why: one branch runs, the one that starts from the fewest facts. A placeholder has no `live`. Without entity, theme or
// tags the order comes from the index, so that a page costs what it holds.
CYPHER 25
CALL () {
  WITH 1 AS go WHERE $entity_id IS NOT NULL
  MATCH (f:Fact)-[:MENTIONS]->(:Entity {namespace: $namespace, id: $entity_id})
  WHERE (f.live OR ($include_invalidated AND f.live IS NOT NULL))
    AND ($theme_id IS NULL OR f.theme_id = $theme_id)
    AND ($tags = [] OR EXISTS { (f)-[:TAGGED]->(tag:Tag) WHERE tag.name IN $tags })
    AND ($exclude_tags = [] OR NOT EXISTS { (f)-[:TAGGED]->(tag:Tag) WHERE tag.name IN $exclude_tags })
  RETURN f ORDER BY f.valid_from DESC, f.id SKIP $offset LIMIT $limit
 UNION ALL
  WITH 1 AS go WHERE $entity_id IS NULL AND $theme_id IS NOT NULL
  MATCH (f:Fact {namespace: $namespace, theme_id: $theme_id})
  WHERE (f.live OR ($include_invalidated AND f.live IS NOT NULL))
    AND ($theme_id IS NULL OR f.theme_id = $theme_id)
    AND ($tags = [] OR EXISTS { (f)-[:TAGGED]->(tag:Tag) WHERE tag.name IN $tags })
    AND ($exclude_tags = [] OR NOT EXISTS { (f)-[:TAGGED]->(tag:Tag) WHERE tag.name IN $exclude_tags })
  RETURN f ORDER BY f.valid_from DESC, f.id SKIP $offset LIMIT $limit
 UNION ALL
  WITH 1 AS go WHERE $entity_id IS NULL AND $theme_id IS NULL AND $tags <> []
  UNWIND $tags AS name
  MATCH (f:Fact)-[:TAGGED]->(:Tag {namespace: $namespace, name: name})
  WITH DISTINCT f
  WHERE (f.live OR ($include_invalidated AND f.live IS NOT NULL))
    AND ($theme_id IS NULL OR f.theme_id = $theme_id)
    AND ($tags = [] OR EXISTS { (f)-[:TAGGED]->(tag:Tag) WHERE tag.name IN $tags })
    AND ($exclude_tags = [] OR NOT EXISTS { (f)-[:TAGGED]->(tag:Tag) WHERE tag.name IN $exclude_tags })
  RETURN f ORDER BY f.valid_from DESC, f.id SKIP $offset LIMIT $limit
 UNION ALL
  WITH 1 AS go WHERE $entity_id IS NULL AND $theme_id IS NULL AND $tags = []
  MATCH (f:Fact {namespace: $namespace}) WHERE f.valid_from IS NOT NULL
    AND (f.live OR ($include_invalidated AND f.live IS NOT NULL))
    AND ($theme_id IS NULL OR f.theme_id = $theme_id)
    AND ($tags = [] OR EXISTS { (f)-[:TAGGED]->(tag:Tag) WHERE tag.name IN $tags })
    AND ($exclude_tags = [] OR NOT EXISTS { (f)-[:TAGGED]->(tag:Tag) WHERE tag.name IN $exclude_tags })
  RETURN f ORDER BY f.valid_from DESC, f.id SKIP $offset LIMIT $limit
}
RETURN f {.id, .content, .statement, .theme_id, .invalidated_by, .access_count,
  valid_from: toString(f.valid_from), valid_until: toString(nullIf(f.valid_until, datetime({year: 10000, timezone: 'Z'}))),
  recorded_at: toString(f.recorded_at), closed_at: toString(f.closed_at), last_accessed_at: toString(f.last_accessed_at),
  .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
  provenance_created_at: toString(f.provenance_created_at),
  entity_ids: COLLECT { MATCH (f)-[x:MENTIONS]->(n) UNWIND x.positions AS p RETURN n.id ORDER BY p },
  source_episode_ids: COLLECT { MATCH (f)-[x:FROM_EPISODE]->(n) UNWIND x.positions AS p RETURN n.id ORDER BY p },
  source_message_ids: COLLECT { MATCH (f)-[x:CITES]->(n) UNWIND x.positions AS p RETURN n.id ORDER BY p },
  tags: COLLECT { MATCH (f)-[x:TAGGED]->(n) UNWIND x.positions AS p RETURN n.name ORDER BY p },
  embedding: CASE WHEN f.embedding_1 IS NOT NULL THEN vector(f.embedding_1, 384, FLOAT32) END} AS fact
ORDER BY f.valid_from DESC, f.id
