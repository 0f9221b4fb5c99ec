// Idempotency keys that were claimed and whose write, or import, was never completed.
//
// params:
//   $namespace : STRING
//   $most      : INTEGER        the most to count
//   $examples  : INTEGER        the most to list
// returns (one row):
//   total    : INTEGER
//   examples : LIST<STRING>
CYPHER 25
MATCH (write:Write {namespace: $namespace}) WHERE write.result IS NULL
WITH 'key ' + write.id + ' is claimed, and holds no receipt' AS problem
WITH problem LIMIT $most
WITH problem ORDER BY problem
WITH collect(problem) AS found
RETURN size(found) AS total, found[..$examples] AS examples
