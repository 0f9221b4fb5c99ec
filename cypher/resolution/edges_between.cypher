// Live relationships with some ends and types, by id.
//
// params:
//   $namespace : STRING
//   $ends      : LIST<[STRING, STRING, STRING]>   source, target, type; each once
// returns:
//   id : STRING
//
// why: found by both ends in the index, so that an entity with many relationships costs no more than another.
CYPHER 25
UNWIND $ends AS ends
MATCH ()-[r:RELATES_TO {namespace: $namespace, source_id: ends[0], target_id: ends[1]}]->()
WHERE r.live AND r.relation_type = ends[2]
RETURN r.id AS id
ORDER BY id
