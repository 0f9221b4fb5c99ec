// Themes by id: all, or those with one label.
//
// params:
//   $namespace : STRING
//   $label_key : STRING | NULL   digest of the label; NULL: all
// returns:
//   theme : MAP   the record's fields, as in theme.get
CYPHER 25
CALL () {
  WITH 1 AS go WHERE $label_key IS NULL
  MATCH (t:Theme {namespace: $namespace}) WHERE t.id >= '' AND NOT t:Placeholder
  RETURN t
 UNION ALL
  WITH 1 AS go WHERE $label_key IS NOT NULL
  MATCH (t:Theme {namespace: $namespace, label_key: $label_key}) WHERE NOT t:Placeholder
  RETURN t
}
RETURN t {.id, .label, .description,
  .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
  provenance_created_at: toString(t.provenance_created_at),
  embedding: CASE WHEN t.embedding_1 IS NOT NULL THEN vector(t.embedding_1, 384, FLOAT32) END,
  fact_ids: COLLECT { MATCH (t)-[x:HAS_FACT]->(n) UNWIND x.positions AS p RETURN n.id ORDER BY p }} AS theme
ORDER BY t.id
