// Who speaks in a namespace, the namespace locked.
//
// params:
//   $namespace : STRING
// returns:
//   speaker : STRING   each once
//
// why: locked first, so that a writer that adds a speaker comes before or after the whole erasure.
CYPHER 25
MATCH (namespace:Namespace {name: $namespace})
REMOVE namespace.fresh
WITH namespace
MATCH (m:Message {namespace: $namespace}) WHERE m.id >= '' AND m.speaker IS NOT NULL
RETURN DISTINCT m.speaker AS speaker
ORDER BY speaker
