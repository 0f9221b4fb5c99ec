// Facts by id.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   each once
// returns, a row for each that is stored:
//   fact : MAP   the record's fields; times as text, provenance_* flat, embedding as VECTOR
CYPHER 25
UNWIND $ids AS id
MATCH (f:Fact {namespace: $namespace, id: id}) WHERE NOT f:Placeholder
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
