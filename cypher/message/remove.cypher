// Removes messages. One that an episode or a fact still names becomes a placeholder again.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   sorted, each once
// returns (one row):
//   removed : LIST<STRING>   ids of those that were stored
//
// why: REMOVE locks what is to go, and then it is looked up again, since a property may still be known from before the
// lock: of two that remove a record, one does. The ids told are those asked for, never read from what is gone.
CYPHER 25
UNWIND $ids AS id
MATCH (message:Message {namespace: $namespace, id: id}) WHERE NOT message:Placeholder
WITH message, id ORDER BY id
REMOVE message.fresh
WITH message, id WHERE EXISTS {
  MATCH (still:Message {namespace: $namespace, id: id}) WHERE still = message AND NOT still:Placeholder
}
CALL (message) {
  WITH message WHERE EXISTS { (message)--() }
  FOREACH (name IN [key IN keys(message) WHERE NOT key IN ['namespace', 'id']] | SET message[name] = null)
  SET message:Placeholder
  UNION
  WITH message WHERE NOT EXISTS { (message)--() }
  DELETE message
}
RETURN collect(id) AS removed
