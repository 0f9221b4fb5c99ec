// Ids of the themes that list one of some facts.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   of facts
// returns:
//   id : STRING   in order
CYPHER 25
UNWIND $ids AS id
MATCH (:Fact {namespace: $namespace, id: id})<-[:HAS_FACT]-(theme:Theme)
RETURN DISTINCT theme.id AS id
ORDER BY id
