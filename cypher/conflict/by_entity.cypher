// For each of some entities the facts that mention it and are neither closed nor quarantined, newest first, then by id.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   of entities
// returns, a row for each that has any:
//   place : INTEGER   of the entity in the list
//   facts : LIST<[STRING, STRING, INTEGER]>   id, content, start in microseconds since 1970
CYPHER 25
UNWIND range(0, size($ids) - 1) AS place
MATCH (:Entity {namespace: $namespace, id: $ids[place]})<-[:MENTIONS]-(f:Fact)
WHERE f.live AND NOT f.quarantined
WITH place, f ORDER BY place, f.valid_from DESC, f.id
RETURN place,
       collect([f.id, f.content, f.valid_from.epochMillis * 1000 + f.valid_from.microsecond % 1000]) AS facts
ORDER BY place
