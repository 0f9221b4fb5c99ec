// Placeholders and tags that should be gone since nothing names them, and placeholders that still hold more than a key.
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
  MATCH (n:Placeholder&(Message|Episode|Fact|Theme|Entity) {namespace: $namespace})
  WHERE NOT EXISTS { (n)--() }
  RETURN toLower([label IN labels(n) WHERE label <> 'Placeholder'][0]) + ' ' + n.id + ' is a placeholder that nothing names' AS problem
  UNION ALL
  MATCH (n:Placeholder&(Message|Episode|Fact|Theme|Entity) {namespace: $namespace})
  WHERE any(key IN keys(n) WHERE NOT key IN ['namespace', 'id'])
  RETURN toLower([label IN labels(n) WHERE label <> 'Placeholder'][0]) + ' ' + n.id + ' is a placeholder with properties' AS problem
  UNION ALL
  MATCH (n:Tag {namespace: $namespace})
  WHERE NOT EXISTS { (n)--() }
  RETURN 'tag ' + n.name + ' is on nothing' AS problem
}
WITH problem LIMIT $most
WITH problem ORDER BY problem
WITH collect(problem) AS found
RETURN size(found) AS total, found[..$examples] AS examples
