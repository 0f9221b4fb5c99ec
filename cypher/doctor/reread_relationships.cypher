// Relationships a page at a time, to be read again.
//
// params:
//   $namespace : STRING
//   $after     : STRING    the last id of the page before; '': from the start
//   $limit     : INTEGER
// returns, in order:
//   record : MAP   the record's fields, as in relationship.get
CYPHER 25
MATCH ()-[n:RELATES_TO]->() WHERE n.namespace = $namespace AND n.id > $after
WITH n ORDER BY n.namespace, n.id LIMIT $limit
RETURN n {.id, .source_id, .target_id, .relation_type, .fact_id, .weight, .attributes, .invalidated_by,
  valid_from: toString(n.valid_from), valid_until: toString(nullIf(n.valid_until, datetime({year: 10000, timezone: 'Z'}))),
  recorded_at: toString(n.recorded_at), closed_at: toString(n.closed_at),
  .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
  provenance_created_at: toString(n.provenance_created_at)} AS record
ORDER BY n.id
