// Vectors of facts in both spaces.
//
// params:
//   $namespace  : STRING
//   $new        : STRING          `embedding_<n>` of the space that the namespace moves to
//   $dimensions : INTEGER         length of its vectors
//   $ids        : LIST<STRING>
// returns, in the order of the ids, a row for each fact that has both:
//   old, new : VECTOR
CYPHER 25
UNWIND range(0, size($ids) - 1) AS place
MATCH (f:Fact {namespace: $namespace, id: $ids[place]}) WHERE f[$new] IS NOT NULL
RETURN CASE WHEN f.embedding_1 IS NOT NULL THEN vector(f.embedding_1, 384, FLOAT32) END AS old,
       vector(f[$new], $dimensions, FLOAT32) AS new
ORDER BY place
