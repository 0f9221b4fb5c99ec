// Closes or reopens facts, and ends or opens their windows; nothing else of them changes.
//
// params:
//   $namespace       : STRING
//   $namespace_token : STRING           the namespace as one word of the full-text index
//   $closed_token    : STRING           the same for closed and quarantined facts
//   $now             : ZONED DATETIME   UTC
//   $rows : LIST<MAP>, sorted by id, each id once:
//     id         : STRING
//     properties : MAP   invalidated_by, valid_until, closed_at, access_count, last_accessed_at, absent ones as null
// returns (one row):
//   changed : LIST<STRING>   ids
//
// why: what fact.put does to these properties, without writing texts, vectors and edges anew: a pass that closes many
// facts has little to hold until it commits.
CYPHER 25
UNWIND $rows AS row
MATCH (fact:Fact {namespace: $namespace, id: row.id}) WHERE NOT fact:Placeholder
WITH fact, row, coalesce(row.properties.invalidated_by, '') = '' AS live,
     CASE WHEN NOT fact.live THEN fact.closed_at END AS closed_at
SET fact += row.properties
SET fact.valid_until = coalesce(row.properties.valid_until, datetime({year: 10000, timezone: 'Z'})),
    fact.live = live,
    fact.standing = CASE WHEN fact.quarantined THEN CASE WHEN live THEN 1 ELSE 2 END WHEN live THEN 0 ELSE -1 END,
    fact.namespace_token = CASE WHEN NOT live OR fact.quarantined THEN $closed_token ELSE $namespace_token END,
    fact.closed_at = CASE WHEN NOT live THEN coalesce(closed_at, row.properties.closed_at, $now) END
RETURN collect(row.id) AS changed
