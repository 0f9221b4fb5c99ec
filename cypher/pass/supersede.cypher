// Writes audit edges: which record took the place of which.
//
// params:
//   $namespace : STRING
//   $pass_id   : STRING
//   $at        : ZONED DATETIME   UTC
//   $facts, $entities : LIST<MAP>, sorted by older and newer: {newer: STRING, older: STRING, reason: STRING}
// returns (one row):
//   facts, entities : LIST<STRING>   ids of placeholders made: what is named here and not stored
//
// why: nodes first, then edges in the order of the older record, so that writers lock in one order.
CYPHER 25
CALL () {
  UNWIND $facts AS row UNWIND [row.newer, row.older] AS id
  WITH DISTINCT id ORDER BY id
  MERGE (node:Fact {namespace: $namespace, id: id}) ON CREATE SET node:Placeholder, node.fresh = true
  WITH node, id WHERE node.fresh
  REMOVE node.fresh
  RETURN collect(id) AS facts
}
CALL () {
  UNWIND $entities AS row UNWIND [row.newer, row.older] AS id
  WITH DISTINCT id ORDER BY id
  MERGE (node:Entity {namespace: $namespace, id: id}) ON CREATE SET node:Placeholder, node.fresh = true
  WITH node, id WHERE node.fresh
  REMOVE node.fresh
  RETURN collect(id) AS entities
}
CALL () {
  UNWIND $facts AS row
  MATCH (newer:Fact {namespace: $namespace, id: row.newer})
  MATCH (older:Fact {namespace: $namespace, id: row.older})
  CREATE (newer)-[edge:SUPERSEDES]->(older)
  SET edge.namespace = $namespace, edge.pass_id = $pass_id, edge.at = $at, edge.reason = row.reason
}
CALL () {
  UNWIND $entities AS row
  MATCH (newer:Entity {namespace: $namespace, id: row.newer})
  MATCH (older:Entity {namespace: $namespace, id: row.older})
  CREATE (newer)-[edge:SUPERSEDES]->(older)
  SET edge.namespace = $namespace, edge.pass_id = $pass_id, edge.at = $at, edge.reason = row.reason
}
RETURN facts, entities
