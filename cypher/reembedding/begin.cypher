// Notes that a namespace is being re-embedded, or that it is not any more. Run behind reembedding.lock.
//
// params:
//   $namespace  : STRING
//   $next_space : INTEGER | NULL   number of the space that it moves to
//   $left_space : INTEGER | NULL   number of a space of which vectors are to be removed
// returns: nothing
CYPHER 25
MATCH (n:Namespace {name: $namespace})
SET n.next_space = $next_space, n.left_space = $left_space
