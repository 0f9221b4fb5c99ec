// When messages were learnt, which is no field of theirs.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   each once
// returns, a row for each that is stored:
//   id, recorded_at : STRING
CYPHER 25
UNWIND $ids AS id
MATCH (m:Message {namespace: $namespace, id: id}) WHERE NOT m:Placeholder
RETURN id, toString(m.recorded_at) AS recorded_at
