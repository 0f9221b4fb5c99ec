// Facts whose statement has one of some keys, closed and quarantined ones too, newest first.
//
// params:
//   $namespace      : STRING
//   $statement_keys : LIST<STRING>   digests of a subject and a predicate, each once
// returns:
//   fact : MAP   the record's fields, as in fact.get
CYPHER 25
UNWIND $statement_keys AS statement_key
MATCH (f:Fact {namespace: $namespace, statement_key: statement_key})
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
ORDER BY f.valid_from DESC, f.id
