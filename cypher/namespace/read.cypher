// The namespace's embedding space.
//
// params:
//   $namespace : STRING
// returns (no row when nothing was ever written there):
//   space : INTEGER | NULL   number of its embedding space
CYPHER 25
MATCH (namespace:Namespace {name: $namespace})
RETURN namespace.space AS space
