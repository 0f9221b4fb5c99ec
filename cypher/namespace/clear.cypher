// Removes some of a namespace's nodes with their edges; to be repeated until none is left.
//
// params:
//   $namespace : STRING
//   $limit     : INTEGER   the most nodes to remove in this transaction
// returns (one row):
//   removed : INTEGER
//
// why: in parts, so that a large namespace does not need one huge transaction. The Namespace node stays: it holds the
// embedding space.
CYPHER 25
CALL () {
  MATCH (node:Message {namespace: $namespace}) WHERE node.id >= '' RETURN node LIMIT $limit
  UNION ALL MATCH (node:Episode {namespace: $namespace}) WHERE node.id >= '' RETURN node LIMIT $limit
  UNION ALL MATCH (node:Fact {namespace: $namespace}) WHERE node.id >= '' RETURN node LIMIT $limit
  UNION ALL MATCH (node:Theme {namespace: $namespace}) WHERE node.id >= '' RETURN node LIMIT $limit
  UNION ALL MATCH (node:Entity {namespace: $namespace}) WHERE node.id >= '' RETURN node LIMIT $limit
  UNION ALL MATCH (node:EntityName {namespace: $namespace}) WHERE node.key >= '' RETURN node LIMIT $limit
  UNION ALL MATCH (node:Tag {namespace: $namespace}) WHERE node.name >= '' RETURN node LIMIT $limit
  UNION ALL MATCH (node:Pass {namespace: $namespace}) WHERE node.id >= '' RETURN node LIMIT $limit
  UNION ALL MATCH (node:PassEntry {namespace: $namespace}) WHERE node.record_id >= '' RETURN node LIMIT $limit
  UNION ALL MATCH (node:Write {namespace: $namespace}) WHERE node.id >= '' RETURN node LIMIT $limit
  UNION ALL MATCH (node:Run {namespace: $namespace}) WHERE node.id >= '' RETURN node LIMIT $limit
  UNION ALL MATCH (node:Serving {namespace: $namespace}) WHERE node.id >= '' RETURN node LIMIT $limit
  UNION ALL MATCH (node:TierItem {namespace: $namespace}) WHERE node.tier >= '' AND node.scope >= '' AND node.id >= '' RETURN node LIMIT $limit
  UNION ALL MATCH (node:GatePass {namespace: $namespace}) WHERE node.id >= '' RETURN node LIMIT $limit
  UNION ALL MATCH (node:Ledger {namespace: $namespace}) RETURN node LIMIT $limit
}
WITH node LIMIT $limit
DETACH DELETE node
RETURN count(*) AS removed
