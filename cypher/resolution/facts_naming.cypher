// Facts that mention one of some entities or state something of it, closed and quarantined ones too, by id.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   of entities
// returns:
//   id : STRING
CYPHER 25
UNWIND $ids AS id
MATCH (:Entity {namespace: $namespace, id: id})<-[:MENTIONS|SUBJECT|OBJECT]-(f:Fact)
WITH DISTINCT f
RETURN f.id AS id
ORDER BY id
