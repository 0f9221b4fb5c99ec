// For each of some entities the facts that mention it and are neither closed nor quarantined, newest first, then by id.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   of entities
// returns, a row for each that has any:
//   place : INTEGER   of the entity in the list
//   facts : LIST<[STRING, STRING, INTEGER, INTEGER | NULL, STRING | NULL]>   id, content, start and end in microseconds
//           since 1970 (NULL: open), digest of the subject and predicate of its statement
CYPHER 25
UNWIND range(0, size($ids) - 1) AS place
MATCH (:Entity {namespace: $namespace, id: $ids[place]})<-[:MENTIONS]-(f:Fact)
WHERE f.live AND NOT f.quarantined
WITH place, f ORDER BY place, f.valid_from DESC, f.id
RETURN place,
       collect([f.id, f.content, f.valid_from.epochMillis * 1000 + f.valid_from.microsecond % 1000,
                CASE WHEN f.valid_until < datetime({year: 10000, timezone: 'Z'})
                     THEN f.valid_until.epochMillis * 1000 + f.valid_until.microsecond % 1000 END,
                f.statement_key]) AS facts
ORDER BY place
