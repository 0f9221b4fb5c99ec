// Writes items of the durable tiers as they were where they come from, in place of what is there.
//
// params:
//   $namespace : STRING
//   $rows : LIST<MAP>, in the order of tier, scope and id, each key once:
//     tier, scope, id : STRING    scope '': without one
//     properties      : MAP       text, metadata (JSON), remembered_at (ZONED DATETIME, UTC) and uses
//     embedding       : VECTOR    of the namespace's embedding space
// returns: nothing
//
// why: tier.put adds to the uses; this may be run again.
CYPHER 25
UNWIND $rows AS row
MERGE (item:TierItem {namespace: $namespace, tier: row.tier, scope: row.scope, id: row.id})
SET item += row.properties
WITH item, row
CALL db.create.setNodeVectorProperty(item, 'embedding_1', row.embedding)
