// The scores of all runs, and in which of them some facts were or could have been.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   facts, each once
// returns (one row):
//   sequences : LIST<INTEGER>   of the runs, ascending: the order in which they were recorded first
//   scores    : LIST<FLOAT>     likewise
//   injected  : LIST<MAP>       {id: STRING, sequences: LIST<INTEGER>}, for each of the facts that was in a run
//   drawn     : LIST<MAP>       {id: STRING, runs: LIST<[INTEGER, FLOAT]>}, for each that chance could have withheld: the run,
//                               and how probable that was
//
// why: the scores themselves and no sums, since a difference of sums is not zero where all scores are equal. A run that
// is recorded between the parts of this statement may show in the latter two alone, and is then left out by the reader.
CYPHER 25
CALL () {
  MATCH (run:Run {namespace: $namespace}) WHERE run.sequence > 0
  WITH run ORDER BY run.sequence
  RETURN collect(run.sequence) AS sequences, collect(run.score) AS scores
}
CALL () {
  UNWIND $ids AS id
  MATCH (:Fact {namespace: $namespace, id: id})<-[:INJECTED]-(run:Run)
  WITH id, run.sequence AS sequence ORDER BY id, sequence
  WITH id, collect(sequence) AS of_fact
  RETURN collect({id: id, sequences: of_fact}) AS injected
}
CALL () {
  UNWIND $ids AS id
  MATCH (:Fact {namespace: $namespace, id: id})<-[edge:INJECTED|WITHHELD]-(run:Run) WHERE edge.holdout IS NOT NULL
  WITH id, [run.sequence, edge.holdout] AS chance ORDER BY id, run.sequence
  WITH id, collect(chance) AS of_fact
  RETURN collect({id: id, runs: of_fact}) AS drawn
}
RETURN sequences, scores, injected, drawn
