// Memory around entities: the walk of retrieval.subgraph, the facts of what it visits, their themes and episodes.
//
// params:
//   $namespace           : STRING
//   $seeds               : LIST<STRING>            entity ids in the caller's order, without repeats
//   $max_hops            : INTEGER                 0 to 5
//   $max_entities        : INTEGER                 the cap, 0 or more; a seed that is missing or closed uses up a place
//   $hub_degree          : INTEGER                 an entity with more relationships than this is a hub
//   $valid_at            : ZONED DATETIME | NULL   edges must hold at this instant; NULL: windows are not looked at
//   $relation_types      : LIST<STRING> | NULL     only these edges are walked and returned; NULL: all
//   $include_invalidated : BOOLEAN                 also walk and return what was closed; placeholders stay hidden
//   $believed_at         : ZONED DATETIME | NULL   what had been recorded, and was not yet closed, at this instant; NULL: now
//   $limit               : INTEGER                 the most records of each kind
//   $changed_since       : ZONED DATETIME | NULL   only facts that began or end after this instant
//   $tags                : LIST<STRING>            only facts with one of these; []: no filter
//   $entity_types        : LIST<STRING> | NULL     only entities of these types are returned; NULL: all
// returns (one row), each in order, of each record a list of its fields in the order that graph/listed.py has:
//   themes, facts, episodes, entities, relationships : LIST<LIST>
//   met_hub : BOOLEAN   an entity to expand is a hub: the rest is void, run retrieval.by_entities_hubs
//
// why: the walk is explained in retrieval.subgraph. Facts come entity by entity in visiting order, newest first.
CYPHER 25
WITH $seeds[..$max_entities] AS first
CALL (first) {
  UNWIND range(0, size(first) - 1) AS position
  MATCH (seed:Entity {namespace: $namespace, id: first[position]})
  WHERE (seed.live OR seed.invalidated_at > $believed_at OR ($include_invalidated AND seed.live IS NOT NULL))
    AND ($believed_at IS NULL OR seed.created_at <= $believed_at)
  WITH seed ORDER BY position
  RETURN collect(seed) AS l0
}
WITH l0, l0 AS visited, size(first) AS used,
     $max_hops > 0 AND any(n IN l0 WHERE COUNT { (n)-[:RELATES_TO]-() } > $hub_degree) AS met_hub
CALL (l0, visited, used, met_hub) {
  UNWIND CASE WHEN $max_hops < 1 OR used >= $max_entities OR met_hub THEN [] ELSE range(0, size(l0) - 1) END AS position
  WITH position, l0[position] AS parent
  MATCH (parent)-[r:RELATES_TO]-(other)
  WHERE (r.live OR r.closed_at > $believed_at OR $include_invalidated)
    AND ($believed_at IS NULL OR r.recorded_at <= $believed_at)
    AND ($valid_at IS NULL OR (r.valid_from <= $valid_at AND r.valid_until > $valid_at))
    AND ($relation_types IS NULL OR r.relation_type IN $relation_types)
    AND (other.live OR other.invalidated_at > $believed_at OR ($include_invalidated AND other.live IS NOT NULL))
    AND ($believed_at IS NULL OR other.created_at <= $believed_at)
    AND NOT other IN visited
  WITH other, min([position, r.id]) AS discovery ORDER BY discovery LIMIT $max_entities
  WITH collect(other) AS found
  RETURN found[..$max_entities - used] AS l1
}
WITH l0, l1, visited + l1 AS visited, used + size(l1) AS used,
     met_hub OR ($max_hops > 1 AND any(n IN l1 WHERE COUNT { (n)-[:RELATES_TO]-() } > $hub_degree)) AS met_hub
CALL (l1, visited, used, met_hub) {
  UNWIND CASE WHEN $max_hops < 2 OR used >= $max_entities OR met_hub THEN [] ELSE range(0, size(l1) - 1) END AS position
  WITH position, l1[position] AS parent
  MATCH (parent)-[r:RELATES_TO]-(other)
  WHERE (r.live OR r.closed_at > $believed_at OR $include_invalidated)
    AND ($believed_at IS NULL OR r.recorded_at <= $believed_at)
    AND ($valid_at IS NULL OR (r.valid_from <= $valid_at AND r.valid_until > $valid_at))
    AND ($relation_types IS NULL OR r.relation_type IN $relation_types)
    AND (other.live OR other.invalidated_at > $believed_at OR ($include_invalidated AND other.live IS NOT NULL))
    AND ($believed_at IS NULL OR other.created_at <= $believed_at)
    AND NOT other IN visited
  WITH other, min([position, r.id]) AS discovery ORDER BY discovery LIMIT $max_entities
  WITH collect(other) AS found
  RETURN found[..$max_entities - used] AS l2
}
WITH l0, l1, l2, visited + l2 AS visited, used + size(l2) AS used,
     met_hub OR ($max_hops > 2 AND any(n IN l2 WHERE COUNT { (n)-[:RELATES_TO]-() } > $hub_degree)) AS met_hub
