// Themes by id.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   each once
// returns, a row for each that is stored:
//   theme : MAP   the record's fields; times as text, provenance_* flat, embedding as VECTOR
CYPHER 25
UNWIND $ids AS id
MATCH (t:Theme {namespace: $namespace, id: id}) WHERE NOT t:Placeholder
RETURN t {.id, .label, .description,
  .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
  provenance_created_at: toString(t.provenance_created_at),
  embedding: CASE WHEN t.embedding_1 IS NOT NULL THEN vector(t.embedding_1, 384, FLOAT32) END,
  fact_ids: COLLECT { MATCH (t)-[x:HAS_FACT]->(n) UNWIND x.positions AS p RETURN n.id ORDER BY p }} AS theme
