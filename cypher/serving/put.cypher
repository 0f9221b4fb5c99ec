// Writes what has been served to a run, in the transaction that opened it.
//
// params:
//   $namespace : STRING
//   $run_id    : STRING
//   $fact_ids  : LIST<STRING>
//   $served    : LIST<BOOLEAN>   of the facts, likewise
//   $chances   : LIST<FLOAT>     likewise
//   $at        : ZONED DATETIME  UTC
// returns: nothing
//
// why: lists on the node and no edges, since each serving would lock the facts of all agents, and what is served may
// be gone before the run is scored. The edges are made when it is.
CYPHER 25
MATCH (serving:Serving {namespace: $namespace, id: $run_id})
SET serving.fact_ids = $fact_ids, serving.served = $served, serving.chances = $chances, serving.served_at = $at
