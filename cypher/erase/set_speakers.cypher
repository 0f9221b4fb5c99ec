// Keeps of a namespace's words of speakers' names those that are still spoken under.
//
// params:
//   $namespace : STRING
//   $words     : LIST<STRING>   lower case
// returns: nothing
CYPHER 25
MATCH (namespace:Namespace {name: $namespace})
SET namespace.speakers = [word IN coalesce(namespace.speakers, []) WHERE word IN $words]
