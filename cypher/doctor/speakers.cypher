// Words of the names of those who speak in a namespace, as recall knows them.
//
// params:
//   $namespace : STRING
// returns, one row or none:
//   speakers : LIST<STRING>   lower case
CYPHER 25
MATCH (namespace:Namespace {name: $namespace})
RETURN coalesce(namespace.speakers, []) AS speakers
