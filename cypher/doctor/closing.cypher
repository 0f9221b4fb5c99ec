// Records that do not say when they were learnt or closed, or that say it though they are not closed.
//
// params:
//   $namespace : STRING
//   $most      : INTEGER        the most to count
//   $examples  : INTEGER        the most to list
// returns (one row):
//   total    : INTEGER
//   examples : LIST<STRING>
CYPHER 25
CALL () {
  MATCH (n:Fact {namespace: $namespace}) WHERE NOT n:Placeholder
  RETURN 'fact ' + n.id AS record, n.live AS live, n.recorded_at AS recorded_at, n.closed_at AS closed_at
  UNION ALL
  MATCH (n:Message {namespace: $namespace}) WHERE NOT n:Placeholder
  RETURN 'message ' + n.id AS record, true AS live, n.recorded_at AS recorded_at, null AS closed_at
  UNION ALL
  MATCH (:Entity {namespace: $namespace})-[n:RELATES_TO]->()
  RETURN 'relationship ' + n.id AS record, n.live AS live, n.recorded_at AS recorded_at, n.closed_at AS closed_at
}
WITH record, CASE
    WHEN recorded_at IS NULL THEN 'does not say when it was learnt'
    WHEN live AND closed_at IS NOT NULL THEN 'is not closed and says when it was'
    WHEN NOT live AND closed_at IS NULL THEN 'is closed and does not say when'
  END AS difference
WHERE difference IS NOT NULL
WITH record + ' ' + difference AS problem
WITH problem LIMIT $most
WITH problem ORDER BY problem
WITH collect(problem) AS found
RETURN size(found) AS total, found[..$examples] AS examples
