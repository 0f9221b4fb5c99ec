// Removes messages. One that an episode or a fact still names becomes a placeholder again.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   sorted, each once
// returns (one row):
//   removed : LIST<STRING>   ids of those that were stored
CYPHER 25
UNWIND $ids AS id
MATCH (message:Message {namespace: $namespace, id: id}) WHERE NOT message:Placeholder
WITH message, id ORDER BY id
CALL (message) {
  WITH message WHERE EXISTS { (message)--() }
  SET message = {namespace: message.namespace, id: message.id}, message:Placeholder
  UNION
  WITH message WHERE NOT EXISTS { (message)--() }
  DELETE message
}
RETURN collect(id) AS removed
