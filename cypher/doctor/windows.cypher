// Windows that end before they begin, and records that were closed before they were learnt.
//
// params:
//   $namespace : STRING
//   $most      : INTEGER        the most to count
//   $examples  : INTEGER        the most to list
// returns (one row):
//   total    : INTEGER
//   examples : LIST<STRING>
//
// why: a window that ends where it begins holds at no instant, and is how a fact is closed that never held.
CYPHER 25
CALL () {
  MATCH (n:Fact {namespace: $namespace}) WHERE NOT n:Placeholder AND (n.valid_until < n.valid_from OR n.closed_at < n.recorded_at)
  RETURN 'fact ' + n.id AS record, n.valid_until < n.valid_from AS is_reversed
  UNION ALL
  MATCH (:Entity {namespace: $namespace})-[n:RELATES_TO]->() WHERE n.valid_until < n.valid_from OR n.closed_at < n.recorded_at
  RETURN 'relationship ' + n.id AS record, n.valid_until < n.valid_from AS is_reversed
}
WITH record + CASE WHEN is_reversed THEN ' ends before it begins' ELSE ' was closed before it was learnt' END AS problem
WITH problem LIMIT $most
WITH problem ORDER BY problem
WITH collect(problem) AS found
RETURN size(found) AS total, found[..$examples] AS examples
