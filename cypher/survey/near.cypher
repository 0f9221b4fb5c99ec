// For each of many facts those near to it that are neither closed nor quarantined, best first, ties by latest start, id.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   whose neighbours are wanted
//   $least     : FLOAT          the least cosine, included
//   $few       : INTEGER        how many neighbours are looked for at first, the fact itself among them
//   $limit     : INTEGER        the most, likewise
// returns, a row for each fact that has a neighbour:
//   id   : STRING
//   near : LIST<[STRING, FLOAT]>   ids and cosines
//
// why: the fact's own vector is the question, so none travels. Most facts have few near duplicates or none, and a search
// costs what it may return: only where the last of the few is near as well is the full number looked for.
CYPHER 25
OPTIONAL MATCH (whose:Namespace {name: $namespace})
WITH whose WHERE whose.left_embedding_1 IS NULL   // no row for who still searches in a space that was left
UNWIND $ids AS id
MATCH (fact:Fact {namespace: $namespace, id: id}) WHERE fact.embedding_1 IS NOT NULL
WITH id, vector(fact.embedding_1, 384, FLOAT32) AS embedding
CALL (embedding) {
  MATCH (f:Fact) SEARCH f IN (VECTOR INDEX fact_embedding_1 FOR embedding
    WHERE f.namespace = $namespace AND f.standing >= 0 AND f.standing <= 0 LIMIT $few) SCORE AS similarity
  RETURN count(f) AS found, min(similarity) AS lowest,
         collect(CASE WHEN 2 * similarity - 1 >= $least THEN [f, 2 * similarity - 1] END) AS first
}
CALL (id, embedding, found, lowest, first) {
  WITH id, first WHERE found < $few OR $few >= $limit OR 2 * lowest - 1 < $least
  UNWIND first AS hit
  WITH id, hit[0] AS f, hit[1] AS score WHERE f.id <> id
  RETURN f, score
 UNION ALL
  WITH id, embedding WHERE found = $few AND $few < $limit AND 2 * lowest - 1 >= $least
  MATCH (f:Fact) SEARCH f IN (VECTOR INDEX fact_embedding_1 FOR embedding
    WHERE f.namespace = $namespace AND f.standing >= 0 AND f.standing <= 0 LIMIT $limit) SCORE AS similarity
  WITH id, f, 2 * similarity - 1 AS score WHERE score >= $least AND f.id <> id
  RETURN f, score
}
WITH id, f, score ORDER BY score DESC, f.valid_from DESC, f.id
RETURN id, collect([f.id, score]) AS near
