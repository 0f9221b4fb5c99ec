// Writes messages whole; episodes own the edges to them.
//
// params:
//   $namespace          : STRING
//   $namespace_token    : STRING      the namespace as one word of the full-text index
//   $embedding_property : STRING      `embedding_<n>` of the namespace's space
//   $now                : ZONED DATETIME   UTC
//   $rows : LIST<MAP>, sorted by id, each id once:
//     id         : STRING
//     properties : MAP              every property a message can have, absent ones as null
//     embedding  : VECTOR | NULL
// returns (one row):
//   created, changed : LIST<STRING>   ids; filling a placeholder counts as created
//   moved            : LIST<STRING>   of the changed ones, ids of those that were in another episode before
//
// why: `+=` and not `=`: setting a key property takes the exclusive lock on its index entry even when nothing changes.
CYPHER 25
UNWIND $rows AS row
MERGE (message:Message {namespace: $namespace, id: row.id}) ON CREATE SET message:Placeholder
WITH message, row, message:Placeholder AS created, message.recorded_at AS recorded_at,
     coalesce(message.episode_id <> row.properties.episode_id, false) AS moved
REMOVE message:Placeholder
SET message += row.properties, message[$embedding_property] = null
SET message.namespace_token = $namespace_token, message.live = true, message.recorded_at = coalesce(recorded_at, $now)
WITH message, row, created, moved
CALL (message, row) {
  WITH message, row WHERE row.embedding IS NOT NULL
  CALL db.create.setNodeVectorProperty(message, $embedding_property, row.embedding)
}
WITH collect({id: row.id, created: created, moved: moved}) AS written
RETURN [w IN written WHERE w.created | w.id] AS created, [w IN written WHERE NOT w.created | w.id] AS changed,
       [w IN written WHERE w.moved | w.id] AS moved
