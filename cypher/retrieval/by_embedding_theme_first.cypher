// Memory by embedding in the reference's order: all facts of the nearest themes first, then the nearest facts; filtered afterwards.
//
// params:
//   $namespace           : STRING
//   $limit               : INTEGER                 the most records of each kind
//   $asked               : INTEGER                 how many the index is asked for, some more than $limit: at its cut it keeps any of equals
//   $embedding           : VECTOR                  of the namespace's embedding space
//   $least               : FLOAT                   the least cosine, included
//   $valid_at            : ZONED DATETIME | NULL   only what holds at this instant; NULL: windows are not looked at
//   $changed_since       : ZONED DATETIME | NULL   only facts that began or end after this instant
//   $tags                : LIST<STRING>            only facts with one of these; []: no filter
//   $include_invalidated : BOOLEAN                 closed records too
//   $believed_at         : ZONED DATETIME | NULL   what had been recorded, and was not yet closed, at this instant; NULL: now
//   $relation_types      : LIST<STRING> | NULL     only these edges; NULL: all
//   $entity_types        : LIST<STRING> | NULL     only entities of these types are returned; NULL: all
// returns (one row), each in order, of each record a list of its fields in the order that graph/listed.py has:
//   themes, facts, episodes, entities, relationships : LIST<LIST>
//   scores : LIST<[STRING, FLOAT]>   fact id and cosine of the returned facts that the search itself found
//
// why: everything below the two searches works on the facts of at most $limit themes. Here filters come after the searches and
// may leave fewer facts than exist; retrieval.by_embedding filters inside.
CYPHER 25
OPTIONAL MATCH (whose:Namespace {name: $namespace})
WITH whose WHERE whose.left_embedding_1 IS NULL   // no row for who still searches in a space that was left
CALL () {
  MATCH (t:Theme) SEARCH t IN (VECTOR INDEX theme_embedding_1 FOR $embedding WHERE t.namespace = $namespace LIMIT $asked) SCORE AS score
  WITH t, 2 * score - 1 AS similarity WHERE similarity >= $least
  WITH t, similarity ORDER BY similarity DESC, t.id LIMIT $limit
  RETURN collect(t) AS found
}
CALL () {
  MATCH (f:Fact) SEARCH f IN (VECTOR INDEX fact_embedding_1 FOR $embedding WHERE f.namespace = $namespace LIMIT $asked) SCORE AS score
  WITH f, 2 * score - 1 AS similarity WHERE similarity >= $least
  WITH f, similarity ORDER BY similarity DESC, f.valid_from DESC, f.id LIMIT $limit
  RETURN collect(f) AS hits, collect(similarity) AS similarities
}
CALL (found, hits) {
  CALL (found, hits) {
    UNWIND range(0, size(found) - 1) AS rank
    WITH rank, found[rank] AS t
    MATCH (t)-[member:HAS_FACT]->(f:Fact)
    RETURN f, [0, rank, member.positions[0]] AS place
   UNION ALL
    UNWIND range(0, size(hits) - 1) AS rank
    RETURN hits[rank] AS f, [1, rank, 0] AS place
  }
  WITH f, min(place) AS place
  WHERE (f.live OR ($include_invalidated AND f.live IS NOT NULL) OR f.closed_at > $believed_at)
    AND ($believed_at IS NULL OR f.recorded_at <= $believed_at)
    AND (NOT f.quarantined OR 'quarantined' IN $tags)
    AND ($tags = [] OR EXISTS { (f)-[:TAGGED]->(tag:Tag) WHERE tag.name IN $tags })
    AND ($valid_at IS NULL OR (f.valid_from <= $valid_at AND f.valid_until > $valid_at))
    AND ($changed_since IS NULL OR f.valid_from > $changed_since
      OR (f.valid_until > $changed_since AND f.valid_until < datetime({year: 10000, timezone: 'Z'})))
  WITH f ORDER BY place LIMIT $limit
  RETURN collect(f) AS facts
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
CALL (facts) {
  UNWIND range(0, size(facts) - 1) AS rank
  WITH rank, facts[rank] AS f
  MATCH (f)-[mention:MENTIONS]->(e:Entity) WHERE (e.live OR e.invalidated_at > $believed_at OR ($include_invalidated AND e.live IS NOT NULL))
    AND ($believed_at IS NULL OR e.created_at <= $believed_at)
  WITH e, min([rank, mention.positions[0]]) AS place ORDER BY place
  RETURN collect(e) AS mentioned
}
CALL (mentioned) {
  UNWIND range(0, size(mentioned) - 1) AS rank
  WITH rank, mentioned[rank] AS e
  MATCH (e)-[r:RELATES_TO]-(other) WHERE other IN mentioned
    AND (r.live OR r.closed_at > $believed_at OR $include_invalidated)
    AND ($believed_at IS NULL OR r.recorded_at <= $believed_at)
    AND ($valid_at IS NULL OR (r.valid_from <= $valid_at AND r.valid_until > $valid_at))
    AND ($relation_types IS NULL OR r.relation_type IN $relation_types)
  WITH r, min([rank, r.id]) AS place ORDER BY place LIMIT $limit
  RETURN collect([r.id, r.source_id, r.target_id, r.relation_type, r.weight, toString(r.valid_from), toString(r.recorded_at),
    CASE WHEN r.provenance_source IS NOT NULL THEN [r.provenance_source, toString(r.provenance_created_at),
      CASE WHEN coalesce(r.provenance_agent_id, r.provenance_tool_name, r.provenance_run_id, r.provenance_node_id, toString(r.provenance_confidence)) IS NOT NULL
        THEN [r.provenance_agent_id, r.provenance_tool_name, r.provenance_run_id, r.provenance_node_id, r.provenance_confidence] END] END,
    CASE WHEN r.fact_id IS NOT NULL OR r.invalidated_by IS NOT NULL OR r.closed_at IS NOT NULL OR r.attributes <> '{}' OR r.valid_until < datetime({year: 10000, timezone: 'Z'})
      THEN [r.fact_id, nullIf(r.attributes, '{}'), r.invalidated_by, toString(nullIf(r.valid_until, datetime({year: 10000, timezone: 'Z'}))), toString(r.closed_at)] END]) AS relationships
}
WITH *, [n IN mentioned WHERE $entity_types IS NULL OR n.entity_type IN $entity_types | n][..$limit] AS kept
RETURN [t IN found | [t.id, t.label, t.description,
  CASE WHEN t.provenance_source IS NOT NULL THEN [t.provenance_source, toString(t.provenance_created_at),
    CASE WHEN coalesce(t.provenance_agent_id, t.provenance_tool_name, t.provenance_run_id, t.provenance_node_id, toString(t.provenance_confidence)) IS NOT NULL
      THEN [t.provenance_agent_id, t.provenance_tool_name, t.provenance_run_id, t.provenance_node_id, t.provenance_confidence] END] END,
  COLLECT { MATCH (t)-[x:HAS_FACT]->(n) UNWIND x.positions AS p RETURN n.id ORDER BY p }]] AS themes,
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
  relationships,
  [place IN range(0, size(hits) - 1) WHERE hits[place] IN facts | [hits[place].id, similarities[place]]] AS scores
