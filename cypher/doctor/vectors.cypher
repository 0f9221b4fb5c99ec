// Vectors that no index of the namespace's embedding space can hold.
//
// params:
//   $namespace : STRING
//   $most      : INTEGER        the most to count
//   $examples  : INTEGER        the most to list
// returns (one row):
//   total    : INTEGER
//   examples : LIST<STRING>
//
// why: a vector of another length, or one that points nowhere, is left out of the index without a word. While a namespace
// is re-embedded, and until the old vectors are removed, records have vectors of two spaces.
CYPHER 25
OPTIONAL MATCH (space:Namespace {name: $namespace})
WITH [number IN [space.space, space.next_space, space.left_space] WHERE number IS NOT NULL | 'embedding_' + toString(number)] AS known
CALL () {
  MATCH (n:Message|Episode|Fact|Theme|Entity {namespace: $namespace}) WHERE NOT n:Placeholder
  RETURN n, toLower(labels(n)[0]) + ' ' + n.id AS record, n.embedding_1 AS vector, false AS is_required
  UNION ALL
  MATCH (n:TierItem {namespace: $namespace})
  RETURN n, n.tier + ' item ' + n.id AS record, n.embedding_1 AS vector, true AS is_required
  UNION ALL
  MATCH (n:PassEntry {namespace: $namespace})
  RETURN n, 'entry ' + toString(n.position) + ' of pass ' + n.pass_id AS record, coalesce(n.embedding_1, n.embedding) AS vector, false AS is_required
}
WITH record, CASE
    WHEN any(key IN keys(n) WHERE key STARTS WITH 'embedding_' AND NOT key IN known)
      THEN 'a vector of another embedding space'
    WHEN vector IS NULL THEN CASE WHEN is_required THEN 'no vector' END
    WHEN vector IS NOT :: LIST<FLOAT> THEN 'something else for a vector'
    WHEN size(vector) <> 384 THEN 'a vector of length ' + toString(size(vector))
    WHEN any(x IN vector WHERE isNaN(x) OR abs(x) > 3.5e38) THEN 'a vector of what is no number'
    WHEN all(x IN vector WHERE x = 0) THEN 'a vector that points nowhere'
  END AS difference
WHERE difference IS NOT NULL
WITH record + ' has ' + difference AS problem
WITH problem LIMIT $most
WITH problem ORDER BY problem
WITH collect(problem) AS found
RETURN size(found) AS total, found[..$examples] AS examples
