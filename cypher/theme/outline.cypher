// Themes by id or label, with how many facts they list and some of these.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>    each once
//   $label_key : STRING | NULL   digest of a label; themes that have it besides
//   $most      : INTEGER         the most facts that are named of one theme, in no order
// returns, a row for each that is stored:
//   theme : MAP       the record's fields, as in theme.get
//   size  : INTEGER   how many facts it lists
//
// why: counting edges of one type is one look at the node, so a theme of a hundred thousand facts costs no more than its sample.
CYPHER 25
CALL () {
  UNWIND $ids AS id
  MATCH (t:Theme {namespace: $namespace, id: id})
  RETURN t
 UNION
  MATCH (t:Theme {namespace: $namespace, label_key: $label_key})
  RETURN t
}
WITH t WHERE NOT t:Placeholder
RETURN t {.id, .label, .description,
  .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
  provenance_created_at: toString(t.provenance_created_at),
  embedding: CASE WHEN t.embedding_1 IS NOT NULL THEN vector(t.embedding_1, 384, FLOAT32) END,
  fact_ids: COLLECT { MATCH (t)-[:HAS_FACT]->(n) RETURN n.id LIMIT $most }} AS theme,
  COUNT { (t)-[:HAS_FACT]->() } AS size
ORDER BY theme.id
