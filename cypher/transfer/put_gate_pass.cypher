// Writes a pass of the gate and its verdicts as they were where they come from; the facts stay as they are.
//
// params:
//   $namespace : STRING
//   $pass_id   : STRING
//   $place     : INTEGER   of the pass among all
//   $pass      : MAP       properties of the pass
//   $rows      : LIST<MAP>, sorted by id, each id once: {id: STRING, verdict: MAP}   properties of each verdict
// returns: nothing
CYPHER 25
MERGE (ledger:Ledger {namespace: $namespace})
SET ledger.passes = CASE WHEN coalesce(ledger.passes, 0) < $place THEN $place ELSE ledger.passes END
MERGE (pass:GatePass {namespace: $namespace, id: $pass_id})
SET pass += $pass
WITH pass
UNWIND $rows AS row
MERGE (fact:Fact {namespace: $namespace, id: row.id}) ON CREATE SET fact:Placeholder
MERGE (pass)-[edge:DECIDED]->(fact)
SET edge = row.verdict, edge.namespace = $namespace
