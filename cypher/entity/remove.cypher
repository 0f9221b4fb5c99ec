// Removes entities and every relationship at them. One that a fact or an audit edge still names becomes a placeholder.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   sorted, each once
// returns (one row):
//   removed       : LIST<STRING>        ids of those that were stored
//   relationships : LIST<STRING>        ids of the relationships that went with them
//   placeholders  : LIST<[label, id]>   placeholders whose last reference this write took away
//
// why: REMOVE locks what is to go, and then it is looked up again, since a property may still be known from before the
// lock: of two that remove a record, one does. The ids told are those asked for, never read from what is gone.
CYPHER 25
CALL () {
  UNWIND $ids AS id
  MATCH (entity:Entity {namespace: $namespace, id: id}) WHERE NOT entity:Placeholder
  WITH entity, id ORDER BY id
  REMOVE entity.fresh
  WITH entity, id WHERE EXISTS {
    MATCH (still:Entity {namespace: $namespace, id: id}) WHERE still = entity AND NOT still:Placeholder
  }
  RETURN collect(entity) AS entities, collect(id) AS removed
}
CALL (entities) {
  UNWIND entities AS entity
  MATCH (entity)-[r:RELATES_TO]-(other)
  WITH r, other, r.id AS id ORDER BY id
  DELETE r
  RETURN collect(DISTINCT id) AS relationships, [x IN collect(DISTINCT other) WHERE NOT x IN entities] AS left
}
CALL (entities) {
  UNWIND entities AS entity
  CALL (entity) {
    WITH entity WHERE EXISTS { (entity)--() }
    FOREACH (name IN [key IN keys(entity) WHERE NOT key IN ['namespace', 'id']] | SET entity[name] = null)
    SET entity:Placeholder
    UNION
    WITH entity WHERE NOT EXISTS { (entity)--() }
    DELETE entity
  }
}
CALL (left) {
  UNWIND left AS target
  WITH target ORDER BY target.id
  REMOVE target.fresh
  WITH target WHERE target:Placeholder AND NOT EXISTS { (target)--() }
  WITH target, [[label IN labels(target) WHERE label <> 'Placeholder'][0], target.id] AS gone
  DELETE target
  RETURN collect(gone) AS placeholders
}
RETURN removed, relationships, placeholders
