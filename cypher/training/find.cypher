// A question as this library asks them, for the run from which a start-up archive is made.
//
// params:
//   $namespace : STRING
//   $text      : STRING       words
//   $vector    : LIST<FLOAT>  384 of them
// returns, a row for each fact:
//   content : STRING
//   score   : FLOAT
CYPHER 25
CALL () {
  CALL db.index.fulltext.queryNodes('fact_text', $text, {limit: 10}) YIELD node, score
  RETURN node AS fact, score
  UNION ALL
  CALL db.index.vector.queryNodes('fact_embedding_1', 10, $vector) YIELD node, score
  RETURN node AS fact, score
}
WITH fact, score WHERE fact.namespace = $namespace
OPTIONAL MATCH (fact)-[:MENTIONS]->(entity:Entity)
RETURN fact.content AS content, max(score) AS score ORDER BY score DESC LIMIT 10
