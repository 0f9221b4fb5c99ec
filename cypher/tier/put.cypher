// Stores items of the durable tiers, each in place of the one with its tier, scope and id.
//
// params:
//   $namespace : STRING
//   $rows : LIST<MAP>, in the order of tier, scope and id, each key once:
//     tier, scope, id : STRING           scope '': without one
//     text            : STRING
//     metadata        : STRING | NULL    JSON
//     keeps_metadata  : BOOLEAN          whether the former metadata stays
//     embedding       : VECTOR           of the namespace's embedding space
//     remembered_at   : ZONED DATETIME   UTC
//     uses            : INTEGER          how often it is remembered by this
// returns (one row):
//   stored : INTEGER
//
// why: the text is set first, which locks the node, so that no two writers count from one number of uses. Rows come in
// the order of their keys, so that writers lock in one order.
CYPHER 25
UNWIND $rows AS row
MERGE (item:TierItem {namespace: $namespace, tier: row.tier, scope: row.scope, id: row.id})
SET item.text = row.text, item.remembered_at = row.remembered_at
WITH item, row
SET item.uses = coalesce(item.uses, 0) + row.uses,
    item.metadata = CASE WHEN row.keeps_metadata THEN item.metadata ELSE row.metadata END
WITH item, row
CALL (item, row) {
  CALL db.create.setNodeVectorProperty(item, 'embedding_1', row.embedding)
}
RETURN count(*) AS stored
