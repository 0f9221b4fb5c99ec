// In which embedding space a namespace is, and where it is on its way from one to another.
//
// params:
//   $namespace : STRING
// returns (no row when nothing was ever written there):
//   space      : INTEGER | NULL   number of its embedding space
//   next_space : INTEGER | NULL   that to which it is being re-embedded
//   left_space : INTEGER | NULL   that of which vectors may be left that nobody reads any more
CYPHER 25
MATCH (n:Namespace {name: $namespace})
RETURN n.space AS space, n.next_space AS next_space, n.left_space AS left_space
