// The first part of recording a pass of the gate: locks the candidates, and tells what they are now.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   candidates that the pass ruled on, sorted, each once
//   $pass_id   : STRING
// returns (one row):
//   sequence : INTEGER     the place of this pass among all
//   is_known : BOOLEAN     whether a pass of this id is recorded already
//   facts    : LIST<MAP>   {id: STRING, tags: LIST<STRING>} for each that is stored and live
//
// why: the Ledger node makes passes go one after the other. REMOVE locks each fact against whoever would change it, and
// its tags are read after that, so a verdict meets the fact as it is and not as it was when the gate looked.
CYPHER 25
MERGE (ledger:Ledger {namespace: $namespace})
SET ledger.passes = coalesce(ledger.passes, 0) + 1
WITH ledger.passes AS sequence
CALL () {
  UNWIND $ids AS id
  MATCH (fact:Fact {namespace: $namespace, id: id})
  WITH fact, id ORDER BY id
  REMOVE fact.fresh
  WITH fact, id WHERE fact.live
  RETURN collect({id: id, tags: COLLECT { MATCH (fact)-[x:TAGGED]->(tag:Tag) UNWIND x.positions AS p RETURN tag.name ORDER BY p }}) AS facts
}
RETURN sequence, EXISTS { MATCH (:GatePass {namespace: $namespace, id: $pass_id}) } AS is_known, facts
