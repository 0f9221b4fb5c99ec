// The latest episode of a conversation that touches a stretch of time.
//
// params:
//   $namespace       : STRING
//   $conversation    : STRING           '=' and its name; '' for messages that name none
//   $starting_before : ZONED DATETIME   the latest start
//   $ending_after    : ZONED DATETIME   the earliest end
// returns (no row or one):
//   episode : MAP   the record's fields, as in episode.get
CYPHER 25
MATCH (e:Episode {namespace: $namespace, conversation: $conversation})
WHERE e.ended_at >= $ending_after AND e.started_at <= $starting_before
WITH e ORDER BY e.ended_at DESC, e.id LIMIT 1
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
