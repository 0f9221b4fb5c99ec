// Facts that were made from some facts, one step away: derived from them, or merged with them by a consolidation.
//
// params:
//   $namespace : STRING
//   $facts     : LIST<STRING>   ids
// returns (one row):
//   derived : LIST<STRING>   ids, sorted, each once; facts that are gone are among them, since others may rest on those
CYPHER 25
CALL () {
  UNWIND $facts AS id
  MATCH (:Fact {namespace: $namespace, id: id})<-[:DERIVED_FROM]-(derived:Fact) RETURN derived.id AS found
  UNION
  UNWIND $facts AS id
  MATCH (:Fact {namespace: $namespace, id: id})<-[edge:SUPERSEDES]-(derived:Fact) WHERE edge.undone_by IS NULL
  MATCH (pass:Pass {namespace: $namespace, id: edge.pass_id}) WHERE pass.kind = 'consolidation'
  RETURN derived.id AS found
}
WITH found ORDER BY found
RETURN collect(found) AS derived
