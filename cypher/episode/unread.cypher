// Episodes with messages that are still to be read, by id, their messages with them.
//
// params:
//   $namespace : STRING
//   $after     : STRING    only ids beyond this one; empty: from the first
//   $limit     : INTEGER   the most episodes
// returns:
//   episode : MAP   the record's fields, as in episode.get
//
// why: the count is there on such episodes alone, so the seek meets no other (and is named, since a plan made while there
// were hardly any would read the whole index); ids beyond one page on, whatever is read meanwhile.
CYPHER 25
MATCH (e:Episode {namespace: $namespace}) USING INDEX SEEK e:Episode(namespace, unread_count) WHERE e.unread_count > 0 AND e.id > $after
WITH e ORDER BY e.id LIMIT $limit
RETURN e {.id, .topic, .unread_message_ids, started_at: toString(e.started_at), ended_at: toString(e.ended_at),
  .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
  provenance_created_at: toString(e.provenance_created_at),
  embedding: CASE WHEN e.embedding_1 IS NOT NULL THEN vector(e.embedding_1, 384, FLOAT32) END,
  fact_ids: COLLECT { MATCH (e)-[x:HAS_FACT]->(f) UNWIND x.positions AS p RETURN f.id ORDER BY p },
  messages: COLLECT {
    MATCH (e)-[x:HAS_MESSAGE]->(m) WHERE NOT m:Placeholder
    UNWIND x.positions AS p
    RETURN m {.id, .role, .content, .conversation, .speaker, .metadata, timestamp: toString(m.timestamp),
      .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
      provenance_created_at: toString(m.provenance_created_at),
      embedding: CASE WHEN m.embedding_1 IS NOT NULL THEN vector(m.embedding_1, 384, FLOAT32) END}
    ORDER BY p
  }} AS episode
ORDER BY e.id
