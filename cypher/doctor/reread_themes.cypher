// Themes with what is kept beside them, a page at a time, to be read again.
//
// params:
//   $namespace : STRING
//   $after     : STRING    the last id of the page before; '': from the start
//   $limit     : INTEGER
// returns, in order:
//   record : MAP   the record's fields without the embedding and the facts, as in theme.get
//   copies : MAP   what is kept beside it and made from it
CYPHER 25
MATCH (n:Theme {namespace: $namespace}) WHERE n.id > $after AND NOT n:Placeholder
WITH n ORDER BY n.namespace, n.id LIMIT $limit
RETURN n {.id, .label, .description,
  .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
  provenance_created_at: toString(n.provenance_created_at)} AS record,
  n {.label_key} AS copies
ORDER BY n.id
