// Writes relationships whole; one with other ends than before leaves the former ones.
//
// params:
//   $namespace : STRING
//   $now       : ZONED DATETIME   UTC
//   $rows : LIST<MAP>, sorted by id, each id once:
//     id, source_id, target_id : STRING
//     properties               : MAP   every other property a relationship can have, absent ones as null
// returns (one row):
//   created, changed : LIST<STRING>         ids
//   placeholders     : LIST<STRING>         ids of ends that are named but not stored, made by this write
//   removed          : LIST<[label, id]>    placeholders whose last reference this write took away
//
// why: nodes first, then edges in the order of their ends, so that writers lock in one order.
CYPHER 25
UNWIND $rows AS row
OPTIONAL MATCH (source)-[old:RELATES_TO {namespace: $namespace, id: row.id}]->(target)
WITH collect({row: row, old: old, source: source, target: target, created: old IS NULL, recorded_at: old.recorded_at,
              closed_at: CASE WHEN NOT old.live THEN old.closed_at END,
              moved: old IS NOT NULL AND (source.id <> row.source_id OR target.id <> row.target_id)}) AS written

CALL (written) {                                   // ends that are not stored yet become placeholders
  UNWIND written AS w UNWIND [w.row.source_id, w.row.target_id] AS id
  WITH DISTINCT id ORDER BY id
  MERGE (end:Entity {namespace: $namespace, id: id}) ON CREATE SET end:Placeholder, end.fresh = true
  WITH end, id WHERE end.fresh
  REMOVE end.fresh
  RETURN collect(id) AS placeholders
}
CALL (written) {                                   // edges that moved leave their former ends
  UNWIND written AS w
  WITH w WHERE w.moved
  WITH w.old AS old, w.source AS source, w.target AS target ORDER BY source.id, target.id
  DELETE old
  WITH source, target
  UNWIND [source, target] AS end
  WITH DISTINCT end
  RETURN collect(end) AS left
}
CALL (written) {
  UNWIND written AS w
  WITH w, w.row AS row ORDER BY row.source_id, row.target_id, row.id
  MATCH (source:Entity {namespace: $namespace, id: row.source_id})
  MATCH (target:Entity {namespace: $namespace, id: row.target_id})
  MERGE (source)-[edge:RELATES_TO {namespace: $namespace, id: row.id}]->(target)
  SET edge += row.properties
  SET edge.source_id = row.source_id, edge.target_id = row.target_id,
      edge.valid_until = coalesce(row.properties.valid_until, datetime({year: 10000, timezone: 'Z'})),
      edge.live = coalesce(row.properties.invalidated_by, '') = '',
      edge.recorded_at = coalesce(w.recorded_at, row.properties.recorded_at, $now),
      edge.closed_at = CASE WHEN coalesce(row.properties.invalidated_by, '') <> ''
                            THEN coalesce(w.closed_at, row.properties.closed_at, $now) END
}
CALL (left) {                                      // ends that nobody names any more
  UNWIND left AS target
  WITH target ORDER BY target.id
  REMOVE target.fresh
  WITH target WHERE target:Placeholder AND NOT EXISTS { (target)--() }
  WITH target, [[label IN labels(target) WHERE label <> 'Placeholder'][0], target.id] AS gone
  DELETE target
  RETURN collect(gone) AS removed
}
RETURN [w IN written WHERE w.created | w.row.id] AS created, [w IN written WHERE NOT w.created | w.row.id] AS changed,
       placeholders, removed
