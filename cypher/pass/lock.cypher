// Locks records that a plan has seen, so that they can be compared with it and stay as they are until the commit.
//
// params:
//   $namespace : STRING
//   $entities, $episodes, $messages, $facts, $themes, $relationships : LIST<STRING>   ids, sorted, each once
// returns (one row):
//   locked : INTEGER   how many nodes and edges there are
//
// why: REMOVE of a property that no node has changes nothing and takes the lock, if the database knows its key: the index
// lock_mark sees to that. Messages are locked with the episodes that hold them, since the record of an episode has them
// whole. The order is that of every writer.
CYPHER 25
CALL () {
  UNWIND $entities AS id
  MATCH (node:Entity {namespace: $namespace, id: id})
  WITH node ORDER BY node.id
  REMOVE node.fresh
  RETURN count(node) AS entities
}
CALL () {
  UNWIND $messages AS id
  MATCH (node:Message {namespace: $namespace, id: id})
  WITH node ORDER BY node.id
  REMOVE node.fresh
  RETURN count(node) AS messages
}
CALL () {
  UNWIND $episodes AS id
  MATCH (node:Episode {namespace: $namespace, id: id})
  WITH node ORDER BY node.id
  REMOVE node.fresh
  WITH node
  OPTIONAL MATCH (node)-[:HAS_MESSAGE]->(message:Message)
  WITH node, message ORDER BY message.id
  REMOVE message.fresh
  RETURN count(DISTINCT node) + count(message) AS episodes
}
CALL () {
  UNWIND $facts AS id
  MATCH (node:Fact {namespace: $namespace, id: id})
  WITH node ORDER BY node.id
  REMOVE node.fresh
  RETURN count(node) AS facts
}
CALL () {
  UNWIND $themes AS id
  MATCH (node:Theme {namespace: $namespace, id: id})
  WITH node ORDER BY node.id
  REMOVE node.fresh
  RETURN count(node) AS themes
}
CALL () {
  UNWIND $relationships AS id
  MATCH ()-[edge:RELATES_TO {namespace: $namespace, id: id}]->()
  WITH edge ORDER BY edge.id
  REMOVE edge.fresh
  RETURN count(edge) AS relationships
}
RETURN entities + messages + episodes + facts + themes + relationships AS locked
