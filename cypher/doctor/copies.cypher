// Records whose copies for the indexes differ from what they are copied from.
//
// params:
//   $namespace       : STRING
//   $namespace_token : STRING         the namespace as one word of the full-text index
//   $closed_token    : STRING         the same for closed and quarantined facts
//   $most            : INTEGER        the most to count
//   $examples        : INTEGER        the most to list
// returns (one row):
//   total    : INTEGER
//   examples : LIST<STRING>
//
// why: `live` is null where a write has forgotten it, so every comparison is with a value in its place.
CYPHER 25
CALL () {
  MATCH (n:Fact {namespace: $namespace}) WHERE NOT n:Placeholder
  WITH n, coalesce(n.invalidated_by, '') = '' AS live,
       EXISTS { (n)-[:TAGGED]->(:Tag {namespace: $namespace, name: 'quarantined'}) } AS quarantined
  UNWIND [['live', toString(n.live), toString(live)],
          ['quarantined', toString(n.quarantined), toString(quarantined)],
          ['standing', toString(n.standing), CASE WHEN quarantined THEN CASE WHEN live THEN '1' ELSE '2' END WHEN live THEN '0' ELSE '-1' END],
          ['namespace_token', n.namespace_token, CASE WHEN live AND NOT quarantined THEN $namespace_token ELSE $closed_token END]] AS copy
  WITH n, copy WHERE coalesce(copy[1], '') <> copy[2]
  RETURN 'fact ' + n.id AS record, copy
  UNION ALL
  MATCH (n:Entity {namespace: $namespace}) WHERE NOT n:Placeholder
  WITH n, ['live', toString(n.live), toString(n.invalidated_at IS NULL AND n.superseded_by IS NULL)] AS copy
  WHERE coalesce(copy[1], '') <> copy[2]
  RETURN 'entity ' + n.id AS record, copy
  UNION ALL
  MATCH (n:Message {namespace: $namespace}) WHERE NOT n:Placeholder
  UNWIND [['live', toString(n.live), 'true'],
          ['namespace_token', n.namespace_token, $namespace_token],
          ['day', n.day, toString(date(n.timestamp))]] AS copy
  WITH n, copy WHERE coalesce(copy[1], '') <> copy[2]
  RETURN 'message ' + n.id AS record, copy
  UNION ALL
  MATCH (n:Episode|Theme {namespace: $namespace}) WHERE NOT n:Placeholder AND coalesce(n.live, false) = false
  RETURN toLower(labels(n)[0]) + ' ' + n.id AS record, ['live', toString(n.live), 'true'] AS copy
  UNION ALL
  MATCH (source:Entity {namespace: $namespace})-[n:RELATES_TO]->(target:Entity)
  UNWIND [['live', toString(n.live), toString(coalesce(n.invalidated_by, '') = '')],
          ['source_id', n.source_id, source.id],
          ['target_id', n.target_id, target.id]] AS copy
  WITH n, copy WHERE coalesce(copy[1], '') <> copy[2]
  RETURN 'relationship ' + n.id AS record, copy
}
WITH record + ' has ' + copy[0] + ' ' + coalesce(copy[1], 'missing') + ', should be ' + copy[2] AS problem LIMIT $most
WITH problem ORDER BY problem
WITH collect(problem) AS found
RETURN size(found) AS total, found[..$examples] AS examples
