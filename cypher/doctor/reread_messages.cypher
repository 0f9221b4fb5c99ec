// Messages with what is kept beside them, a page at a time, to be read again.
//
// params:
//   $namespace : STRING
//   $after     : STRING    the last id of the page before; '': from the start
//   $limit     : INTEGER
// returns, in order:
//   record : MAP   the record's fields without the embedding, as in message.get
//   copies : MAP   what is kept beside it and made from it
CYPHER 25
MATCH (n:Message {namespace: $namespace}) WHERE n.id > $after AND NOT n:Placeholder
WITH n ORDER BY n.namespace, n.id LIMIT $limit
RETURN n {.id, .role, .content, .conversation, .speaker, .metadata, timestamp: toString(n.timestamp),
  .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
  provenance_created_at: toString(n.provenance_created_at)} AS record,
  n {.day, .names, .mentions_time, .speaker_words, .words, .grams} AS copies
ORDER BY n.id
