// Removes some of a namespace's runs, and the placeholders that nothing else names; to be repeated until none is left.
//
// params:
//   $namespace : STRING
//   $limit     : INTEGER   the most runs to remove in this transaction
// returns (one row):
//   removed : INTEGER
//
// why: in parts, so that many runs do not need one huge transaction. The Ledger node is locked first, as recorders do.
CYPHER 25
MERGE (ledger:Ledger {namespace: $namespace})
SET ledger.runs = coalesce(ledger.runs, 0)
WITH ledger
CALL () {
  MATCH (run:Run {namespace: $namespace}) WHERE run.sequence > 0
  WITH run LIMIT $limit
  RETURN collect(run) AS runs
}
CALL (runs) {
  UNWIND runs AS run
  MATCH (run)-[old:INJECTED|WITHHELD]->(target)
  WITH old, target ORDER BY target.id
  DELETE old
  WITH DISTINCT target
  RETURN collect(target) AS left
}
CALL (runs) {
  UNWIND runs AS run
  DELETE run
}
CALL (left) {
  UNWIND left AS target
  WITH target ORDER BY target.id
  REMOVE target.fresh
  WITH target WHERE target:Placeholder AND NOT EXISTS { (target)--() }
  DELETE target
}
RETURN size(runs) AS removed
