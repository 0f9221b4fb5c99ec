// Removes a namespace itself: its place in an embedding space and its list of speakers. Its records are cleared before.
//
// params:
//   $namespace : STRING
// returns: nothing
//
// why: only for namespaces that nobody will open again; one that is open elsewhere would lose its embedding space.
CYPHER 25
MATCH (namespace:Namespace {name: $namespace})
DELETE namespace
