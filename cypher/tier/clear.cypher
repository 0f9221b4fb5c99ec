// Removes some of the items of one tier, of any scope; to be repeated until none is left.
//
// params:
//   $namespace : STRING
//   $tier      : STRING
//   $limit     : INTEGER   the most items to remove in this transaction
// returns (one row):
//   removed : INTEGER
//
// why: in parts, so that many items do not need one huge transaction.
CYPHER 25
MATCH (item:TierItem {namespace: $namespace, tier: $tier}) WHERE item.scope >= '' AND item.id >= ''
WITH item LIMIT $limit
DETACH DELETE item
RETURN count(*) AS removed
