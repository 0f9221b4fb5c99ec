// The same as reembedding.state, read behind the lock of the namespace, which is held until the transaction ends.
//
// params:
//   $namespace : STRING
// returns (no row when nothing was ever written there):
//   space, next_space, left_space : INTEGER | NULL
//
// why: while a namespace is being re-embedded its writers go one after the other, so that no text changes between the
// look at it and the writing of its new vector, and none is missed by the switch. At other times nobody takes this lock.
CYPHER 25
MATCH (n:Namespace {name: $namespace})
REMOVE n.fresh
WITH n
RETURN n.space AS space, n.next_space AS next_space, n.left_space AS left_space