CALL (l2, visited, used, met_hub) {
  UNWIND CASE WHEN $max_hops < 3 OR used >= $max_entities OR met_hub THEN [] ELSE range(0, size(l2) - 1) END AS position
  WITH position, l2[position] AS parent
  MATCH (parent)-[r:RELATES_TO]-(other)
  WHERE (r.live OR r.closed_at > $believed_at OR $include_invalidated)
    AND ($believed_at IS NULL OR r.recorded_at <= $believed_at)
    AND ($valid_at IS NULL OR (r.valid_from <= $valid_at AND r.valid_until > $valid_at))
    AND ($relation_types IS NULL OR r.relation_type IN $relation_types)
    AND (other.live OR other.invalidated_at > $believed_at OR ($include_invalidated AND other.live IS NOT NULL))
    AND ($believed_at IS NULL OR other.created_at <= $believed_at)
    AND NOT other IN visited
  WITH other, min([position, r.id]) AS discovery ORDER BY discovery LIMIT $max_entities
  WITH collect(other) AS found
  RETURN found[..$max_entities - used] AS l3
}
WITH l0, l1, l2, l3, visited + l3 AS visited, used + size(l3) AS used,
     met_hub OR ($max_hops > 3 AND any(n IN l3 WHERE COUNT { (n)-[:RELATES_TO]-() } > $hub_degree)) AS met_hub
CALL (l3, visited, used, met_hub) {
  UNWIND CASE WHEN $max_hops < 4 OR used >= $max_entities OR met_hub THEN [] ELSE range(0, size(l3) - 1) END AS position
  WITH position, l3[position] AS parent
  MATCH (parent)-[r:RELATES_TO]-(other)
  WHERE (r.live OR r.closed_at > $believed_at OR $include_invalidated)
    AND ($believed_at IS NULL OR r.recorded_at <= $believed_at)
    AND ($valid_at IS NULL OR (r.valid_from <= $valid_at AND r.valid_until > $valid_at))
    AND ($relation_types IS NULL OR r.relation_type IN $relation_types)
    AND (other.live OR other.invalidated_at > $believed_at OR ($include_invalidated AND other.live IS NOT NULL))
    AND ($believed_at IS NULL OR other.created_at <= $believed_at)
    AND NOT other IN visited
  WITH other, min([position, r.id]) AS discovery ORDER BY discovery LIMIT $max_entities
  WITH collect(other) AS found
  RETURN found[..$max_entities - used] AS l4
}
WITH l0, l1, l2, l3, l4, visited + l4 AS visited, used + size(l4) AS used,
     met_hub OR ($max_hops > 4 AND any(n IN l4 WHERE COUNT { (n)-[:RELATES_TO]-() } > $hub_degree)) AS met_hub
CALL (l4, visited, used, met_hub) {
  UNWIND CASE WHEN $max_hops < 5 OR used >= $max_entities OR met_hub THEN [] ELSE range(0, size(l4) - 1) END AS position
  WITH position, l4[position] AS parent
  MATCH (parent)-[r:RELATES_TO]-(other)
  WHERE (r.live OR r.closed_at > $believed_at OR $include_invalidated)
    AND ($believed_at IS NULL OR r.recorded_at <= $believed_at)
    AND ($valid_at IS NULL OR (r.valid_from <= $valid_at AND r.valid_until > $valid_at))
    AND ($relation_types IS NULL OR r.relation_type IN $relation_types)
    AND (other.live OR other.invalidated_at > $believed_at OR ($include_invalidated AND other.live IS NOT NULL))
    AND ($believed_at IS NULL OR other.created_at <= $believed_at)
    AND NOT other IN visited
  WITH other, min([position, r.id]) AS discovery ORDER BY discovery LIMIT $max_entities
  WITH collect(other) AS found
  RETURN found[..$max_entities - used] AS l5
}
WITH l0, l1, l2, l3, l4, l5, visited + l5 AS visited, used + size(l5) AS used, met_hub
WITH visited, met_hub, CASE WHEN met_hub THEN [] ELSE CASE $max_hops WHEN 0 THEN [] WHEN 1 THEN l0 WHEN 2 THEN l0 + l1 WHEN 3 THEN l0 + l1 + l2
     WHEN 4 THEN l0 + l1 + l2 + l3 ELSE l0 + l1 + l2 + l3 + l4 END END AS expanded
