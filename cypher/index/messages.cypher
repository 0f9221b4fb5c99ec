// Nearest messages, best first, ties by id.
//
// params:
//   $namespace : STRING
//   $embedding : VECTOR    of the namespace's embedding space
//   $limit     : INTEGER   the most hits
//   $asked     : INTEGER   how many the index is asked for, some more than $limit: at its cut it keeps any of equals
//   $least     : FLOAT     the least cosine, included
// returns:
//   id : STRING, score : FLOAT   the cosine
CYPHER 25
OPTIONAL MATCH (whose:Namespace {name: $namespace})
WITH whose WHERE whose.left_embedding_1 IS NULL   // no row for who still searches in a space that was left
MATCH (n:Message)
  SEARCH n IN (VECTOR INDEX message_embedding_1 FOR $embedding WHERE n.namespace = $namespace LIMIT $asked) SCORE AS similarity
WITH n, 2 * similarity - 1 AS score WHERE score >= $least
RETURN n.id AS id, score
ORDER BY score DESC, n.id LIMIT $limit
