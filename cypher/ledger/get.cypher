// A scored run.
//
// params:
//   $namespace : STRING
//   $run_id    : STRING
// returns, one row or none:
//   score       : FLOAT
//   recorded_at : STRING
//   fact_ids    : LIST<STRING>            what it was given, in order
//   holdout     : LIST<[STRING, FLOAT]>   what chance could have withheld, and how probable that was
CYPHER 25
MATCH (run:Run {namespace: $namespace, id: $run_id})
RETURN run.score AS score, toString(run.recorded_at) AS recorded_at,
       COLLECT { MATCH (run)-[x:INJECTED]->(f:Fact) UNWIND x.positions AS p RETURN f.id ORDER BY p } AS fact_ids,
       COLLECT { MATCH (run)-[x:INJECTED|WITHHELD]->(f:Fact) WHERE x.holdout IS NOT NULL RETURN [f.id, x.holdout] } AS holdout
