// The vectors of some facts that are neither closed nor quarantined.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   of facts
// returns, a row for each that has one, in the order of the ids:
//   place     : INTEGER   of the id in the list
//   embedding : VECTOR
//
// why: to compare some thousand vectors each with each, a matrix product takes less time than as many searches.
CYPHER 25
OPTIONAL MATCH (whose:Namespace {name: $namespace})
WITH whose WHERE whose.left_embedding_1 IS NULL   // no row for who still searches in a space that was left
UNWIND range(0, size($ids) - 1) AS place
MATCH (f:Fact {namespace: $namespace, id: $ids[place]}) WHERE f.live AND NOT f.quarantined AND f.embedding_1 IS NOT NULL
RETURN place, vector(f.embedding_1, 384, FLOAT32) AS embedding
ORDER BY place
