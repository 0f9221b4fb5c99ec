// Relationships by id.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   each once
// returns, a row for each that is stored:
//   relationship : MAP   the record's fields; times as text, attributes as JSON, provenance_* flat
CYPHER 25
UNWIND $ids AS id
MATCH ()-[r:RELATES_TO {namespace: $namespace, id: id}]->()
RETURN r {.id, .source_id, .target_id, .relation_type, .fact_id, .weight, .attributes, .invalidated_by,
  valid_from: toString(r.valid_from), valid_until: toString(nullIf(r.valid_until, datetime({year: 10000, timezone: 'Z'}))),
  recorded_at: toString(r.recorded_at), closed_at: toString(r.closed_at),
  .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
  provenance_created_at: toString(r.provenance_created_at)} AS relationship
