// Writes audit edges as they were where they come from; those that are there already stay as they are.
//
// params:
//   $namespace        : STRING
//   $facts, $entities : LIST<MAP>, sorted by older and newer:
//     newer, older, pass_id, reason : STRING
//     at                            : ZONED DATETIME | NULL   UTC
//     undone_by                     : STRING | NULL
// returns: nothing
//
// why: an edge is known by its ends and its pass, so that a second writing changes nothing.
CYPHER 25
CALL () {
  UNWIND $facts AS row
  MERGE (newer:Fact {namespace: $namespace, id: row.newer}) ON CREATE SET newer:Placeholder
  MERGE (older:Fact {namespace: $namespace, id: row.older}) ON CREATE SET older:Placeholder
  MERGE (newer)-[edge:SUPERSEDES {namespace: $namespace, pass_id: row.pass_id}]->(older)
  SET edge.at = row.at, edge.reason = row.reason, edge.undone_by = row.undone_by
  RETURN count(*) AS facts
}
CALL () {
  UNWIND $entities AS row
  MERGE (newer:Entity {namespace: $namespace, id: row.newer}) ON CREATE SET newer:Placeholder
  MERGE (older:Entity {namespace: $namespace, id: row.older}) ON CREATE SET older:Placeholder
  MERGE (newer)-[edge:SUPERSEDES {namespace: $namespace, pass_id: row.pass_id}]->(older)
  SET edge.at = row.at, edge.reason = row.reason, edge.undone_by = row.undone_by
  RETURN count(*) AS entities
}
FINISH
