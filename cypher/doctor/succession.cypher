// Audit edges that do not say what they must, or differ from the pass that made them.
//
// params:
//   $namespace : STRING
//   $most      : INTEGER        the most to count
//   $examples  : INTEGER        the most to list
// returns (one row):
//   total    : INTEGER
//   examples : LIST<STRING>
CYPHER 25
MATCH (newer:Fact|Entity {namespace: $namespace})-[edge:SUPERSEDES]->(older)
OPTIONAL MATCH (pass:Pass {namespace: $namespace, id: edge.pass_id})
WITH newer, older, CASE
    WHEN newer = older THEN 'which is itself'
    WHEN edge.pass_id IS NULL OR edge.at IS NULL OR edge.reason IS NULL THEN 'without a pass, an instant or a reason'
    WHEN pass IS NULL THEN 'by pass ' + edge.pass_id + ', which is not stored'
    WHEN coalesce(edge.undone_by, '') <> coalesce(pass.undone_by, '') THEN 'and differs from its pass in what took it back'
  END AS difference
WHERE difference IS NOT NULL
WITH toLower([label IN labels(newer) WHERE label <> 'Placeholder'][0]) + ' ' + newer.id + ' replaces ' + older.id + ', ' + difference AS problem
WITH problem LIMIT $most
WITH problem ORDER BY problem
WITH collect(problem) AS found
RETURN size(found) AS total, found[..$examples] AS examples
