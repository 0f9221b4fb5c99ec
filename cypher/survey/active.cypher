// Ids of all facts that are neither closed nor quarantined, newest first.
//
// params:
//   $namespace : STRING
// returns:
//   id : STRING
//
// why: ids alone, in one statement: a page would cost what lies before it, and the whole list is smaller than one page
// of vectors. The order comes from the index.
CYPHER 25
MATCH (f:Fact {namespace: $namespace})
WHERE f.valid_from IS NOT NULL AND f.live AND NOT f.quarantined
RETURN f.id AS id
ORDER BY f.valid_from DESC, f.id
