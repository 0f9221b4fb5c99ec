// Writes entities whole. Equal names are not merged; entity.claim does that.
//
// params:
//   $namespace          : STRING
//   $embedding_property : STRING   `embedding_<n>` of the namespace's space
//   $rows : LIST<MAP>, sorted by id, each id once:
//     id         : STRING
//     properties : MAP             every property an entity can have, absent ones as null, `name_key` and `live` included
//     embedding  : VECTOR | NULL
// returns (one row):
//   created, changed : LIST<STRING>   ids; filling a placeholder counts as created
//
// why: `+=` and not `=`: setting a key property takes the exclusive lock on its index entry even when nothing changes.
CYPHER 25
UNWIND $rows AS row
MERGE (entity:Entity {namespace: $namespace, id: row.id}) ON CREATE SET entity:Placeholder
WITH entity, row, entity:Placeholder AS created
REMOVE entity:Placeholder
SET entity += row.properties, entity[$embedding_property] = null
WITH entity, row, created
CALL (entity, row) {
  WITH entity, row WHERE row.embedding IS NOT NULL
  CALL db.create.setNodeVectorProperty(entity, $embedding_property, row.embedding)
}
WITH collect({id: row.id, created: created}) AS written
RETURN [w IN written WHERE w.created | w.id] AS created, [w IN written WHERE NOT w.created | w.id] AS changed
