// The scores of the runs that facts were in.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   each once
// returns, a row for each that was in a run:
//   id     : STRING
//   scores : LIST<FLOAT>   in the order in which the runs were recorded first
CYPHER 25
UNWIND $ids AS id
MATCH (:Fact {namespace: $namespace, id: id})<-[:INJECTED]-(run:Run)
WITH id, run ORDER BY id, run.sequence
RETURN id, collect(run.score) AS scores
