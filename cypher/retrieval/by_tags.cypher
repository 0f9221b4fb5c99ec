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
// returns (one row), each in order, of each record a list of its fields in the order that graph/listed.py has:
//   themes, facts, episodes : LIST<LIST>
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
RETURN themes,
  [f IN facts | [f.id, f.content, f.theme_id, f.access_count, toString(f.valid_from), toString(f.recorded_at),
    CASE WHEN f.provenance_source IS NOT NULL THEN [f.provenance_source, toString(f.provenance_created_at),
      CASE WHEN coalesce(f.provenance_agent_id, f.provenance_tool_name, f.provenance_run_id, f.provenance_node_id, toString(f.provenance_confidence)) IS NOT NULL
        THEN [f.provenance_agent_id, f.provenance_tool_name, f.provenance_run_id, f.provenance_node_id, f.provenance_confidence] END] END,
    COLLECT { MATCH (f)-[x:MENTIONS|FROM_EPISODE|CITES]->(n) RETURN type(x) + ' ' + reduce(places = '', p IN x.positions | places + p + ' ') + n.id },
    CASE WHEN f.statement IS NOT NULL OR f.invalidated_by IS NOT NULL OR f.closed_at IS NOT NULL OR f.last_accessed_at IS NOT NULL
        OR f.valid_until < datetime({year: 10000, timezone: 'Z'}) OR EXISTS { (f)-[:TAGGED]->() }
      THEN [f.statement, f.invalidated_by, toString(nullIf(f.valid_until, datetime({year: 10000, timezone: 'Z'}))), toString(f.closed_at), toString(f.last_accessed_at),
        COLLECT { MATCH (f)-[x:TAGGED]->(n) UNWIND x.positions AS p RETURN n.name ORDER BY p }] END]] AS facts,
  episodes
