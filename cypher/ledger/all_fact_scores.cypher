// The scores of the runs that facts were in, for every fact that was in one.
//
// params:
//   $namespace : STRING
// returns, a row a fact:
//   id     : STRING
//   scores : LIST<FLOAT>   in the order in which the runs were recorded first
CYPHER 25
MATCH (run:Run {namespace: $namespace})-[:INJECTED]->(fact:Fact) WHERE run.sequence > 0
WITH fact.id AS id, run ORDER BY id, run.sequence
RETURN id, collect(run.score) AS scores
