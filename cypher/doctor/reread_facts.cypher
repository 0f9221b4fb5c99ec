// Facts with what is kept beside them, a page at a time, to be read again.
//
// params:
//   $namespace : STRING
//   $after     : STRING    the last id of the page before; '': from the start
//   $limit     : INTEGER
// returns, in order:
//   record : MAP   the record's fields without the embedding, as in fact.get
//   copies : MAP   what is kept beside it and made from it
//   subjects, objects : LIST<STRING>   entities that the edges of its statement lead to
CYPHER 25
MATCH (n:Fact {namespace: $namespace}) WHERE n.id > $after AND NOT n:Placeholder
WITH n ORDER BY n.namespace, n.id LIMIT $limit
RETURN n {.id, .content, .statement, .theme_id, .invalidated_by, .access_count,
  valid_from: toString(n.valid_from), valid_until: toString(nullIf(n.valid_until, datetime({year: 10000, timezone: 'Z'}))),
  recorded_at: toString(n.recorded_at), closed_at: toString(n.closed_at), last_accessed_at: toString(n.last_accessed_at),
  .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
  provenance_created_at: toString(n.provenance_created_at),
  entity_ids: COLLECT { MATCH (n)-[x:MENTIONS]->(m) UNWIND x.positions AS p RETURN m.id ORDER BY p },
  source_episode_ids: COLLECT { MATCH (n)-[x:FROM_EPISODE]->(m) UNWIND x.positions AS p RETURN m.id ORDER BY p },
  source_message_ids: COLLECT { MATCH (n)-[x:CITES]->(m) UNWIND x.positions AS p RETURN m.id ORDER BY p },
  tags: COLLECT { MATCH (n)-[x:TAGGED]->(m) UNWIND x.positions AS p RETURN m.name ORDER BY p }} AS record,
  n {.statement_key, .predicate, .words, .grams} AS copies,
  COLLECT { MATCH (n)-[:SUBJECT]->(m) RETURN m.id ORDER BY m.id } AS subjects,
  COLLECT { MATCH (n)-[:OBJECT]->(m) RETURN m.id ORDER BY m.id } AS objects
ORDER BY n.id
