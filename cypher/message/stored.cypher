// Which of these messages are stored.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>
// returns, a row for each that is stored:
//   id : STRING
CYPHER 25
UNWIND $ids AS id
MATCH (m:Message {namespace: $namespace, id: id}) WHERE NOT m:Placeholder
RETURN m.id AS id
