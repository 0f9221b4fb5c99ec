// Puts the namespace into an embedding space, unless it is in one already.
//
// params:
//   $namespace : STRING
//   $space     : INTEGER | NULL   the number asked for
//   $now       : ZONED DATETIME   UTC
// returns (one row):
//   space : INTEGER | NULL   the number that the namespace has now; another one than asked for: it was in that one before
CYPHER 25
MERGE (namespace:Namespace {name: $namespace})
ON CREATE SET namespace.created_at = $now, namespace.speakers = []
SET namespace.space = coalesce(namespace.space, $space)
RETURN namespace.space AS space
