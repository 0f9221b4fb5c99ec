// Records that are named but not stored, and by how many edges.
//
// params:
//   $namespace : STRING
//   $most      : INTEGER        the most to count
//   $examples  : INTEGER        the most to list
// returns (one row):
//   total    : INTEGER
//   examples : LIST<STRING>     kind, id and how often it is named, by kind and id
CYPHER 25
MATCH (n:Placeholder&(Message|Episode|Fact|Theme|Entity) {namespace: $namespace})
WITH n, toLower([label IN labels(n) WHERE label <> 'Placeholder'][0]) AS kind, COUNT { (n)--() } AS named LIMIT $most
WITH kind, n, named ORDER BY kind, n.id
WITH collect(kind + ' ' + n.id + ' (named by ' + toString(named) + ')') AS found
RETURN size(found) AS total, found[..$examples] AS examples
