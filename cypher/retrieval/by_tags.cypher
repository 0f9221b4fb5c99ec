// Memory by tags: the newest facts with one of them, their themes and episodes.
//
// params:
//   $namespace           : STRING
//   $limit               : INTEGER                 the most records of each kind
//   $valid_at            : ZONED DATETIME | NULL   only what holds at this instant; NULL: windows are not looked at
//   $changed_since       : ZONED DATETIME | NULL   only facts that began or end after this instant
//   $tags                : LIST<STRING>            only facts with one of these; []: no filter
//   $include_invalidated : BOOLEAN                 closed records too
//   $believed_at         : ZONED DATETIME | NULL   what had been recorded, and was not yet closed, at this instant; NULL: now
// returns (one row), each in order, fields as in the kind's own get query, without embeddings; messages as lists of their fields:
//   themes, facts, episodes : LIST<MAP>
CYPHER 25
CALL () {
  UNWIND $tags AS name
  MATCH (f:Fact)-[:TAGGED]->(:Tag {namespace: $namespace, name: name})
  WITH DISTINCT f
  WHERE (f.live OR $include_invalidated OR f.closed_at > $believed_at)
    AND ($believed_at IS NULL OR f.recorded_at <= $believed_at)
    AND (NOT f.quarantined OR 'quarantined' IN $tags)
    AND ($valid_at IS NULL OR (f.valid_from <= $valid_at AND f.valid_until > $valid_at))
    AND ($changed_since IS NULL OR f.valid_from > $changed_since
      OR (f.valid_until > $changed_since AND f.valid_until < datetime({year: 10000, timezone: 'Z'})))
  WITH f ORDER BY f.valid_from DESC, f.id LIMIT $limit
  RETURN collect(f) AS facts
}
CALL (facts) {
  UNWIND range(0, size(facts) - 1) AS rank
  WITH rank, facts[rank] AS f
  MATCH (t:Theme {namespace: $namespace, id: f.theme_id}) WHERE NOT t:Placeholder
  WITH t, min(rank) AS place ORDER BY place LIMIT $limit
  RETURN collect(t {.id, .label, .description,
    .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
    provenance_created_at: toString(t.provenance_created_at),
    fact_ids: COLLECT { MATCH (t)-[x:HAS_FACT]->(n) UNWIND x.positions AS p RETURN n.id ORDER BY p }}) AS themes
}
CALL (facts) {
  UNWIND range(0, size(facts) - 1) AS rank
  WITH rank, facts[rank] AS f
  MATCH (f)-[source:FROM_EPISODE]->(e:Episode) WHERE NOT e:Placeholder
  WITH e, min([rank, source.positions[0]]) AS place ORDER BY place LIMIT $limit
  RETURN collect(e {.id, .topic, .unread_message_ids, started_at: toString(e.started_at), ended_at: toString(e.ended_at),
    .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
    provenance_created_at: toString(e.provenance_created_at),
    fact_ids: COLLECT { MATCH (e)-[x:HAS_FACT]->(f) UNWIND x.positions AS p RETURN f.id ORDER BY p },
    messages: COLLECT {
      MATCH (e)-[x:HAS_MESSAGE]->(m) WHERE NOT m:Placeholder
      UNWIND x.positions AS p
      RETURN [m.id, m.role, m.content, m.conversation, m.speaker, m.metadata, toString(m.timestamp),
        m.provenance_source, m.provenance_agent_id, m.provenance_tool_name, m.provenance_run_id, m.provenance_node_id, m.provenance_confidence,
        toString(m.provenance_created_at)]
      ORDER BY p
    }}) AS episodes
}
RETURN themes,
  [f IN facts | f {.id, .content, .statement, .theme_id, .invalidated_by, .access_count,
    valid_from: toString(f.valid_from), valid_until: toString(nullIf(f.valid_until, datetime({year: 10000, timezone: 'Z'}))),
    recorded_at: toString(f.recorded_at), closed_at: toString(f.closed_at), last_accessed_at: toString(f.last_accessed_at),
    .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
    provenance_created_at: toString(f.provenance_created_at),
    entity_ids: COLLECT { MATCH (f)-[x:MENTIONS]->(n) UNWIND x.positions AS p RETURN n.id ORDER BY p },
    source_episode_ids: COLLECT { MATCH (f)-[x:FROM_EPISODE]->(n) UNWIND x.positions AS p RETURN n.id ORDER BY p },
    source_message_ids: COLLECT { MATCH (f)-[x:CITES]->(n) UNWIND x.positions AS p RETURN n.id ORDER BY p },
    tags: COLLECT { MATCH (f)-[x:TAGGED]->(n) UNWIND x.positions AS p RETURN n.name ORDER BY p }}] AS facts,
  episodes
