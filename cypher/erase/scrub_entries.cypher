// Empties the audit trail of texts of records that are erased or made anew; who was touched, and when, stays.
//
// params:
//   $namespace : STRING
//   $touched   : LIST<STRING>   ids of records whose entries are emptied
//   $erased    : LIST<STRING>   ids of those that are gone
// returns (one row):
//   passes : LIST<STRING>   ids of passes that can no longer be undone
//
// why: entries of others are emptied too where they name an erased record. Those have no index to be found by, so the
// entries of the namespace are read.
CYPHER 25
CALL () {
  CALL () {
    UNWIND $touched AS id
    MATCH (entry:PassEntry {namespace: $namespace, record_id: id})
    RETURN entry
   UNION
    MATCH (entry:PassEntry {namespace: $namespace}) WHERE entry.record_id >= ''
      AND (entry.superseded_by IN $erased OR any(id IN coalesce(entry.refers_to, []) WHERE id IN $erased))
    RETURN entry
  }
  SET entry.reason = 'erased', entry.before = null, entry.refers_to = null
  FOREACH (name IN [key IN keys(entry) WHERE key STARTS WITH 'embedding'] | SET entry[name] = null)
  WITH DISTINCT entry.pass_id AS pass_id ORDER BY pass_id
  RETURN collect(pass_id) AS passes
}
CALL (passes) {
  UNWIND passes AS id
  MATCH (pass:Pass {namespace: $namespace, id: id})
  SET pass.is_erased = true
}
RETURN passes
