// Removes relationships; an end that was only a placeholder and is named no more goes with them.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   sorted, each once
// returns (one row):
//   removed      : LIST<STRING>         ids of those that were stored
//   placeholders : LIST<[label, id]>    placeholders whose last reference this write took away
//
// why: REMOVE locks what is to go, so that of two that remove a relationship one does.
CYPHER 25
CALL () {
  UNWIND $ids AS id
  MATCH (source)-[r:RELATES_TO {namespace: $namespace, id: id}]->(target)
  WITH r, source, target, id ORDER BY source.id, target.id, id
  REMOVE r.fresh
  WITH r, source, target, id WHERE r.id IS NOT NULL
  DELETE r
  WITH id, [source, target] AS ends
  RETURN collect(id) AS removed, collect(ends) AS pairs
}
CALL (pairs) {
  UNWIND pairs AS ends UNWIND ends AS end
  WITH DISTINCT end
  WITH end ORDER BY end.id
  REMOVE end.fresh
  WITH end WHERE end:Placeholder AND NOT EXISTS { (end)--() }
  WITH end, ['Entity', end.id] AS gone
  DELETE end
  RETURN collect(gone) AS placeholders
}
RETURN removed, placeholders
