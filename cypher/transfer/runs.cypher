// Scored runs in the order in which they were recorded first, a page at a time.
//
// params:
//   $namespace : STRING
//   $after     : INTEGER   place of the last run of the page before; 0: from the start
//   $limit     : INTEGER
// returns:
//   place : INTEGER   in order
//   run   : MAP       the record's fields, `holdout` as LIST<[STRING, FLOAT]> in order
CYPHER 25
MATCH (run:Run {namespace: $namespace}) WHERE run.sequence > $after
WITH run ORDER BY run.namespace, run.sequence LIMIT $limit
RETURN run.sequence AS place, {run_id: run.id, score: run.score, recorded_at: toString(run.recorded_at),
  fact_ids: COLLECT { MATCH (run)-[x:INJECTED]->(f:Fact) UNWIND x.positions AS p RETURN f.id ORDER BY p },
  holdout: COLLECT { MATCH (run)-[x:INJECTED|WITHHELD]->(f:Fact) WHERE x.holdout IS NOT NULL
                     RETURN [f.id, x.holdout] AS chance ORDER BY f.id }} AS run
ORDER BY place
