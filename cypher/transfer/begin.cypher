// Begins an import, or goes on with it: only into a namespace that holds nothing, or in which the same one was begun.
//
// params:
//   $namespace : STRING
//   $marker    : STRING           names the import by what it brings
//   $now       : ZONED DATETIME   UTC
// returns (one row):
//   may_go_on : BOOLEAN   false: the namespace holds something else, and nothing was written
//
// why: the marker is a claimed and never filled write, so that clearing the namespace forgets it too.
CYPHER 25
MERGE (ledger:Ledger {namespace: $namespace})
SET ledger.runs = coalesce(ledger.runs, 0)
WITH EXISTS { MATCH (w:Write {namespace: $namespace, id: $marker}) WHERE w.result IS NULL }
  OR NOT (EXISTS { MATCH (n:Message {namespace: $namespace}) WHERE n.id >= '' }
  OR EXISTS { MATCH (n:Episode {namespace: $namespace}) WHERE n.id >= '' }
  OR EXISTS { MATCH (n:Fact {namespace: $namespace}) WHERE n.id >= '' }
  OR EXISTS { MATCH (n:Theme {namespace: $namespace}) WHERE n.id >= '' }
  OR EXISTS { MATCH (n:Entity {namespace: $namespace}) WHERE n.id >= '' }
  OR EXISTS { MATCH (n:Pass {namespace: $namespace}) WHERE n.id >= '' }
  OR EXISTS { MATCH (n:Run {namespace: $namespace}) WHERE n.id >= '' }
  OR EXISTS { MATCH (n:GatePass {namespace: $namespace}) WHERE n.id >= '' }
  OR EXISTS { MATCH (n:Serving {namespace: $namespace}) WHERE n.id >= '' }
  OR EXISTS { MATCH (n:TierItem {namespace: $namespace}) WHERE n.tier >= '' AND n.scope >= '' AND n.id >= '' }
  OR EXISTS { MATCH (n:Write {namespace: $namespace}) WHERE n.id >= '' AND n.result IS NOT NULL }) AS may_go_on
CALL (may_go_on) {
  WITH may_go_on WHERE may_go_on
  MERGE (w:Write {namespace: $namespace, id: $marker})
  ON CREATE SET w.created_at = $now
  RETURN count(*) AS begun
}
RETURN may_go_on
