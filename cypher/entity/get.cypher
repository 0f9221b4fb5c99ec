// Entities by id.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   each once
// returns, a row for each that is stored:
//   entity : MAP   the record's fields; times as text, attributes as JSON, provenance_* flat, embedding as VECTOR
CYPHER 25
UNWIND $ids AS id
MATCH (n:Entity {namespace: $namespace, id: id}) WHERE NOT n:Placeholder
RETURN n {.id, .name, .entity_type, .attributes, .superseded_by,
  created_at: toString(n.created_at), updated_at: toString(n.updated_at), invalidated_at: toString(n.invalidated_at),
  .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
  provenance_created_at: toString(n.provenance_created_at),
  embedding: CASE WHEN n.embedding_1 IS NOT NULL THEN vector(n.embedding_1, 384, FLOAT32) END} AS entity
