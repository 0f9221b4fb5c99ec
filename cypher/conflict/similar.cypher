// For each of some vectors the nearest facts, closed and quarantined ones too, best first, ties by latest start, then id.
//
// params:
//   $namespace  : STRING
//   $embeddings : LIST<VECTOR>   of the namespace's embedding space
//   $least      : FLOAT          the least cosine, included
//   $limit      : INTEGER        the most hits a vector
//   $asked      : INTEGER        how many the index is asked for, some more than $limit: at its cut it keeps any of equals
// returns:
//   place : INTEGER   of the vector in the list
//   id : STRING, score : FLOAT   the cosine
CYPHER 25
OPTIONAL MATCH (whose:Namespace {name: $namespace})
WITH whose WHERE whose.left_embedding_1 IS NULL   // no row for who still searches in a space that was left
UNWIND range(0, size($embeddings) - 1) AS place
WITH place, $embeddings[place] AS embedding
CALL (embedding) {
  MATCH (f:Fact)
    SEARCH f IN (VECTOR INDEX fact_embedding_1 FOR embedding WHERE f.namespace = $namespace LIMIT $asked) SCORE AS similarity
  WITH f, 2 * similarity - 1 AS score WHERE score >= $least
  RETURN f, score ORDER BY score DESC, f.valid_from DESC, f.id LIMIT $limit
}
RETURN place, f.id AS id, score
ORDER BY place, score DESC, f.valid_from DESC, id
