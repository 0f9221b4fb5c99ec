// Makes writers that have met before go one after the other, until their transactions end.
//
// params:
//   $namespace : STRING
// returns: nothing
//
// why: many writers of the same few records can deadlock again and again. Only those that had to begin anew queue here,
// before they lock anything else. The node is of the kind that is nothing but a lock; no digest is its key.
CYPHER 25
MERGE (turn:EntityName {namespace: $namespace, key: 'writers in turn'})
REMOVE turn.fresh
