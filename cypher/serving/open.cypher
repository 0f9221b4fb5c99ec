// What has been served to a run so far, locked for more; a run that is not known yet is opened, and the oldest are forgotten.
//
// params:
//   $namespace : STRING
//   $run_id    : STRING
//   $most      : INTEGER   how many runs are kept, by the order in which they were opened
// returns (one row):
//   fact_ids  : LIST<STRING>    in the order in which they were served or drawn first
//   served    : LIST<BOOLEAN>   likewise: whether it was served, and not only withheld
//   chances   : LIST<FLOAT>     likewise: how probable it was that chance withheld it; 0.0: it could not
//   forgotten : INTEGER         runs that were forgotten
//
// why: the Ledger node hands out the places, and is locked only to open a run. REMOVE locks the node of the run.
CYPHER 25
MERGE (serving:Serving {namespace: $namespace, id: $run_id})
ON CREATE SET serving.fresh = true
WITH serving, serving.fresh IS NOT NULL AS is_new
REMOVE serving.fresh
WITH serving, is_new
CALL (serving, is_new) {
  WITH serving WHERE is_new
  MERGE (ledger:Ledger {namespace: $namespace})
  SET ledger.servings = coalesce(ledger.servings, 0) + 1
  SET serving.sequence = ledger.servings
  WITH serving.sequence AS place
  MATCH (old:Serving {namespace: $namespace}) WHERE old.sequence <= place - $most
  DELETE old
  RETURN count(*) AS forgotten
}
RETURN coalesce(serving.fact_ids, []) AS fact_ids, coalesce(serving.served, []) AS served,
       coalesce(serving.chances, []) AS chances, coalesce(forgotten, 0) AS forgotten
