// Ends an import: the mark of what is under way goes.
//
// params:
//   $namespace : STRING
//   $marker    : STRING   names the import by what it brings
// returns: nothing
CYPHER 25
MATCH (w:Write {namespace: $namespace, id: $marker}) WHERE w.result IS NULL
DELETE w
