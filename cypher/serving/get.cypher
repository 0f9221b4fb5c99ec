// What has been served to a run.
//
// params:
//   $namespace : STRING
//   $run_id    : STRING
// returns, one row or none:
//   fact_ids : LIST<STRING>    in the order in which they were served or drawn first
//   served   : LIST<BOOLEAN>   likewise: whether it was served, and not only withheld
//   chances  : LIST<FLOAT>     likewise: how probable it was that chance withheld it; 0.0: it could not
CYPHER 25
MATCH (serving:Serving {namespace: $namespace, id: $run_id})
RETURN coalesce(serving.fact_ids, []) AS fact_ids, coalesce(serving.served, []) AS served,
       coalesce(serving.chances, []) AS chances
