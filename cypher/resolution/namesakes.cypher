// Live entities that share normalised name and type, two or more a row.
//
// params:
//   $namespace : STRING
// returns:
//   ids : LIST<STRING>
//
// why: the index holds the entities in the order of their names, so that they are grouped while it is read.
CYPHER 25
MATCH (e:Entity {namespace: $namespace}) WHERE e.name_key >= '' AND e.live
WITH e.name_key AS name_key, collect(e.id) AS ids
WHERE size(ids) > 1
RETURN ids
ORDER BY name_key
