// What was served to runs, in the order in which they were opened, a page at a time.
//
// params:
//   $namespace : STRING
//   $after     : INTEGER   place of the last run of the page before; 0: from the start
//   $limit     : INTEGER
// returns:
//   place    : INTEGER         in order
//   run_id   : STRING
//   fact_ids : LIST<STRING>    in the order in which they were served or drawn first
//   served   : LIST<BOOLEAN>   likewise: whether it was served, and not only withheld
//   chances  : LIST<FLOAT>     likewise: how probable it was that chance withheld it; 0.0: it could not
CYPHER 25
MATCH (serving:Serving {namespace: $namespace}) WHERE serving.sequence > $after
RETURN serving.sequence AS place, serving.id AS run_id, coalesce(serving.fact_ids, []) AS fact_ids,
       coalesce(serving.served, []) AS served, coalesce(serving.chances, []) AS chances
ORDER BY serving.namespace, serving.sequence LIMIT $limit
