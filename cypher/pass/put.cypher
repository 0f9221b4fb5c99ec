// Records a pass; the last but one step of its transaction.
//
// params:
//   $namespace : STRING
//   $id        : STRING
//   $properties : MAP            kind, at (ZONED DATETIME, UTC), changes, is_hard, undoes (STRING | NULL)
//   $undoes    : STRING | NULL   the pass that it takes back
// returns (one row):
//   is_new  : BOOLEAN   false: a pass with this id was applied before
//   is_open : BOOLEAN   false: there is no pass to take back, or it was taken back already
//
// why: MERGE on the key, so that two that apply one plan at once meet there; REMOVE locks the undone pass before one
// looks at it.
CYPHER 25
MERGE (pass:Pass {namespace: $namespace, id: $id})
ON CREATE SET pass.fresh = true
WITH pass, pass.fresh IS NOT NULL AS is_new
REMOVE pass.fresh
SET pass += CASE WHEN is_new THEN $properties ELSE {} END
WITH pass, is_new
OPTIONAL MATCH (undone:Pass {namespace: $namespace, id: $undoes})
REMOVE undone.fresh
WITH is_new, undone, $undoes IS NULL OR (undone IS NOT NULL AND undone.undone_by IS NULL) AS is_open
SET undone.undone_by = coalesce(undone.undone_by, $id)
WITH is_new, is_open
CALL (is_new) {
  WITH is_new WHERE $undoes IS NOT NULL
  MATCH ()-[edge:SUPERSEDES {namespace: $namespace, pass_id: $undoes}]->()
  SET edge.undone_by = coalesce(edge.undone_by, $id)
  RETURN count(edge) AS marked
}
RETURN is_new, is_open
