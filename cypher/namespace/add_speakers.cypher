// Adds words of speakers' names to the namespace's list; recall keeps them out of its text search.
//
// params:
//   $namespace : STRING
//   $words     : LIST<STRING>   lower case, each once
// returns: nothing
//
// why: the list is looked at first and written only when a word is new, so that writers do not queue for this node.
CYPHER 25
MATCH (namespace:Namespace {name: $namespace})
WHERE any(word IN $words WHERE NOT word IN coalesce(namespace.speakers, []))
SET namespace.speakers = coalesce(namespace.speakers, []) + [word IN $words WHERE NOT word IN coalesce(namespace.speakers, [])]
