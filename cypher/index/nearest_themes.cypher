// For each of some vectors the nearest themes, best first, ties by id.
//
// params:
//   $namespace  : STRING
//   $embeddings : LIST<VECTOR>   of the namespace's embedding space
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
  MATCH (n:Theme)
    SEARCH n IN (VECTOR INDEX theme_embedding_1 FOR embedding WHERE n.namespace = $namespace LIMIT $asked) SCORE AS similarity
  WITH n.id AS id, 2 * similarity - 1 AS score ORDER BY score DESC, id LIMIT $limit
  RETURN id, score
}
RETURN place, id, score
ORDER BY place, score DESC, id
