// Messages by id.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   each once
// returns, a row for each that is stored:
//   message : MAP   the record's fields; times as text, metadata as JSON, provenance_* flat, embedding as VECTOR
CYPHER 25
UNWIND $ids AS id
MATCH (m:Message {namespace: $namespace, id: id}) WHERE NOT m:Placeholder
RETURN m {.id, .role, .content, .conversation, .speaker, .metadata, timestamp: toString(m.timestamp),
  .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
  provenance_created_at: toString(m.provenance_created_at),
  embedding: CASE WHEN m.embedding_1 IS NOT NULL THEN vector(m.embedding_1, 384, FLOAT32) END} AS message
