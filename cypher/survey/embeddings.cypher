// The vectors of some facts, whatever their state.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   of facts
// returns, a row for each that has one, in the order of the ids:
//   embedding : VECTOR
//
// why: a mean over hundreds of numbers is worked out sooner outside the database, from vectors read as such.
CYPHER 25
OPTIONAL MATCH (whose:Namespace {name: $namespace})
WITH whose WHERE whose.left_embedding_1 IS NULL   // no row for who still searches in a space that was left
UNWIND range(0, size($ids) - 1) AS place
MATCH (f:Fact {namespace: $namespace, id: $ids[place]}) WHERE f.embedding_1 IS NOT NULL
RETURN vector(f.embedding_1, 384, FLOAT32) AS embedding
ORDER BY place
