// Records scored runs with the facts that each was given and those that chance withheld; a run recorded before keeps its
// place in the order of recording and nothing else.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   of all facts named, sorted, each once
//   $rows : LIST<MAP>, in the order of recording, each run once:
//     id          : STRING
//     score       : FLOAT            0 to 1
//     recorded_at : ZONED DATETIME   UTC
//     injected    : LIST<[STRING, LIST<INTEGER>, FLOAT | NULL]>   a fact, its positions in the run's list, and how
//                                    probable it was that chance withheld it; NULL: it could not
//     withheld    : LIST<[STRING, FLOAT]>   a fact, and how probable that was
// returns (one row):
//   replaced : LIST<STRING>   runs that had been recorded before
//   unstored : LIST<STRING>   ids under which no fact is stored
//
// why: the Ledger node hands out the places, and makes recorders of one namespace go one after the other: this
// transaction is short, and it locks nothing before. Edges in the order of their targets, as in fact.put.
CYPHER 25
MERGE (ledger:Ledger {namespace: $namespace})
SET ledger.runs = coalesce(ledger.runs, 0) + size($rows)
WITH ledger.runs - size($rows) AS before
CALL (before) {
  UNWIND range(0, size($rows) - 1) AS place
  WITH $rows[place] AS row, before + place + 1 AS sequence
  MERGE (run:Run {namespace: $namespace, id: row.id})
  WITH run, row, sequence, run.sequence IS NOT NULL AS replaced
  SET run.sequence = coalesce(run.sequence, sequence), run.score = row.score, run.recorded_at = row.recorded_at
  RETURN collect({run: run, row: row}) AS written, collect(CASE WHEN replaced THEN row.id END) AS replaced
}
CALL (written) {
  UNWIND written AS w
  WITH w.run AS run
  MATCH (run)-[old:INJECTED|WITHHELD]->(target)
  WITH old, target ORDER BY target.id
  DELETE old
  WITH DISTINCT target
  RETURN collect(target) AS left
}
CALL () {                                          // facts that are not stored yet become placeholders
  UNWIND $ids AS id
  MERGE (target:Fact {namespace: $namespace, id: id}) ON CREATE SET target:Placeholder
  WITH id WHERE target:Placeholder
  RETURN collect(id) AS unstored
}
CALL (written) {
  UNWIND written AS w UNWIND w.row.injected AS item
  WITH w.run AS run, item ORDER BY item[0]
  MATCH (target:Fact {namespace: $namespace, id: item[0]})
  CREATE (run)-[edge:INJECTED]->(target)
  SET edge.namespace = $namespace, edge.positions = item[1], edge.holdout = item[2]
}
CALL (written) {
  UNWIND written AS w UNWIND w.row.withheld AS item
  WITH w.run AS run, item ORDER BY item[0]
  MATCH (target:Fact {namespace: $namespace, id: item[0]})
  CREATE (run)-[edge:WITHHELD]->(target)
  SET edge.namespace = $namespace, edge.holdout = item[1]
}
CALL (left) {                                      // what nobody names any more
  UNWIND left AS target
  WITH target ORDER BY target.id
  REMOVE target.fresh
  WITH target WHERE target:Placeholder AND NOT EXISTS { (target)--() }
  DELETE target
}
RETURN replaced, unstored