CALL (expanded, visited) {
  UNWIND range(0, size(expanded) - 1) AS position
  WITH position, expanded[position] AS parent
  MATCH (parent)-[r:RELATES_TO]-(other)
  WHERE (r.live OR r.closed_at > $believed_at OR $include_invalidated)
    AND ($believed_at IS NULL OR r.recorded_at <= $believed_at)
    AND ($valid_at IS NULL OR (r.valid_from <= $valid_at AND r.valid_until > $valid_at))
    AND ($relation_types IS NULL OR r.relation_type IN $relation_types)
    AND other IN visited
  WITH r, min([position, r.id]) AS walked ORDER BY walked
  WITH r LIMIT $limit
  RETURN collect([r.id, r.source_id, r.target_id, r.relation_type, r.weight, toString(r.valid_from), toString(r.recorded_at),
    CASE WHEN r.provenance_source IS NOT NULL THEN [r.provenance_source, toString(r.provenance_created_at),
      CASE WHEN coalesce(r.provenance_agent_id, r.provenance_tool_name, r.provenance_run_id, r.provenance_node_id, toString(r.provenance_confidence)) IS NOT NULL
        THEN [r.provenance_agent_id, r.provenance_tool_name, r.provenance_run_id, r.provenance_node_id, r.provenance_confidence] END] END,
    CASE WHEN r.fact_id IS NOT NULL OR r.invalidated_by IS NOT NULL OR r.closed_at IS NOT NULL OR r.attributes <> '{}' OR r.valid_until < datetime({year: 10000, timezone: 'Z'})
      THEN [r.fact_id, nullIf(r.attributes, '{}'), r.invalidated_by, toString(nullIf(r.valid_until, datetime({year: 10000, timezone: 'Z'}))), toString(r.closed_at)] END]) AS relationships
}
CALL (visited) {
  UNWIND visited AS n                              // lazily, in order: entities behind those whose facts fill the limit are not looked at
  CALL (n) {
    MATCH (n)<-[:MENTIONS]-(f:Fact)
    WHERE (f.live OR ($include_invalidated AND f.live IS NOT NULL) OR f.closed_at > $believed_at)
      AND ($believed_at IS NULL OR f.recorded_at <= $believed_at)
      AND (NOT f.quarantined OR 'quarantined' IN $tags)
      AND ($tags = [] OR EXISTS { (f)-[:TAGGED]->(tag:Tag) WHERE tag.name IN $tags })
      AND ($valid_at IS NULL OR (f.valid_from <= $valid_at AND f.valid_until > $valid_at))
      AND ($changed_since IS NULL OR f.valid_from > $changed_since
        OR (f.valid_until > $changed_since AND f.valid_until < datetime({year: 10000, timezone: 'Z'})))
    RETURN f ORDER BY f.valid_from DESC, f.id LIMIT $limit
  }
  WITH DISTINCT f LIMIT $limit
  RETURN collect(f) AS facts
}
CALL (facts) {
  UNWIND range(0, size(facts) - 1) AS rank
  WITH rank, facts[rank] AS f
  MATCH (t:Theme {namespace: $namespace, id: f.theme_id}) WHERE NOT t:Placeholder
  WITH t, min(rank) AS place ORDER BY place LIMIT $limit
  RETURN collect([t.id, t.label, t.description,
    CASE WHEN t.provenance_source IS NOT NULL THEN [t.provenance_source, toString(t.provenance_created_at),
      CASE WHEN coalesce(t.provenance_agent_id, t.provenance_tool_name, t.provenance_run_id, t.provenance_node_id, toString(t.provenance_confidence)) IS NOT NULL
        THEN [t.provenance_agent_id, t.provenance_tool_name, t.provenance_run_id, t.provenance_node_id, t.provenance_confidence] END] END,
    COLLECT { MATCH (t)-[x:HAS_FACT]->(n) UNWIND x.positions AS p RETURN n.id ORDER BY p }]) AS themes
}
CALL (facts) {
  UNWIND range(0, size(facts) - 1) AS rank
  WITH rank, facts[rank] AS f
  MATCH (f)-[source:FROM_EPISODE]->(e:Episode) WHERE NOT e:Placeholder
  WITH e, min([rank, source.positions[0]]) AS place ORDER BY place LIMIT $limit
  RETURN collect([e.id, e.topic, e.unread_message_ids, toString(e.started_at), toString(e.ended_at),
    CASE WHEN e.provenance_source IS NOT NULL THEN [e.provenance_source, toString(e.provenance_created_at),
      CASE WHEN coalesce(e.provenance_agent_id, e.provenance_tool_name, e.provenance_run_id, e.provenance_node_id, toString(e.provenance_confidence)) IS NOT NULL
        THEN [e.provenance_agent_id, e.provenance_tool_name, e.provenance_run_id, e.provenance_node_id, e.provenance_confidence] END] END,
    COLLECT {
      MATCH (e)-[x:HAS_FACT|HAS_MESSAGE]->(m) WHERE m:Fact OR NOT m:Placeholder
      UNWIND x.positions AS p
      RETURN CASE WHEN m:Fact THEN p + ' ' + m.id
        WHEN m.provenance_source IS NULL THEN p + ' ' + m.role + ' ' + toString(m.timestamp) + ' ' + m.id
          + '\n' + coalesce(':' + replace(replace(m.conversation, '\\', '\\\\'), '\n', '\\n'), '')
          + '\n' + coalesce(':' + replace(replace(m.speaker, '\\', '\\\\'), '\n', '\\n'), '') + '\n' + m.metadata + '\n' + m.content
        ELSE [p + ' ' + m.role + ' ' + toString(m.timestamp) + ' ' + m.id
          + '\n' + coalesce(':' + replace(replace(m.conversation, '\\', '\\\\'), '\n', '\\n'), '')
          + '\n' + coalesce(':' + replace(replace(m.speaker, '\\', '\\\\'), '\n', '\\n'), '') + '\n' + m.metadata + '\n' + m.content, [m.provenance_source, toString(m.provenance_created_at),
          CASE WHEN coalesce(m.provenance_agent_id, m.provenance_tool_name, m.provenance_run_id, m.provenance_node_id, toString(m.provenance_confidence)) IS NOT NULL
            THEN [m.provenance_agent_id, m.provenance_tool_name, m.provenance_run_id, m.provenance_node_id, m.provenance_confidence] END]] END
    }]) AS episodes
}
WITH *, visited AS mentioned
WITH *, [n IN mentioned WHERE $entity_types IS NULL OR n.entity_type IN $entity_types | n][..$limit] AS kept
RETURN themes AS themes,
  [f IN facts | [f.id, f.content, f.theme_id, f.access_count, toString(f.valid_from), toString(f.recorded_at),
    CASE WHEN f.provenance_source IS NOT NULL THEN [f.provenance_source, toString(f.provenance_created_at),
      CASE WHEN coalesce(f.provenance_agent_id, f.provenance_tool_name, f.provenance_run_id, f.provenance_node_id, toString(f.provenance_confidence)) IS NOT NULL
        THEN [f.provenance_agent_id, f.provenance_tool_name, f.provenance_run_id, f.provenance_node_id, f.provenance_confidence] END] END,
    COLLECT { MATCH (f)-[x:MENTIONS|FROM_EPISODE|CITES]->(n) RETURN type(x) + ' ' + reduce(places = '', p IN x.positions | places + p + ' ') + n.id },
    CASE WHEN f.statement IS NOT NULL OR f.invalidated_by IS NOT NULL OR f.closed_at IS NOT NULL OR f.last_accessed_at IS NOT NULL
        OR f.valid_until < datetime({year: 10000, timezone: 'Z'}) OR EXISTS { (f)-[:TAGGED]->() }
      THEN [f.statement, f.invalidated_by, toString(nullIf(f.valid_until, datetime({year: 10000, timezone: 'Z'}))), toString(f.closed_at), toString(f.last_accessed_at),
        COLLECT { MATCH (f)-[x:TAGGED]->(n) UNWIND x.positions AS p RETURN n.name ORDER BY p }] END]] AS facts,
  episodes,
  [n IN kept | [n.id, n.name, n.entity_type, toString(n.created_at), toString(n.updated_at),
    CASE WHEN n.provenance_source IS NOT NULL THEN [n.provenance_source, toString(n.provenance_created_at),
      CASE WHEN coalesce(n.provenance_agent_id, n.provenance_tool_name, n.provenance_run_id, n.provenance_node_id, toString(n.provenance_confidence)) IS NOT NULL
        THEN [n.provenance_agent_id, n.provenance_tool_name, n.provenance_run_id, n.provenance_node_id, n.provenance_confidence] END] END,
    CASE WHEN n.superseded_by IS NOT NULL OR n.invalidated_at IS NOT NULL OR n.attributes <> '{}'
      THEN [nullIf(n.attributes, '{}'), n.superseded_by, toString(n.invalidated_at)] END]] AS entities,
  relationships, met_hub
